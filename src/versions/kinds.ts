/**
 * The kinds of repositories as data: which series they have, how their refs, files and messages are named, and what
 * the content of a version must be. The rules hold for what we write, and for tags and draft branches that stock git
 * has made.
 */

import { COMPOSITE_FILE, parseComposite } from '../domain/composite-document.ts';
import { normalizeHostName } from '../domain/names.ts';
import { isFilesKey } from '../domain/rollout.ts';
import { normalizePath, PathSet, showText } from '../domain/safe-path.ts';
import { isTakenScopeTypeName, SCOPE_NAME } from '../domain/scopes.ts';
import { isVersion, isVersionName } from '../domain/version-order.ts';
import type { RepositoryKind } from '../git/types.ts';
import { HawserError, invalid } from '../lib/errors.ts';
import { Pace } from '../lib/pace.ts';
import type { DraftContent, VersionRef } from './types.ts';

/** Raise this number with every change of a rule in this file, or of what is read of commits and trees. What was checked by other rules is checked again. */
export const RULES = 8;

export type Status = VersionRef['status'];

/** What a ref is by its name. */
export interface VersionName {
  series: string;
  version: string;
  status: Status;
}

/** What stands beside the tag of a published version and says to whom it is offered. */
export const BESIDE = ['Withdrawn', 'Rollout'] as const;
export type BesideStatus = (typeof BESIDE)[number];

/**
 * What a ref is by its name: a version, or the withdrawal or the rollout of a published one. The rollout of parameter files alone
 * has its key in place of a version.
 */
export type RefName = Omit<VersionName, 'status'> & { status: Status | BesideStatus };

/** The content of a version, whether it is about to be written or has been read. */
export interface CheckedContent {
  entryPoint: string | null;
  isPassthrough: boolean;
  paths: readonly string[];
  read(path: string): Promise<Uint8Array>;
}

export interface VersionKind {
  /** Whether the repository is made with its first version, and counts as empty before. */
  readonly isMadeOnDemand: boolean;
  /** Whether a version whose objects name no entry point takes that of the published version below it. */
  readonly inheritsEntryPoints: boolean;
  /** Whether the entry point must be one of the files of the version. */
  readonly holdsEntryPoint: boolean;
  /** Whether versions come by push too, and then have a record of it (push-records.ts). */
  readonly takesPushes: boolean;
  /** Whether the repository has several series. If not, all versions are in the series `''`. */
  readonly hasSeries: boolean;
  /** The paths at which the content of a version may stand. Null means that a version consists of all its files. */
  paths(series: string): readonly string[] | null;
  /** What the commit and the tag of a version say beside its times. */
  trailers(name: Omit<VersionName, 'status'>, content: ContentTrailers): Record<string, string>;
  /** @throws HawserError invalid, for content that a version of this kind cannot have */
  check(series: string, content: CheckedContent): Promise<void>;
}

export type ContentTrailers = Pick<DraftContent, 'entryPoint' | 'isPassthrough'>;

export const SCHEMA_SERIES = 'schema';

/** The names of a parameter file in the folder of its value. */
export const FILE_NAMES = ['parameters.yaml', 'parameters.json'];

/** Trailers of commits and tags. The scope trailer names the scope of a parameter file. */
export const ENTRY_POINT_TRAILER = 'Entry-Point';
export const SCOPE_TRAILER = 'Parameter-Scope';
/** Says in the tag of a parameter file of scope Node for which node, by its id, it was published. */
export const NODE_TRAILER = 'Node-Id';
/** Says that a parameter file skips its scope on purpose. */
export const PASSTHROUGH_TRAILER = 'Passthrough';

const DRAFT_PREFIX = 'refs/heads/draft/';
const TAG_PREFIX = 'refs/tags/';
/** A withdrawal has the name of the version's tag in this folder. */
const WITHDRAWN = 'withdrawn/';
const ROLLOUT_PREFIX = 'refs/heads/rollout/';
/** Where the tags are that versions had by another name of their scope, in a repository with several series. */
export const RENAMED_FOLDER = 'refs/tags/renamed/';

const configurations: VersionKind = {
  isMadeOnDemand: false,
  inheritsEntryPoints: true,
  holdsEntryPoint: true,
  takesPushes: true,
  hasSeries: false,
  paths: () => null,
  trailers: (_name, { entryPoint }) => ({ [ENTRY_POINT_TRAILER]: entryPoint ?? '' }),
  async check(_series, { entryPoint, paths }) {
    await checkPaths(paths);
    if (entryPoint !== null) await checkPaths([entryPoint]);
    // What a version without an entry point of its own needs depends on the versions below it.
    if (entryPoint !== null && !paths.includes(entryPoint)) throw unusable(lacksFile(entryPoint));
  },
};

const composites: VersionKind = {
  ...configurations,
  holdsEntryPoint: false,
  takesPushes: false,
  async check(_series, { entryPoint, paths, read }) {
    await checkPaths(paths);
    if (entryPoint !== null) await checkPaths([entryPoint]);
    if (!paths.includes(COMPOSITE_FILE)) throw unusable(lacksFile(COMPOSITE_FILE));
    const text = Buffer.from(await read(COMPOSITE_FILE)).toString('utf8');
    if (parseComposite(text) === null) throw unusable(`The file "${COMPOSITE_FILE}" cannot be used`);
  },
};

const parameters: VersionKind = {
  isMadeOnDemand: true,
  inheritsEntryPoints: false,
  holdsEntryPoint: false,
  takesPushes: true,
  hasSeries: true,
  paths: contentPaths,
  trailers: ({ series, version }, { isPassthrough = false }) => ({
    [SCOPE_TRAILER]: series === SCHEMA_SERIES ? tagNameOf(series, version) : series,
    ...(isPassthrough ? { [PASSTHROUGH_TRAILER]: 'true' } : {}),
  }),
  async check(series, { isPassthrough, paths }) {
    const expected = isPassthrough && series !== SCHEMA_SERIES ? 0 : 1;
    if (paths.length === expected) return;
    if (expected === 0) throw unusable('A scope that is passed through has a file');
    const [yaml = ''] = contentPaths(series);
    throw unusable(paths.length === 0 ? lacksFile(yaml) : 'There are both a YAML and a JSON file');
  },
};

export const KINDS: Record<RepositoryKind, VersionKind> = { configurations, composites, parameters };

/** The name that a version has in the repository, `v1.0.0` or `Environment/prod/v1.0.0`: that of its tag. */
export function tagNameOf(series: string, version: string): string {
  return `${prefixOf(series)}v${version}`;
}

/** The name of the tag by which a version is withdrawn, `withdrawn/v1.0.0` or `withdrawn/Environment/prod/v1.0.0`. */
export function withdrawalNameOf(series: string, version: string): string {
  return WITHDRAWN + tagNameOf(series, version);
}

export function isBesideStatus(status: RefName['status']): status is BesideStatus {
  return (BESIDE as readonly string[]).includes(status);
}

/** The full name of the ref of a version, or of its withdrawal or rollout. */
export function refNameOf({ series, version, status }: RefName): string {
  if (status === 'Published') return TAG_PREFIX + tagNameOf(series, version);
  if (status === 'Withdrawn') return TAG_PREFIX + withdrawalNameOf(series, version);
  if (status === 'Rollout') return ROLLOUT_PREFIX + version;
  return DRAFT_PREFIX + prefixOf(series) + version;
}

/** The version's name as commits and tags of it begin, `1.0.0` or `Environment/prod 1.0.0`. */
export function labelOf(series: string, version: string): string {
  return series === '' ? version : `${series} ${version}`;
}

function prefixOf(series: string): string {
  return series === '' ? '' : `${series}/`;
}

/**
 * What a ref is by its name: a version, a withdrawal or a rollout; null when it has nothing to do with versions; `illegal` when it is
 * named like a version of a series that cannot exist.
 */
export function parseRefName(kind: VersionKind, name: string): RefName | 'illegal' | null {
  const { hasSeries } = kind;
  if (name.startsWith(TAG_PREFIX + WITHDRAWN)) {
    const named = parseRefName(kind, TAG_PREFIX + name.slice((TAG_PREFIX + WITHDRAWN).length));
    const isOfVersion = named !== null && named !== 'illegal' && named.status === 'Published';
    if (isOfVersion && named.series !== SCHEMA_SERIES) return { ...named, status: 'Withdrawn' };
    // Else it may be a version of a scope type of an earlier release, as below.
    if (!hasSeries) return null;
  }
  if (!hasSeries && name.startsWith(ROLLOUT_PREFIX)) {
    const version = name.slice(ROLLOUT_PREFIX.length);
    const isKey = isVersion(version) || isVersionName(version) || isFilesKey(version);
    return isKey ? { series: '', version, status: 'Rollout' } : null;
  }
  const status = name.startsWith(DRAFT_PREFIX) ? 'Draft' : name.startsWith(TAG_PREFIX) ? 'Published' : null;
  if (status === null) return null;
  const path = name.slice((status === 'Draft' ? DRAFT_PREFIX : TAG_PREFIX).length);
  // A scope type of an earlier release may be called so. The tags of its versions are one folder less deep.
  if (hasSeries && name.startsWith(RENAMED_FOLDER) && path.split('/').length > 3) return null;
  const cut = hasSeries ? path.lastIndexOf('/') : -1;
  const [series, last] = [path.slice(0, Math.max(0, cut)), path.slice(cut + 1)];
  if (status === 'Published' && !last.startsWith('v')) return null;
  const version = status === 'Draft' ? last : last.slice(1);
  const isNamed = isVersion(version) || isVersionName(version);
  if (!hasSeries) return isNamed ? { series, version, status } : null;
  if (status === 'Published' && (cut < 0 || !isNamed)) return null;
  const isSeries = isScopeSeries(series) || (status === 'Published' && series === SCHEMA_SERIES);
  return isSeries && isNamed ? { series, version, status } : 'illegal';
}

/** Whether a scope can have this series. The scope type Default has no values, every other type has them. */
export function isScopeSeries(series: string): boolean {
  const [scopeType = '', value, ...rest] = series.split('/');
  if (rest.length > 0 || !SCOPE_NAME.test(scopeType) || isTakenScopeTypeName(scopeType)) return false;
  if (value === undefined || scopeType === 'Default') return value === undefined && scopeType === 'Default';
  return SCOPE_NAME.test(value) || normalizeHostName(value) === value;
}

/** The paths in a version's tree at which a parameter file or a schema may stand, first for YAML, then for JSON. */
function contentPaths(series: string): string[] {
  if (series === SCHEMA_SERIES) return ['schema.yaml', 'schema.json'];
  const slash = series.indexOf('/');
  const folder = slash < 0 ? '' : `${series.slice(slash + 1)}/`;
  return FILE_NAMES.map((name) => folder + name);
}

/** @throws HawserError `invalid_path` unless each path is in its stored form and all fit beside each other */
export async function checkPaths(paths: readonly string[]): Promise<void> {
  const set = new PathSet();
  const pace = new Pace();
  for (const path of paths) {
    if (normalizePath(path) !== path) {
      const message = `The path "${showText(path)}" is not in the form in which paths are stored`;
      throw invalid('invalid_path', message);
    }
    set.add(path);
    if (pace.isDue) await pace.rest();
  }
}

/** The reason why the content cannot be that of a version, as a sentence; null when it can. */
export async function contentFault(
  kind: VersionKind,
  series: string,
  content: CheckedContent,
): Promise<string | null> {
  try {
    await kind.check(series, content);
    return null;
  } catch (error) {
    if (error instanceof HawserError && error.kind === 'invalid') return error.message;
    throw error;
  }
}

/** Checks content that is about to be written. Callers have refused the same with better messages before. */
export async function checkDraft(kind: VersionKind, name: VersionName, draft: DraftContent): Promise<void> {
  const { series, version } = name;
  const isLegal = isVersion(version) || isVersionName(version);
  if (!isLegal) throw invalid('validation_failed', 'The text cannot name a version.');
  if (parseRefName(kind, refNameOf(name)) === 'illegal')
    throw invalid('validation_failed', 'The scope cannot have parameters.');
  const written = 'commit' in draft.files ? [] : draft.files;
  const files = 'commit' in draft.files ? draft.files.files : written;
  await kind.check(series, {
    entryPoint: draft.entryPoint,
    isPassthrough: draft.isPassthrough ?? false,
    paths: files.map(({ path }) => path),
    read: async (path) => written.find((file) => file.path === path)?.content ?? new Uint8Array(),
  });
}

export function lacksFile(path: string): string {
  return `There is no file at "${showText(path)}"`;
}

function unusable(message: string): HawserError {
  return invalid('validation_failed', message);
}
