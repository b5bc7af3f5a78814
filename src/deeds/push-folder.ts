/**
 * A folder of parameter files: what differs from what its series give becomes drafts. All of it is checked first, and nothing
 * is held meanwhile. Then it is written configuration by configuration, each under the lock of its parameters, where its files
 * are checked once more.
 */

import pLimit from 'p-limit';
import { listScopeTypes, type ScopeTypeRow } from '../db/scope-types.ts';
import { parseTreePath, pointerOfPath, type TreeFile } from '../domain/parameter-tree.ts';
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
import { refuseGone } from '../lib/client-gone.ts';
import { conflict, type FieldError, HawserError, invalid, invalidField } from '../lib/errors.ts';
import { sha256Hex } from '../lib/hash.ts';
import { readOfferedFiles } from '../resolve/offered-files.ts';
import { grantedPart } from '../security/authorize.ts';
import type { Caller } from '../security/caller.ts';
import { SeriesRights } from '../security/series-rights.ts';
import { authorVersions, type VersionAuthor } from '../versions/author.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import type { ParameterDetails, ParameterScope, VersionIndex, VersionRef } from '../versions/store.ts';
import type { ParameterTools } from './parameter-checks.ts';
import { type ReadContent, read } from './parameter-content.ts';
import { scopeNamed } from './parameter-scopes.ts';
import {
  type ChangedFile,
  type CheckedContent,
  checkFile,
  type FileTarget,
  publishFile,
  requireSealing,
  storeChecked,
} from './put-parameters.ts';
import { sealContent, secretBlockers } from './secret-content.ts';

export interface FolderPush {
  files: readonly { path: string; content: Buffer }[];
  message?: string | undefined;
  /** Whether the drafts are published. */
  publish: boolean;
  /** Aborted when the caller has gone. Once the writing has begun it goes on to its end. */
  gone: AbortSignal;
}

export type PushedFile = ChangedFile & { configurationId: string };

/** A file of the tree. */
interface FolderFile extends TreeFile {
  path: string;
  content: Buffer;
  /** The content, once it was read. */
  read?: Promise<ReadContent>;
}

/** The files of one configuration, by precedence and value. */
interface FolderPart {
  target: FileTarget;
  files: readonly FolderFile[];
}

/** What a file is judged by. */
interface Look {
  target: FileTarget;
  of(series: string): VersionIndex;
  rights: SeriesRights;
  types: ReadonlyMap<string, ScopeTypeRow>;
  /** The version of the configuration that says which files are given; null where it has none. */
  configurationVersion: string | null;
}

/** A file that differs from what its series gives. */
interface JudgedFile {
  file: FolderFile;
  checked: CheckedContent;
  /** That of the draft. */
  version: string;
  /** The draft that has the content already. */
  draft: VersionRef | null;
}

/** A draft, and where it came from. */
type WrittenDraft = PushedFile & { part: FolderPart; file: FolderFile };

type Author = VersionAuthor<'parameters'>;

/** After so many files that are refused, no more are looked at. */
const MAX_REFUSED = 100;
/** So many configurations are written at the same time, each under a lock of its own. */
const AT_ONCE = 4;
const NO_RESULT = 'Nothing was made';

/**
 * Makes drafts of the files that differ from what their series give, and publishes these if that is wanted.
 * @returns the drafts, those too that were there, by configuration, precedence and value. With `publish` they are published
 * @throws HawserError with the path of the file in `errors`: invalid, not_found or forbidden, after which nothing was made;
 *   what publishing one of them throws, which leaves the rest as drafts
 */
export async function pushFolder(
  tools: ParameterTools,
  caller: Caller,
  { files, message, publish, gone }: FolderPush,
): Promise<PushedFile[]> {
  const parts = await checkParts(tools, caller, readTree(files));
  refuseGone(gone);
  const drafts = await writeParts(tools, parts, message);
  if (publish)
    for (const [at, { part, file, ...draft }] of drafts.entries())
      drafts[at] = { part, file, ...(await publishDraft(tools, part, file, { draft, message })) };
  return drafts.map(({ part: _, file: _file, ...pushed }) => pushed);
}

/** The files by the names of their configurations. @throws HawserError invalid for paths that name no parameter file */
function readTree(files: FolderPush['files']): Map<string, FolderFile[]> {
  if (files.length === 0) throw invalidField('/files', 'The form has no files', 'required');
  const tree = new Map<string, FolderFile[]>();
  const faults = new Faults();
  for (const { path, content } of files) {
    const named = parseTreePath(path);
    const fault = named === null ? NO_PLACE : named.isPassthrough && content.length > 0 ? NOT_EMPTY : null;
    if (fault) faults.take(invalidField('', fault, 'not_allowed'), path);
    if (named === null) continue;
    const { configurationName: name } = named;
    const part = tree.get(name) ?? [];
    tree.set(name, part);
    part.push({ ...named, path, content });
  }
  faults.throwAny();
  return new Map([...tree].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const NO_PLACE =
  'A folder holds parameters/<configuration>/<ScopeType>/<value>.yaml and parameters/<configuration>/Default.yaml; ' +
  '.passthrough in place of .yaml skips the scope';
const NOT_EMPTY = 'A passthrough is an empty file';

/** Checks all files. @returns those that differ, as far as that can be known before anything is locked */
async function checkParts(
  tools: ParameterTools,
  { principal, actor }: Caller,
  tree: ReadonlyMap<string, FolderFile[]>,
): Promise<FolderPart[]> {
  const { read } = tools.database;
  const targets = new Map<string, FileTarget>();
  const wanted = { level: 'Modify', part: 'series' } as const;
  for (const [name, [first]] of tree) {
    const resource = await at(first, () => grantedPart(read, principal, wanted, { name }));
    targets.set(name, { kind: 'parameters', resource, principal, actor });
  }
  const parts: FolderPart[] = [];
  const faults = new Faults();
  for (const [name, target] of targets) {
    const look = await lookAt(tools, target, await tools.store.parameters.index(name));
    const files = inOrder(look, tree.get(name) ?? []);
    const seen = new Set<string>();
    const differing: FolderFile[] = [];
    for (const file of files) {
      try {
        const scope = await scopeOfFile(tools, look, file);
        if (seen.size === seen.add(seriesOf(scope)).size) throw invalidField('', TWICE, 'not_allowed');
        if ((await judge(tools, look, file, scope)) !== null) differing.push(file);
      } catch (error) {
        faults.take(error, file.path);
      }
    }
    if (differing.length > 0) parts.push({ target, files: differing });
  }
  faults.throwAny();
  return parts;
}

const TWICE = 'Another file of the folder is of the same scope';

/** @param index that of the versions, which must be older than the rights that are read here */
async function lookAt(
  { database: { read }, store }: ParameterTools,
  target: FileTarget,
  index: Pick<Look, 'of'>,
): Promise<Look> {
  const { resource, principal } = target;
  const { published, versions } = await store.versions({ kind: 'configurations', name: resource.name });
  const types = await listScopeTypes(read);
  return {
    target,
    of: (series) => index.of(series),
    rights: await SeriesRights.of(read, principal, resource.id),
    types: new Map(types.map((type) => [scopeKey(type.name), type])),
    configurationVersion: (published[0] ?? versions[0])?.version ?? null,
  };
}

function inOrder({ types }: Look, files: readonly FolderFile[]): FolderFile[] {
  const placeOf = ({ scopeType }: FolderFile) => types.get(scopeKey(scopeType))?.precedence ?? -1;
  const nameOf = ({ scopeValue }: FolderFile) => scopeValue ?? '';
  return [...files].sort((a, b) => placeOf(a) - placeOf(b) || (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** @throws HawserError invalid for an unknown type, not_found below Read, forbidden below Modify */
async function scopeOfFile(
  { database: { read } }: ParameterTools,
  { types, rights }: Look,
  { scopeType, scopeValue }: FolderFile,
): Promise<ParameterScope> {
  const type = types.get(scopeKey(scopeType));
  if (type === undefined)
    throw invalidField('', `There is no scope type "${showText(scopeType)}"`, 'unknown_scope_type');
  const scope = await scopeNamed(read, type, scopeValue);
  rights.require(scope, 'Modify');
  return scope;
}

/** @returns null where the series gives this content. @throws HawserError as putting the file does */
async function judge(
  tools: ParameterTools,
  { target, of, configurationVersion, types }: Look,
  file: FolderFile,
  scope: ParameterScope,
): Promise<JudgedFile | null> {
  const series = seriesOf(scope);
  const index = of(series);
  const offered = (await readOfferedFiles(tools.database.read, [scope]))(scope, index.published);
  const given = chooseParameterFile(offered, {
    configurationVersion: configurationVersion ?? '1.0.0',
    prereleaseChannel: null,
  })?.file;
  // What nodes get already is no new file, even where its schema would refuse it by now.
  if (given && (await isStored(tools, target, file, given))) return null;
  const major = majorOf(configurationVersion ?? '') ?? majorOf(index.versions[0]?.version ?? '') ?? 1;
  const version = nextFree(index, major);
  const caller = target.principal.userId;
  if (!file.isPassthrough)
    file.read ??= read({ documents: tools.documents, caller }, file.content, 'yaml', 'findAmbiguous', '');
  const type = { id: types.get(scopeKey(scope.scopeType))?.id ?? '' };
  const wanted = { type, scopeValue: file.scopeValue, version, status: 'Draft' } as const;
  const checked = await checkFile(tools, target, wanted, (await file.read) ?? null);
  const has = (ref: VersionRef) => isStoredAs(tools, target, { series, version }, checked, ref);
  if (given && (await has(given))) return null;
  for (const draft of draftsAbove(index, major, given))
    if (await has(draft)) return { file, checked, version: draft.version, draft };
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
  { resource: { name }, principal }: FileTarget,
  { isPassthrough, content }: FolderFile,
  ref: VersionRef,
): Promise<boolean> {
  const details = await tools.store.parameters.details(name, ref);
  if (isPassthrough || details.isPassthrough) return isPassthrough && details.isPassthrough;
  if (details.sha256 !== sha256Hex(content)) return false;
  const document = await tools.parameters.source(name, ref);
  const of = { configurationName: name, version: ref.version, caller: principal.userId };
  const blockers = document ? await secretBlockers(tools, of, document) : [];
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

/** Writes the drafts of all configurations, a few at the same time, and takes them back where one of these cannot be written. */
async function writeParts(
  tools: ParameterTools,
  parts: readonly FolderPart[],
  message: string | undefined,
): Promise<WrittenDraft[]> {
  const turns = pLimit(AT_ONCE);
  const made = new Map<FolderPart, string[][]>();
  let isBroken = false;
  const write = async (part: FolderPart) => {
    if (isBroken) return [];
    return writePart(tools, part, { message, made }).catch((error) => {
      isBroken = true;
      throw error;
    });
  };
  const written = await Promise.allSettled(parts.map((part) => turns(() => write(part))));
  const failed = written.find(({ status }) => status === 'rejected');
  if (failed === undefined) return written.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  for (const [part, names] of made) await takeBack(tools, part, names).catch(() => undefined);
  throw (failed as PromiseRejectedResult).reason;
}

/** Writes the drafts of one configuration, whose files are judged once more under its lock before any of them is written. */
function writePart(
  tools: ParameterTools,
  part: FolderPart,
  { message, made }: { message: string | undefined; made: Map<FolderPart, string[][]> },
): Promise<WrittenDraft[]> {
  const { target, files } = part;
  const { id: configurationId, name } = target.resource;
  return authorVersions(tools, target, async (author) => {
    const look = await lookAt(tools, target, { of: (series) => author.index(series) });
    const judged: JudgedFile[] = [];
    for (const file of files) {
      const found = await at(file, async () =>
        judge(tools, look, file, await scopeOfFile(tools, look, file)),
      );
      if (found) judged.push(found);
    }
    await requireSealing(
      tools,
      judged.map(({ checked: { incoming } }) => incoming),
    );
    const drafts: WrittenDraft[] = [];
    for (const { file, checked, version, draft } of judged) {
      const { type, needsMigration, wanted } = checked;
      const known = draft && (await tools.store.parameters.details(name, draft));
      const { scope, details } = known
        ? { scope: wanted.scope, details: known }
        : await at(file, () => storeChecked(tools, target, author, { ...checked, version, message }));
      if (known === null)
        made.set(part, [...(made.get(part) ?? []), [seriesOf(scope), version, details.commit]]);
      drafts.push({ part, file, configurationId, type, scope, details, needsMigration });
    }
    return drafts;
  });
}

/**
 * Deletes the drafts that were made before another file could not be. One that somebody has changed meanwhile stays. Where this
 * fails they stay all: no node gets a draft, and the same folder names them when it is pushed again.
 */
function takeBack(tools: ParameterTools, { target }: FolderPart, made: readonly string[][]): Promise<void> {
  return authorVersions(tools, target, async (author: Author) => {
    for (const [series = '', version = '', commit] of made)
      if (author.index(series).get(version)?.commit === commit) await author.deleteDraft(version, series);
  });
}

/** @throws HawserError as `publishFile`; conflict `draft_changed` where it is no longer what was pushed */
async function publishDraft(
  tools: ParameterTools,
  { target }: FolderPart,
  file: FolderFile,
  { draft, message }: { draft: PushedFile; message: string | undefined },
): Promise<PushedFile> {
  const { type, scope, details } = draft;
  const { name } = target.resource;
  const find = async () =>
    (await tools.store.parameters.index(name)).of(seriesOf(scope)).get(details.version);
  const requireCurrent = async () => {
    const ref = await find();
    if (ref?.status === 'Draft' && ref.commit !== details.commit)
      throw conflict('draft_changed', 'Somebody has changed the draft meanwhile; push the folder again');
  };
  const named = { type: { id: type.id }, scopeValue: scope.value, version: details.version };
  return at(file, async () => {
    try {
      return { ...draft, ...(await publishFile(tools, { ...target, requireCurrent }, named, message)) };
    } catch (error) {
      // Somebody else may have pushed the same at the same time.
      const ref = isAlreadyPublished(error) ? await find() : undefined;
      const published = ref && (await tools.store.parameters.details(name, ref));
      if (published && isSame(published, details)) return { ...draft, details: published };
      throw error;
    }
  });
}

const isAlreadyPublished = (error: unknown) =>
  error instanceof HawserError && error.code === 'already_published';

function isSame(a: ParameterDetails, b: ParameterDetails): boolean {
  return a.sha256 === b.sha256 && a.isPassthrough === b.isPassthrough;
}

/** Runs work for a file, whose path stands in the errors. */
async function at<T>(file: Pick<FolderFile, 'path'> | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw file ? ofFile(error, file.path) : error;
  }
}

/** The same refusal with the path of the file before its paths. A fault of the server stays what it is. */
function ofFile(error: unknown, path: string): unknown {
  if (!(error instanceof HawserError) || error.kind === 'internal') return error;
  const { kind, message, retryAfter, data } = error;
  const own = data['errors'] as FieldError[] | undefined;
  const errors = (own ?? [{ path: '', message, code: error.code }]).map((each) => ({
    ...each,
    // Type and value stand in the path of the file.
    path: pointerOfPath(path) + (each.path === '/scopeValue' ? '' : each.path),
  }));
  const told = `${showText(path)}: ${message}`;
  return new HawserError(kind, error.code, told, {
    data: { ...data, errors },
    retryAfter,
    cause: error.cause,
  });
}

/** Collects what is wrong with the input, so that one answer says all of it. */
class Faults {
  private readonly found: HawserError[] = [];

  /** @throws what is no fault of the input, and all that was collected where it is much */
  take(error: unknown, path: string): void {
    const told = ofFile(error, path);
    if (!(told instanceof HawserError) || told.kind !== 'invalid') throw told;
    this.found.push(told);
    if (this.found.length === MAX_REFUSED) this.throwAny();
  }

  throwAny(): void {
    const [error, ...others] = this.found;
    if (error === undefined) return;
    const errors = this.found.flatMap(({ data }) => data['errors'] as FieldError[]).slice(0, MAX_REFUSED);
    const more = others.length === 0 ? '' : ` (and ${others.length} more files are refused)`;
    const told = `${error.message}${more}. ${NO_RESULT}`;
    if (others.some(({ code }) => code !== error.code)) throw invalid('validation_failed', told, errors);
    throw new HawserError(error.kind, error.code, told, { data: { errors } });
  }
}
