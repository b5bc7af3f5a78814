/**
 * What becomes of the files of a folder: which of them differ from what their series give, and as which versions they would be
 * drafts. Nothing is written here.
 */

import { listScopeTypes, type ScopeTypeRow } from '../db/scope-types.ts';
import type { TreeFile } from '../domain/parameter-tree.ts';
import { countsAsGiven } from '../domain/rollout.ts';
import { showText } from '../domain/safe-path.ts';
import { scopeKey } from '../domain/scopes.ts';
import { chooseParameterFile } from '../domain/version-choice.ts';
import {
  compareVersions,
  isStable,
  type Major,
  majorOf,
  nextPatch,
  sameVersion,
} from '../domain/version-order.ts';
import { invalidField } from '../lib/errors.ts';
import { sha256Hex } from '../lib/hash.ts';
import { type OfferedFiles, readOfferedFiles } from '../resolve/offered-files.ts';
import { SeriesRights } from '../security/series-rights.ts';
import { SCHEMA_SERIES } from '../versions/kinds.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import { oidsOf } from '../versions/sorted-versions.ts';
import type { ParameterScope, SeriesIndex, VersionIndex, VersionRef } from '../versions/store.ts';
import { readEffectiveSettings } from './configuration-settings.ts';
import { FileChecks, type ParameterTools } from './parameter-checks.ts';
import { type ReadContent, read } from './parameter-content.ts';
import { KnownScopes, switchedOff, type WantedScope } from './parameter-scopes.ts';
import { type CheckedContent, checkContent, type FileTarget } from './put-parameters.ts';
import { sealContent, secretBlockers } from './secret-content.ts';

/** A file of the tree. */
export interface FolderFile extends TreeFile {
  path: string;
  content: Buffer;
  /** The content, once it was read. */
  read?: Promise<ReadContent>;
}

/** What the files of one configuration are judged by, read once for all of them. */
export interface Look {
  target: FileTarget;
  of(series: string): VersionIndex;
  rights: SeriesRights;
  types: ReadonlyMap<string, ScopeTypeRow>;
  scopes: KnownScopes;
  offered: OfferedFiles;
  /** The tags of files whose rollout has halted, so that they do not count as given. */
  halted: ReadonlySet<string>;
  checks: FileChecks;
  /** The version of the configuration that says which files are given; null where it has none. */
  configurationVersion: string | null;
  /** Equal where all else than scopes and their files is the same. */
  base: string;
}

/** A file that differs from what its series gives. */
export interface JudgedFile {
  file: FolderFile;
  checked: CheckedContent;
  /** That which a new draft gets. */
  version: string;
  /** The draft that has the content already. */
  draft: VersionRef | null;
}

/** @param index that of the versions, which must be older than the rights that are read here */
export async function lookAt(
  tools: ParameterTools,
  target: FileTarget,
  index: SeriesIndex,
  files: readonly FolderFile[],
): Promise<Look> {
  const { read } = tools.database;
  const { resource, principal } = target;
  const configuration = await tools.store.versions({ kind: 'configurations', name: resource.name });
  const { published, versions, rollouts } = configuration;
  const halted = rollouts.flatMap(({ record }) =>
    countsAsGiven(record) ? [] : record.parameters.map(({ tag }) => tag),
  );
  const settings = await readEffectiveSettings(read, resource.id);
  const mode = settings.parameterValidationMode;
  const types = new Map((await listScopeTypes(read)).map((type) => [scopeKey(type.name), type]));
  const given = files.flatMap(({ scopeType, scopeValue: value }) => {
    const type = types.get(scopeKey(scopeType));
    return type ? [{ type, value }] : [];
  });
  const named = given.map(({ type, value }) => ({ scopeType: type.name, value }));
  return {
    target,
    of: (series) => index.of(series),
    rights: await SeriesRights.of(read, principal, resource.id),
    types,
    scopes: await KnownScopes.of(read, given),
    offered: await readOfferedFiles(read, named),
    halted: new Set(halted),
    checks: FileChecks.by(tools, resource, { mode, variables: settings.variables, caller: principal.userId }),
    configurationVersion: (published[0] ?? versions[0])?.version ?? null,
    base: JSON.stringify([
      [resource.name, settings, tools.documents.keys.generation],
      [oidsOf(configuration), halted, oidsOf(index.of(SCHEMA_SERIES))],
    ]),
  };
}

/**
 * The text of which two are equal where these files would be judged alike.
 * @throws HawserError as `judge` where a scope cannot be written to
 */
export function textOf(look: Look, files: readonly FolderFile[]): string {
  const seen = files.map((file) => {
    const { type, wanted } = wantedOf(look, file);
    const owner = look.scopes.ownerOf(type, wanted.scope);
    return [type.id, type.precedence, wanted, owner, oidsOf(look.of(seriesOf(wanted.scope)))];
  });
  return JSON.stringify([look.base, seen]);
}

export function inOrder({ types }: Look, files: readonly FolderFile[]): FolderFile[] {
  const placeOf = ({ scopeType }: FolderFile) => types.get(scopeKey(scopeType))?.precedence ?? -1;
  const nameOf = ({ scopeValue }: FolderFile) => scopeValue ?? '';
  return [...files].sort((a, b) => placeOf(a) - placeOf(b) || (nameOf(a) < nameOf(b) ? -1 : 1));
}

function typeOf({ types }: Look, { scopeType }: FolderFile): ScopeTypeRow {
  const type = types.get(scopeKey(scopeType));
  if (type) return type;
  throw invalidField('', `There is no scope type "${showText(scopeType)}"`, 'unknown_scope_type');
}

/** @throws HawserError invalid for an unknown type, not_found below Read, forbidden below Modify */
export function scopeOfFile(look: Look, file: FolderFile): ParameterScope {
  const scope = look.scopes.named({ type: typeOf(look, file), value: file.scopeValue });
  look.rights.require(scope, 'Modify');
  return scope;
}

/** @throws HawserError invalid for an unknown type, and for a value that may not be; conflict `scope_type_disabled` */
export function wantedOf(look: Look, file: FolderFile): { type: ScopeTypeRow; wanted: WantedScope } {
  const type = typeOf(look, file);
  const blocker = switchedOff(type);
  if (blocker) throw blocker;
  return { type, wanted: look.scopes.toWrite({ type, value: file.scopeValue }) };
}

/** @returns null where the series gives this content. @throws HawserError as putting the file does */
export async function judge(tools: ParameterTools, look: Look, file: FolderFile): Promise<JudgedFile | null> {
  const { target, of, offered, halted, configurationVersion, checks } = look;
  const scope = scopeOfFile(look, file);
  const series = seriesOf(scope);
  const index = of(series);
  const published = index.published.filter(({ oid }) => !halted.has(oid));
  const given = chooseParameterFile(offered(scope, published), {
    configurationVersion: configurationVersion ?? '1.0.0',
    prereleaseChannel: null,
  })?.file;
  // What nodes get already is no new file, even where its schema would refuse it by now.
  if (given && (await isStored(tools, look, file, given))) return null;
  const major = majorOf(configurationVersion ?? '') ?? majorOf(index.versions[0]?.version ?? '') ?? 1;
  const version = nextFree(index, major);
  const caller = target.principal.userId;
  if (!file.isPassthrough)
    file.read ??= read({ documents: tools.documents, caller }, file.content, 'yaml', 'findAmbiguous', '');
  const content = (await file.read) ?? null;
  const wanted = { ...wantedOf(look, file), version, status: 'Draft' } as const;
  const checked = await checkContent(tools, { ...target, checks }, wanted, content);
  const has = (ref: VersionRef) => isStoredAs(tools, target, { series, version }, checked, ref);
  if (given && (await has(given))) return null;
  for (const draft of draftsAbove(index, major, given))
    if (await has(draft)) return { file, checked, version, draft };
  return { file, checked, version, draft: null };
}

/** The lowest version of this major that is free above what is published of it, withdrawn versions too. */
function nextFree({ versions }: VersionIndex, major: Major): string {
  const own = versions.filter(({ version }) => majorOf(version) === major);
  const highest = own.find(({ status }) => status === 'Published');
  let next = highest ? nextPatch(highest.version) : `${major}.0.0`;
  while (own.some(({ version }) => sameVersion(version, next))) next = nextPatch(next);
  return next;
}

/** The drafts of this major that the series would give once they were published. */
function draftsAbove({ versions }: VersionIndex, major: Major, given: VersionRef | undefined): VersionRef[] {
  const floor = given && majorOf(given.version) === major ? given.version : null;
  return versions.filter(
    ({ version, status }) =>
      status === 'Draft' &&
      majorOf(version) === major &&
      isStable(version) &&
      (floor === null || compareVersions(version, floor) > 0),
  );
}

/** Whether a version has the very bytes of the file, and no secret in the clear that storing it would encrypt. */
async function isStored(
  tools: ParameterTools,
  { target: { resource, principal }, checks }: Look,
  { isPassthrough, content }: FolderFile,
  ref: VersionRef,
): Promise<boolean> {
  const { name } = resource;
  const details = await tools.store.parameters.details(name, ref);
  if (isPassthrough || details.isPassthrough) return isPassthrough && details.isPassthrough;
  if (details.sha256 !== sha256Hex(content)) return false;
  const document = await tools.parameters.source(name, ref);
  const secure = await checks.secureNames(ref.version);
  const caller = principal.userId;
  const blockers = document ? await secretBlockers(tools, { caller }, document, secure) : [];
  return !blockers.some(({ code }) => code === 'secret_in_clear');
}

/** Whether a version has the content as it would be stored: with secrets encrypted, which keep their texts where they are the same. */
async function isStoredAs(
  tools: ParameterTools,
  { resource: { name: configurationName }, principal: { userId: caller } }: FileTarget,
  of: { series: string; version: string },
  { incoming }: CheckedContent,
  ref: VersionRef,
): Promise<boolean> {
  const details = await tools.store.parameters.details(configurationName, ref);
  if (incoming === null || details.isPassthrough) return incoming === null && details.isPassthrough;
  const sealed = await sealContent(tools, { configurationName, caller, ...of }, incoming, [ref]);
  return details.sha256 === sha256Hex(sealed.bytes);
}
