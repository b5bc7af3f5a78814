/** How the refs and files of a parameters repository are named, and which names are legal. Pure. */

import { normalizeHostName } from '../domain/names.ts';
import { isReservedScopeTypeName, SCOPE_NAME } from '../domain/scopes.ts';
import { isVersion, isVersionName } from '../domain/version-order.ts';
import { invalid } from '../lib/errors.ts';
import type { ParameterContentType, ParameterScope } from './parameter-types.ts';
import type { VersionRef } from './version-index.ts';

/** The scope type that has no values. */
const DEFAULT = 'Default';
const SCHEMA = 'schema';

const DRAFT_PREFIX = 'refs/heads/draft/';
const TAG_PREFIX = 'refs/tags/';
const TYPES: readonly ParameterContentType[] = ['yaml', 'json'];

/** What a ref is by its name. */
export interface NamedParameter {
  /** Null of an uploaded schema. */
  scope: ParameterScope | null;
  version: string;
  status: VersionRef['status'];
}

/** Throws `validation_failed` for what can name no ref; callers have said the same more kindly before. */
export function checkScope(scope: ParameterScope): void {
  if (!isScope(scope)) throw invalid('validation_failed', 'The scope cannot have parameters.');
}

export function scopePath({ scopeType, value }: ParameterScope): string {
  return value === null ? scopeType : `${scopeType}/${value}`;
}

export function parameterDraftName(scope: ParameterScope, version: string): string {
  return `${DRAFT_PREFIX}${scopePath(scope)}/${version}`;
}

/** Of a schema where there is no scope. */
export function parameterTagName(scope: ParameterScope | null, version: string): string {
  return `${TAG_PREFIX}${shortTag(scope, version)}`;
}

/** What a tag object calls itself. */
export function shortTag(scope: ParameterScope | null, version: string): string {
  return `${scope === null ? SCHEMA : scopePath(scope)}/v${version}`;
}

/** The branch that collects what a scope type has published. */
export function scopeTypeBranch({ scopeType }: ParameterScope): string {
  return `refs/heads/${scopeType}`;
}

export function fileName(scope: ParameterScope | null, type: ParameterContentType): string {
  return `${scope === null ? 'schema' : 'parameters'}.${type}`;
}

/** The paths in a version's tree at which its content may stand, one for each type of content. */
export function contentPaths(scope: ParameterScope | null): string[] {
  const folder = scope === null || scope.value === null ? '' : `${scope.value}/`;
  return TYPES.map((type) => folder + fileName(scope, type));
}

export function contentTypeOf(path: string): ParameterContentType {
  return path.endsWith('.json') ? 'json' : 'yaml';
}

/**
 * What a ref is by its name: a version, null for one that has nothing to do with versions, and `illegal` for one
 * that is named like a version, but of no scope that there can be.
 */
export function parseParameterRef(name: string): NamedParameter | 'illegal' | null {
  if (name.startsWith(DRAFT_PREFIX)) return parseDraft(name.slice(DRAFT_PREFIX.length));
  return name.startsWith(TAG_PREFIX) ? parseTag(name.slice(TAG_PREFIX.length)) : null;
}

function parseDraft(path: string): NamedParameter | 'illegal' {
  const [scope, version] = cutVersion(path);
  return scope !== null && isNameable(version) ? { scope, version, status: 'Draft' } : 'illegal';
}

function parseTag(path: string): NamedParameter | 'illegal' | null {
  const last = path.lastIndexOf('/');
  const version = path.slice(last + 2);
  if (last < 0 || path[last + 1] !== 'v' || !isNameable(version)) return null;
  if (path.slice(0, last) === SCHEMA) return { scope: null, version, status: 'Published' };
  const [scope] = cutVersion(path);
  return scope === null ? 'illegal' : { scope, version, status: 'Published' };
}

/** The scope before the last segment, null when there can be none such, and that segment. */
function cutVersion(path: string): [ParameterScope | null, string] {
  const segments = path.split('/');
  const version = segments.pop() ?? '';
  const [scopeType = '', value = null, ...rest] = segments;
  const scope = { scopeType, value };
  return [rest.length === 0 && isScope(scope) ? scope : null, version];
}

function isScope({ scopeType, value }: ParameterScope): boolean {
  if (!SCOPE_NAME.test(scopeType) || isReservedScopeTypeName(scopeType)) return false;
  if (value === null || scopeType === DEFAULT) return value === null && scopeType === DEFAULT;
  return SCOPE_NAME.test(value) || normalizeHostName(value) === value;
}

function isNameable(version: string): boolean {
  return isVersion(version) || isVersionName(version);
}
