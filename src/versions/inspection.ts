/** A look at a repository from end to end: every ref, every object, and what was left lying. Changes nothing. */

import { join } from 'node:path';
import type { AtomicFs } from '../git/atomic-fs.ts';
import { guardDisk, unlessAbsent } from '../git/disk-errors.ts';
import { type Fault, ObjectWalk } from '../git/object-walk.ts';
import { isMissingObject, ObjectStore } from '../git/objects.ts';
import { PackCaches } from '../git/pack-cache.ts';
import { parsePackedRefs } from '../git/packed-refs.ts';
import { ReadOnlyFs } from '../git/read-only.ts';
import { type RefValue, readLoose, readPacked } from '../git/refs.ts';
import { gitdirOf } from '../git/repository-layout.ts';
import { readShallow } from '../git/shallow.ts';
import type { RepositoryRef } from '../git/types.ts';
import { HawserError } from '../lib/errors.ts';
import { createLog } from '../lib/log.ts';
import { GitStore } from './store.ts';

export type { Fault } from '../git/object-walk.ts';

export interface Inspection {
  refs: number;
  /** How many the refs lead to. */
  objects: number;
  /** What makes a version, or the whole repository, unusable. */
  faults: readonly Fault[];
  /** Broken objects that no ref leads to. */
  rubble: readonly Fault[];
  /** Tags and draft branches that are no versions, and why. */
  passedOver: readonly Fault[];
  leftOvers: readonly LeftOver[];
}

/** A lock or an unfinished file; of somebody at work, or of somebody who ended before the work. */
export interface LeftOver {
  /** Inside the repository. */
  path: string;
  /** Epoch milliseconds. */
  modifiedAt: number;
}

const PACK_BYTES = 256 * 1024 * 1024;
/** Memory for the index of one repository, and for the packs from which it is read. */
const STORE_CACHE_BYTES = 64 * 1024 * 1024;
/** Of git's own and ours, in the folders of objects and packs. */
const UNFINISHED = /^(?:tmp_|\.tmp-)/;
const LOCK = /\.lock$|^packed-refs\.new$/;

/**
 * @param root absolute path of the folder of all repositories
 * @throws HawserError `repository_missing`, `repository_io`
 */
export function inspectRepository(root: string, ref: RepositoryRef): Promise<Inspection> {
  return guardDisk(async () => {
    const fs = new ReadOnlyFs();
    const gitdir = gitdirOf(root, ref);
    const objects = new ObjectStore(fs, new PackCaches(fs, PACK_BYTES));
    const refs = await listRefs(fs, gitdir);
    const walk = new ObjectWalk(objects, gitdir, await readShallow(fs, gitdir));
    for (const each of refs) await walk.from(each);
    const reached = walk.seen.size;
    const rubble = await lookAtTheRest(fs, objects, gitdir, walk.seen);
    return {
      refs: refs.length,
      objects: reached,
      faults: [...(await faultsOfFrame(fs, gitdir)), ...walk.faults],
      rubble,
      passedOver: await listPassedOver(root, ref, refs),
      leftOvers: await listLeftOvers(fs, gitdir),
    };
  });
}

/** Loose before packed: a ref that is being packed is then seen in at least one of them. */
async function listRefs(fs: AtomicFs, gitdir: string): Promise<RefValue[]> {
  const refs = new Map<string, string>();
  for await (const path of filesBelow(fs, gitdir, 'refs')) {
    const isRef = !LOCK.test(path) && !path.includes('/.');
    const oid = isRef ? readLoose(fs, gitdir, path) : null;
    if (oid !== null) refs.set(path, oid);
  }
  for (const [name, oid] of parsePackedRefs(readPacked(fs, gitdir).toString('utf8'))) {
    if (!refs.has(name)) refs.set(name, oid);
  }
  return [...refs].map(([name, oid]) => ({ name, oid }));
}

async function* filesBelow(fs: AtomicFs, gitdir: string, folder: string): AsyncGenerator<string> {
  for (const entry of await unlessAbsent(fs.readdir(join(gitdir, folder)), [])) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(fs, gitdir, path);
    else yield path;
  }
}

/** What git looks at to tell whether the folder is a repository at all. */
async function faultsOfFrame(fs: AtomicFs, gitdir: string): Promise<Fault[]> {
  const faults: Fault[] = [];
  const head = await unlessAbsent(fs.readFile(join(gitdir, 'HEAD')), null);
  if (!/^(?:ref: refs\/\S+|[0-9a-f]{40})\s*$/.test(head?.toString('latin1') ?? ''))
    faults.push({ where: 'HEAD', what: 'the file is missing or broken' });
  for (const name of ['config', 'objects', 'refs']) {
    if ((await unlessAbsent(fs.lstat(join(gitdir, name)), null)) === null)
      faults.push({ where: name, what: 'it is missing' });
  }
  return faults;
}

/** Loose objects that no ref leads to: one that was cut short stands in the way of git's own housekeeping. */
async function lookAtTheRest(
  fs: AtomicFs,
  objects: ObjectStore,
  gitdir: string,
  seen: ReadonlySet<string>,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  for await (const path of filesBelow(fs, gitdir, 'objects')) {
    const [, first, rest] = /^objects\/([0-9a-f]{2})\/([0-9a-f]{38})$/.exec(path) ?? [];
    const oid = `${first}${rest}`;
    if (first === undefined || seen.has(oid)) continue;
    try {
      await objects.readProven(gitdir, oid);
    } catch (error) {
      // One that is missing has been packed or dropped since the folder was listed.
      if (!(error instanceof HawserError)) throw error;
      if (!isMissingObject(error)) faults.push({ where: path, what: 'the object is broken' });
    }
  }
  return faults;
}

/** As the server reads the versions; its reasons for those that look like one, and silence about other tags. */
async function listPassedOver(root: string, ref: RepositoryRef, refs: readonly RefValue[]): Promise<Fault[]> {
  const store = readOnlyStore(root);
  try {
    const counted = new Set<string>();
    const index = await store.index(ref);
    for (const series of index.series) for (const { name } of index.of(series).versions) counted.add(name);
    const reasons = new Map(store.problems().map((problem) => [problem.ref, problem.reason]));
    return refs
      .filter(({ name }) => !counted.has(name) && (name.startsWith('refs/tags/') || reasons.has(name)))
      .map(({ name }) => ({ where: name, what: reasons.get(name) ?? 'it is no annotated tag of a version' }));
  } finally {
    await store.close();
  }
}

async function listLeftOvers(fs: AtomicFs, gitdir: string): Promise<LeftOver[]> {
  const found: LeftOver[] = [];
  const take = async (path: string) => {
    const stats = await unlessAbsent(fs.lstat(join(gitdir, path)), null);
    if (stats) found.push({ path, modifiedAt: stats.mtimeMs });
  };
  for (const { name } of await fs.readdir(gitdir)) if (LOCK.test(name)) await take(name);
  for await (const path of filesBelow(fs, gitdir, 'refs')) if (LOCK.test(path)) await take(path);
  for await (const path of filesBelow(fs, gitdir, 'objects')) {
    if (UNFINISHED.test(path.slice(path.lastIndexOf('/') + 1))) await take(path);
  }
  return found;
}

/**
 * A store for reading, which must not be opened: that would make folders. What a reader would have tidied or remembered
 * on the disk fails without a word, as it may on any full disk.
 */
export function readOnlyStore(root: string): GitStore {
  return new GitStore({
    root,
    log: createLog('silent'),
    cacheBytes: STORE_CACHE_BYTES,
    onRefsMoved: async () => undefined,
    fs: new ReadOnlyFs(),
  });
}
