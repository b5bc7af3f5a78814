/**
 * A folder of parameter files: what differs from what its series give becomes drafts. All of it is checked first, and nothing
 * is held meanwhile. Then it is written configuration by configuration, each under the lock of its parameters, and all drafts of
 * one at once. Its files are judged once more there if something has changed that they were judged by.
 */

import pLimit from 'p-limit';
import { parseTreePath, pointerOfPath } from '../domain/parameter-tree.ts';
import { showText } from '../domain/safe-path.ts';
import { damagedRepository } from '../git/disk-errors.ts';
import { refuseGone } from '../lib/client-gone.ts';
import { conflict, type FieldError, HawserError, invalid, invalidField } from '../lib/errors.ts';
import { paced } from '../lib/pace.ts';
import { grantedPart } from '../security/authorize.ts';
import type { Caller } from '../security/caller.ts';
import { authorVersions, type DraftToPublish, type VersionAuthor } from '../versions/author.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import { findBlockers } from '../versions/rules.ts';
import type { VersionRef } from '../versions/store.ts';
import {
  type FolderFile,
  inOrder,
  type JudgedFile,
  judge,
  lookAt,
  scopeOfFile,
  textOf,
  wantedOf,
} from './folder-judging.ts';
import { FileChecks, type ParameterTools } from './parameter-checks.ts';
import { ownerOf } from './parameter-scopes.ts';
import { requireDoneAlone } from './protection.ts';
import {
  type ChangedFile,
  createFiles,
  type FileTarget,
  judgeFile,
  publishing,
  requireFile,
  requireSealing,
  scopeToPublish,
} from './put-parameters.ts';

export interface FolderPush {
  files: readonly { path: string; content: Buffer }[];
  message?: string | undefined;
  /** Whether the drafts are published. */
  publish: boolean;
  /** Aborted when the caller has gone. Once the writing has begun it goes on to its end. */
  gone: AbortSignal;
}

export type PushedFile = ChangedFile & { configurationId: string };

/** What is to be written of one configuration, by precedence and value. */
interface FolderPart {
  target: FileTarget;
  judged: readonly JudgedFile[];
  /** What the files were judged by, as `textOf` gives it. */
  text: string;
}

/** A draft, and where it came from. */
type WrittenDraft = PushedFile & { part: FolderPart; file: FolderFile };

type Author = VersionAuthor<'parameters'>;

/** After so many files that are refused, no more are looked at. */
const MAX_REFUSED = 100;
/** So many configurations are written at the same time, each under a lock of its own. */
const AT_ONCE = 4;
/** So many files are published while the lock of their configuration is held. */
const PUBLISHED_TOGETHER = 50;
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
  const pushed = publish ? await publishDrafts(tools, drafts, message) : drafts;
  return pushed.map(({ part: _, file: _file, ...rest }) => rest);
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
    const all = tree.get(name) ?? [];
    const look = await lookAt(tools, target, await tools.store.parameters.index(name), all);
    const seen = new Set<string>();
    const judged: JudgedFile[] = [];
    for await (const file of paced(inOrder(look, all))) {
      try {
        const series = seriesOf(scopeOfFile(look, file));
        if (seen.size === seen.add(series).size) throw invalidField('', TWICE, 'not_allowed');
        const found = await judge(tools, look, file);
        if (found !== null) judged.push(found);
      } catch (error) {
        faults.take(error, file.path);
      }
    }
    if (judged.length > 0) parts.push({ target, judged, text: textOf(look, filesOf(judged)) });
  }
  faults.throwAny();
  return parts;
}

const filesOf = (judged: readonly JudgedFile[]) => judged.map(({ file }) => file);
const TWICE = 'Another file of the folder is of the same scope';

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

/** Makes the drafts of one configuration. Its files are judged anew under its lock where that could come out otherwise by now. */
function writePart(
  tools: ParameterTools,
  part: FolderPart,
  { message, made }: { message: string | undefined; made: Map<FolderPart, string[][]> },
): Promise<WrittenDraft[]> {
  const { target } = part;
  const { id: configurationId, name } = target.resource;
  return authorVersions(tools, target, async (author) => {
    const judged = await judgedNow(tools, part, author);
    await requireSealing(
      tools,
      judged.map(({ checked: { incoming } }) => incoming),
    );
    const lacking = judged.filter(({ draft }) => draft === null);
    const written = await createFiles(
      tools,
      target,
      author,
      lacking.map(({ file, checked, version }) => ({ ...checked, file, version })),
      { message, blame: ({ file }, work) => at(file, work) },
    );
    made.set(
      part,
      written.map(({ series, made: { version, commit } }) => [series, version, commit]),
    );
    const drafts: WrittenDraft[] = [];
    for await (const one of paced(judged)) {
      const { file, draft, checked } = one;
      const place = lacking.indexOf(one);
      const fresh = written[place];
      const details = fresh
        ? await tools.store.parameters.describe(name, fresh.made)
        : await tools.store.parameters.details(name, draft as VersionRef);
      const { type, wanted, needsMigration } = checked;
      const scope = fresh?.scope ?? wanted.scope;
      drafts.push({ part, file, configurationId, type, scope, details, needsMigration });
    }
    return drafts;
  });
}

/** Under the lock. @throws HawserError as `judge` */
async function judgedNow(
  tools: ParameterTools,
  { target, judged, text }: FolderPart,
  author: Author,
): Promise<readonly JudgedFile[]> {
  const look = await lookAt(tools, target, author.all, filesOf(judged));
  for await (const { file } of paced(judged))
    await at(file, async () => wantedOf(look, file) && scopeOfFile(look, file));
  if (textOf(look, filesOf(judged)) === text) return judged;
  const again: JudgedFile[] = [];
  for await (const { file } of paced(judged)) {
    const found = await at(file, () => judge(tools, look, file));
    if (found) again.push(found);
  }
  return again;
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

/**
 * Publishes the drafts in their order, many at a time, so that the lock of a configuration is given back in between.
 * @throws HawserError of the first that is refused, after which the rest stay drafts
 */
async function publishDrafts(
  tools: ParameterTools,
  drafts: readonly WrittenDraft[],
  message: string | undefined,
): Promise<WrittenDraft[]> {
  const published: WrittenDraft[] = [];
  let next = 0;
  while (next < drafts.length) {
    const part = drafts[next]?.part as FolderPart;
    const batch = drafts.slice(next, next + PUBLISHED_TOGETHER).filter((draft) => draft.part === part);
    published.push(...(await publishTogether(tools, part.target, batch, message)));
    next += batch.length;
  }
  return published;
}

/**
 * Publishes drafts of one configuration up to the first that is refused. Nodes are offered all of them at once.
 * @throws HawserError of that one; not_found where the configuration was deleted; `frozen`
 */
async function publishTogether(
  tools: ParameterTools,
  target: FileTarget,
  drafts: readonly WrittenDraft[],
  message: string | undefined,
): Promise<WrittenDraft[]> {
  const { resource, principal } = target;
  const { published, refusal } = await authorVersions(tools, target, async (author) => {
    const checks = await FileChecks.of(tools, resource, principal.userId);
    const judged: { draft: WrittenDraft; ready: DraftToPublish | null; needsMigration: boolean }[] = [];
    let refusal: { error: unknown } | null = null;
    for await (const draft of paced(drafts)) {
      try {
        const found = await at(draft.file, () => judgeDraft(tools, { ...target, checks, author }, draft));
        judged.push({ draft, ...found });
      } catch (error) {
        refusal = { error };
        break;
      }
    }
    const ready = judged.flatMap((one) => (one.ready === null ? [] : { ...one.ready, message }));
    await author.publishTogether(ready);
    const published: WrittenDraft[] = [];
    for await (const { draft, needsMigration } of paced(judged)) {
      const ref = author.index(seriesOf(draft.scope)).get(draft.details.version);
      if (ref === undefined) throw damagedRepository();
      const details = await tools.store.parameters.details(resource.name, ref);
      published.push({ ...draft, details, needsMigration });
    }
    return { published, refusal };
  });
  if (refusal !== null) throw refusal.error;
  return published;
}

/** @returns what is to be published; null where somebody has published the same. @throws HawserError as `publishFile`; `draft_changed` */
async function judgeDraft(
  tools: ParameterTools,
  { author, ...target }: FileTarget & { author: Author; checks: FileChecks },
  { type: { id }, scope: { value: scopeValue }, details: pushed }: WrittenDraft,
): Promise<{ ready: DraftToPublish | null; needsMigration: boolean }> {
  const { version } = pushed;
  const name = { type: { id }, scopeValue, version };
  const found = await requireFile(tools, target, name, 'Modify');
  await requireDoneAlone(tools, target.actor, publishing(target, found, version));
  const { type, scope } = await scopeToPublish(tools, name);
  const series = seriesOf(scope);
  const ref = author.index(series).get(version);
  if (ref?.status === 'Published') {
    const there = await tools.store.parameters.details(target.resource.name, ref);
    const isSame = there.sha256 === pushed.sha256 && there.isPassthrough === pushed.isPassthrough;
    if (isSame) return { ready: null, needsMigration: false };
  } else if (ref?.commit !== pushed.commit)
    throw conflict('draft_changed', 'Somebody has changed the draft meanwhile; push the folder again');
  const { blockers, needsMigration } = await judgeFile(tools, target, ref);
  const [blocker] = await findBlockers(ref, async () => blockers);
  if (blocker) throw blocker;
  const nodeId = await ownerOf(tools.database.read, type, scope);
  return { ready: { series, ref, nodeId }, needsMigration };
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
