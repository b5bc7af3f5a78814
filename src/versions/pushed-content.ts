/** Looks at what was pushed, before any of it is in the repository: it must obey every rule of an upload. */

import { DEFAULT_ENTRY_POINT } from '../domain/bundle-paths.ts';
import { checkGitAttributes, isGitAttributes, showText } from '../domain/safe-path.ts';
import type { TypedObject } from '../git/batch-objects.ts';
import { type CommitObject, isSigned, type TagObject } from '../git/commits.ts';
import type { GivenObject, ObjectStore, ObjectType } from '../git/objects.ts';
import type { StoredFile } from '../git/types.ts';
import { SECOND } from '../lib/clock.ts';
import { conflict, type HawserError, invalid, invalidField, overLimit, tooLarge } from '../lib/errors.ts';
import { KINDS, lacksFile, tagNameOf } from './kinds.ts';
import type { PushedVersion } from './push-plan.ts';
import { PushedTrees, type TreeSource, tooComplex } from './pushed-trees.ts';
import { isContent, type VersionContent, VersionObjects } from './version-objects.ts';

/** The objects that came, and that the repository lacks. */
export interface NewObjects {
  readonly added: ReadonlyMap<string, { type: ObjectType; size: number }>;
  read(oid: string): Promise<{ type: ObjectType; content: Buffer }>;
  readAll(oids: Iterable<string>): AsyncIterable<TypedObject>;
  /** All of them, to be written. */
  giveAll(): AsyncIterable<GivenObject>;
}

export interface ContentLimits {
  uploadBytes: number;
  uploadFiles: number;
}

export interface ContentSite {
  gitdir: string;
  /** The objects of the repository, and over them those that came. */
  objects: ObjectStore;
  fresh: NewObjects;
  limits: ContentLimits;
  /** Looks at folders in a thread. */
  lookAtTrees: TreeSource['lookAt'];
  /** The bytes of files that the repository has already. */
  sizesOf(files: readonly StoredFile[]): Promise<readonly number[]>;
  /** The entry point that the version takes from the one below it; null where there is none below. */
  inheritedEntryPoint(): Promise<string | null>;
}

/** A version as it was pushed. */
export interface JudgedPush {
  commit: string;
  /** The tag that was pushed, and the commit that it names. */
  tag: TagObject | null;
  tip: CommitObject;
  content: VersionContent;
  entryPoint: string;
}

const LFS_POINTER = Buffer.from('version https://git-lfs.github.com/spec/v1\n');
/** Git LFS: a pointer file is smaller than this. */
const LFS_BYTES = 1024;
/** Milliseconds that looking at one push may take. */
const MAX_WORK = 20 * SECOND;
/** Milliseconds. If more lie between two looks at the clock, the process was stopped meanwhile, and this much counts. */
const LONGEST_STEP = 5 * SECOND;

/**
 * @throws HawserError what an upload of the same files is refused with; `lightweight_tag`, `tag_name_mismatch`,
 *   `lfs_pointer`, `invalid_path` for links and submodules too, `invalid_pack` for a branch that leads to no commit
 */
export async function judgeContent(site: ContentSite, plan: PushedVersion): Promise<JudgedPush> {
  const versions = new VersionObjects(site.objects, 1, () => undefined);
  const tag = plan.tag === null ? null : await readTag(site, plan);
  const commit = tag?.object ?? plan.draft?.to ?? '';
  if (plan.draft !== null && plan.draft.to !== commit)
    throw conflict('tag_name_mismatch', 'The tag and the draft of the version are on different commits');
  const tip = await site.objects.readParsed(site.gitdir, commit, 'commit');
  if (tip === null) throw invalid('invalid_pack', 'It does not lead to a commit');
  if (!isSigned(tip)) throw malformed(commit);
  const requireTime = limitedTime();
  await refusePointers(site, requireTime);
  await checkHistory(site, commit, requireTime);
  const status = plan.tag === null ? 'Draft' : 'Published';
  const oid = plan.tag ?? commit;
  const content = await readContent(versions, site.gitdir, { status, oid });
  await checkFiles(site, content.files);
  return { commit, tag, tip, content, entryPoint: await entryPointOf(site, plan, content) };
}

async function readTag(
  { objects, gitdir }: ContentSite,
  { tag, version }: PushedVersion,
): Promise<TagObject> {
  const read = await objects.readParsed(gitdir, tag ?? '', 'tag');
  if (read === null)
    throw invalid('lightweight_tag', `Make an annotated tag: git tag -a v${showText(version)}`);
  const name = tagNameOf('', version);
  if (read.tag !== name)
    throw conflict('tag_name_mismatch', `The tag object names "${showText(read.tag)}", and not "${name}"`);
  if (read.type !== 'commit') throw invalid('invalid_pack', 'The tag does not name a commit');
  return read;
}

/** @returns a function that throws HawserError `too_complex` after 20 s of work, counted from now */
function limitedTime(): () => void {
  let [spent, last] = [0, performance.now()];
  return () => {
    const now = performance.now();
    spent += Math.min(now - last, LONGEST_STEP);
    last = now;
    if (spent > MAX_WORK) throw tooComplex('To look at the push takes too long');
  };
}

/** Nobody may clone what could not be uploaded, so the rules of paths and modes hold for each new commit. */
async function checkHistory(site: ContentSite, tip: string, requireTime: () => void): Promise<void> {
  const { fresh, objects, gitdir, limits } = site;
  const roots: string[] = [];
  const commits = [...fresh.added].filter(([, { type }]) => type === 'commit').map(([oid]) => oid);
  for (const oid of new Set([tip, ...commits])) {
    const commit = await objects.readParsed(gitdir, oid, 'commit');
    if (commit === null || !isSigned(commit)) throw malformed(oid);
    roots.push(commit.tree);
  }
  const trees = new PushedTrees({
    read: (oids) => readTrees(site, oids),
    lookAt: (batch) => site.lookAtTrees(batch),
    requireTime,
  });
  const [tree = '', ...others] = roots;
  await trees.require({ tree, files: limits.uploadFiles }, others);
}

function malformed(commit: string): HawserError {
  const message = `The commit ${commit} does not say in git's form who made it and when; make it anew`;
  return invalid('invalid_pack', message);
}

async function* readTrees({ fresh, objects, gitdir }: ContentSite, oids: readonly string[]) {
  for await (const { oid, content } of fresh.readAll(oids.filter((oid) => fresh.added.has(oid))))
    yield { oid, content };
  for (const oid of oids)
    if (!fresh.added.has(oid)) yield { oid, content: await objects.readBytes(gitdir, oid, 'tree') };
}

async function readContent(
  versions: VersionObjects,
  gitdir: string,
  { status, oid }: { status: 'Draft' | 'Published'; oid: string },
): Promise<VersionContent> {
  const read = await versions.read(gitdir, KINDS.configurations, { series: '', status, oid });
  if (read === null) throw invalid('invalid_pack', 'It does not lead to a commit');
  if (!isContent(read)) throw invalid('invalid_path', read.fault);
  return read;
}

async function checkFiles(site: ContentSite, files: readonly StoredFile[]): Promise<void> {
  const { fresh, limits, objects, gitdir } = site;
  const known = files.filter(({ oid }) => !fresh.added.has(oid));
  const sizes = [...files.map(({ oid }) => fresh.added.get(oid)?.size ?? 0), ...(await site.sizesOf(known))];
  if (sizes.reduce((sum, size) => sum + size, 0) > limits.uploadBytes)
    throw tooLarge(`The version is ${overLimit(limits.uploadBytes, 'HAWSER_UPLOAD_LIMIT')}`);
  for (const { path, oid } of files)
    if (isGitAttributes(path)) checkGitAttributes(path, await objects.readBytes(gitdir, oid, 'blob'));
}

/** What a pointer stands for is not there, so nodes would get the pointer. */
async function refusePointers({ fresh }: ContentSite, requireTime: () => void): Promise<void> {
  const small = [...fresh.added].filter(
    ([, { type, size }]) => type === 'blob' && size >= LFS_POINTER.length && size < LFS_BYTES,
  );
  for await (const { content } of fresh.readAll(small.map(([oid]) => oid))) {
    requireTime();
    if (LFS_POINTER.equals(content.subarray(0, LFS_POINTER.length)))
      throw invalid(
        'lfs_pointer',
        'A file is a pointer of Git LFS, and this server has no LFS; push its content',
      );
  }
}

async function entryPointOf(
  site: ContentSite,
  { entryPoint: named }: PushedVersion,
  { entryPoint: stated, files }: VersionContent,
): Promise<string> {
  const path = named ?? stated ?? (await site.inheritedEntryPoint()) ?? DEFAULT_ENTRY_POINT;
  if (!files.some((file) => file.path === path)) throw noEntryPoint(path);
  return path;
}

function noEntryPoint(path: string): HawserError {
  const message = `${lacksFile(path)}; another entry point is named by the trailer "Entry-Point: <path>"`;
  return invalidField('/entryPoint', message, 'entry_point_missing');
}
