/** Looks at what was pushed, before any of it is in the repository: it must obey every rule of an upload. */

import { checkGitAttributes, isGitAttributes, showText } from '../domain/safe-path.ts';
import type { TypedObject } from '../git/batch-objects.ts';
import { type CommitObject, isSigned, type TagObject } from '../git/commits.ts';
import type { GivenObject, ObjectStore, ObjectType } from '../git/objects.ts';
import { decodeTree } from '../git/tree.ts';
import type { StoredFile } from '../git/types.ts';
import { SECOND } from '../lib/clock.ts';
import { conflict, type HawserError, invalid, overLimit, tooLarge } from '../lib/errors.ts';
import { paced } from '../lib/pace.ts';
import { contentFault, FILE_NAMES, KINDS, tagNameOf } from './kinds.ts';
import { blamingLater, type PushedKind, type PushedVersion } from './push-plan.ts';
import { PushedTrees, type TreeSource, tooComplex } from './pushed-trees.ts';
import { isFolder } from './tree-tasks.ts';
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
  kind: PushedKind;
  gitdir: string;
  /** The objects of the repository, and over them those that came. */
  objects: ObjectStore;
  fresh: NewObjects;
  limits: ContentLimits;
  /** Looks at folders in a thread. */
  lookAtTrees: TreeSource['lookAt'];
  /** The bytes of files that the repository has already. */
  sizesOf(files: readonly StoredFile[]): Promise<readonly number[]>;
}

type NewHistory = Pick<ContentSite, 'fresh' | 'objects' | 'gitdir'>;

/** A version as it was pushed. */
export interface JudgedPush {
  plan: PushedVersion;
  commit: string;
  /** The tag that was pushed, and the commit that it names. */
  tag: TagObject | null;
  tip: CommitObject;
  /** The files are those of the version. */
  content: VersionContent;
}

/** A file of a new commit, in which nobody may find what could not be uploaded. */
export interface FormerFile {
  path: string;
  oid: string;
}

const LFS_POINTER = Buffer.from('version https://git-lfs.github.com/spec/v1\n');
/** Bytes of memory for what is known of the trees of tips. */
const WHOLE_TREES = 16 * 1024 * 1024;
/** Git LFS: a pointer file is smaller than this. */
const LFS_BYTES = 1024;
/** Milliseconds that looking at one push may take. */
const MAX_WORK = 20 * SECOND;
/** Milliseconds. If more lie between two looks at the clock, the process was stopped meanwhile, and this much counts. */
const LONGEST_STEP = 5 * SECOND;

/**
 * Looks at all versions of a push that do not go.
 * @throws HawserError what an upload of the same files is refused with; `lightweight_tag`, `tag_name_mismatch`,
 *   `lfs_pointer`, `invalid_path` for links and submodules too, `invalid_pack` for a branch that leads to no commit;
 *   `file_missing` for a parameter file that is not there
 */
export async function judgeContent(
  site: ContentSite,
  plans: readonly PushedVersion[],
): Promise<JudgedPush[]> {
  const tips: Omit<JudgedPush, 'content'>[] = [];
  for await (const plan of paced(plans)) tips.push(await blamingLater(plan.ref, () => readTip(site, plan)));
  const requireTime = limitedTime();
  await refusePointers(site, requireTime);
  await checkHistory(site, tips, requireTime);
  const versions = new VersionObjects(site.objects, WHOLE_TREES, () => undefined);
  const checked = new Set<string>();
  const judged: JudgedPush[] = [];
  for await (const tip of paced(tips)) {
    requireTime();
    judged.push(
      await blamingLater(tip.plan.ref, async () => {
        const whole = await readWhole(site, versions, tip);
        if (!checked.has(tip.commit)) await checkFiles(site, whole.files);
        checked.add(tip.commit);
        return { ...tip, content: await contentOf(site, tip, whole) };
      }),
    );
  }
  return judged;
}

async function readTip(site: ContentSite, plan: PushedVersion): Promise<Omit<JudgedPush, 'content'>> {
  const tag = plan.tag === null ? null : await readTag(site, plan);
  const commit = tag?.object ?? plan.draft?.to ?? '';
  if (plan.draft !== null && plan.draft.to !== commit)
    throw conflict('tag_name_mismatch', 'The tag and the draft of the version are on different commits');
  const tip = await site.objects.readParsed(site.gitdir, commit, 'commit');
  if (tip === null) throw invalid('invalid_pack', 'It does not lead to a commit');
  if (!isSigned(tip)) throw malformed(commit);
  return { plan, commit, tag, tip };
}

/** Of the tree of a parameter file one path counts, and the others mean nothing. */
async function contentOf(
  { kind: name }: ContentSite,
  { plan: { series } }: Omit<JudgedPush, 'content'>,
  whole: VersionContent,
): Promise<VersionContent> {
  const kind = KINDS[name];
  const paths = kind.paths(series);
  if (paths === null) return whole;
  const files = whole.files.filter(({ path }) => paths.includes(path));
  const { isPassthrough } = whole;
  const [yaml = '', json = ''] = paths;
  if (files.length === 0 && !isPassthrough)
    throw invalid(
      'file_missing',
      `There is no file at "${yaml}" or "${json}"; a scope is skipped on purpose by the trailer "Passthrough: true" of the commit`,
    );
  const fault = await contentFault(kind, series, {
    entryPoint: null,
    isPassthrough,
    paths: files.map(({ path }) => path),
    read: async () => Buffer.alloc(0),
  });
  if (fault !== null) throw invalid('validation_failed', fault);
  return { ...whole, files };
}

async function readTag(
  { objects, gitdir }: ContentSite,
  { tag, series, version }: PushedVersion,
): Promise<TagObject> {
  const name = tagNameOf(series, version);
  const read = await objects.readParsed(gitdir, tag ?? '', 'tag');
  if (read === null) throw invalid('lightweight_tag', `Make an annotated tag: git tag -a ${showText(name)}`);
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
async function checkHistory(
  site: ContentSite,
  tips: readonly Pick<JudgedPush, 'commit' | 'tip'>[],
  requireTime: () => void,
): Promise<void> {
  const { limits } = site;
  const treesOfTips = new Set(tips.map(({ tip }) => tip.tree));
  const others = (await newCommits(site)).map(({ tree }) => tree);
  const trees = new PushedTrees({
    read: (oids) => readTrees(site, oids),
    lookAt: (batch) => site.lookAtTrees(batch),
    requireTime,
  });
  await trees.require({ trees: treesOfTips, files: limits.uploadFiles }, others);
}

/** @throws HawserError `invalid_pack` */
async function newCommits({ fresh, objects, gitdir }: NewHistory): Promise<CommitObject[]> {
  const commits: CommitObject[] = [];
  for (const [oid, { type }] of fresh.added) {
    if (type !== 'commit') continue;
    const commit = await objects.readParsed(gitdir, oid, 'commit');
    if (commit === null || !isSigned(commit)) throw malformed(oid);
    commits.push(commit);
  }
  return commits;
}

/** The new files of the new commits that lie where a parameter file does, each content and path once, but for those of `known`. */
export async function* formerFiles(site: NewHistory, known: ReadonlySet<string>): AsyncGenerator<FormerFile> {
  const seen = new Set<string>();
  const walk = (await newCommits(site)).map(({ tree }) => ({ oid: tree, prefix: '' }));
  for (let place = walk.pop(); place !== undefined; place = walk.pop()) {
    const { oid, prefix } = place;
    // What the repository has already is in no new commit for the first time.
    if (seen.has(prefix + oid) || !site.fresh.added.has(oid)) continue;
    seen.add(prefix + oid);
    for await (const { content } of readTrees(site, [oid]))
      for (const entry of decodeTree(Buffer.from(content)) ?? []) {
        const path = prefix + entry.name;
        if (isFolder(entry)) walk.push({ oid: entry.oid, prefix: `${path}/` });
        else if (FILE_NAMES.includes(entry.name) && site.fresh.added.has(entry.oid) && !known.has(entry.oid))
          yield { path, oid: entry.oid };
      }
  }
}

function malformed(commit: string): HawserError {
  const message = `The commit ${commit} does not say in git's form who made it and when; make it anew`;
  return invalid('invalid_pack', message);
}

async function* readTrees({ fresh, objects, gitdir }: NewHistory, oids: readonly string[]) {
  for await (const { oid, content } of fresh.readAll(oids.filter((oid) => fresh.added.has(oid))))
    yield { oid, content };
  for (const oid of oids)
    if (!fresh.added.has(oid)) yield { oid, content: await objects.readBytes(gitdir, oid, 'tree') };
}

/** What a version says with all files of its tree, of which each tip of a push of parameters may have the same. */
async function readWhole(
  { kind, gitdir }: ContentSite,
  versions: VersionObjects,
  { plan: { tag }, commit }: Omit<JudgedPush, 'content'>,
): Promise<VersionContent> {
  const isTag = tag !== null && kind === 'configurations';
  const ref = { series: '', status: isTag ? 'Published' : 'Draft', oid: isTag ? tag : commit } as const;
  const read = await versions.read(gitdir, KINDS.configurations, ref);
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
