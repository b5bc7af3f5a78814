/**
 * Looks at repositories from end to end and changes nothing: every ref, every object, and what unfinished work has left.
 * Whatever would write is refused before it reaches the disk.
 */

import { join } from 'node:path';
import type { GitReader } from '../db/git-tables.ts';
import { AtomicFs } from '../git/atomic-fs.ts';
import { DISK, type Disk } from '../git/disk.ts';
import { guardDisk, missingRepository, unlessAbsent } from '../git/disk-errors.ts';
import { FolderObjects } from '../git/folder-objects.ts';
import { readShallow } from '../git/history.ts';
import { PackCaches } from '../git/object-caches.ts';
import { isMissingObject, ObjectStore } from '../git/objects.ts';
import { listRefs } from '../git/ref-list.ts';
import { gitdirOf } from '../git/repository-layout.ts';
import { holdsVersions, type StoredRef } from '../git/types.ts';
import { HawserError } from '../lib/errors.ts';
import { createLog } from '../lib/log.ts';
import { refNameOf } from './kinds.ts';
import {
  describeBroken,
  describeFailure,
  type Fault,
  follow,
  type Inspection,
  type LeftOver,
  walkObjects,
} from './object-walk.ts';
import { GitStore } from './store.ts';
import type { GitStoreOptions } from './types.ts';

const PACK_BYTES = 256 * 1024 * 1024;
/** The bytes that a store for reading may use for the index of one repository and its packs. */
const STORE_CACHE_BYTES = 64 * 1024 * 1024;
/** No folder has this name. */
const NO_CACHE = '.no-cache';
/** Why a tag is passed over that nobody meant as a version. */
export const NOT_MEANT = 'it is no annotated tag of a version';
/** The names of unfinished files of git and of this server, in the folders of objects and packs. */
const UNFINISHED = /^(?:tmp_|\.tmp-)/;
const LOCK = /\.lock$|^packed-refs\.(?:new|hawser)$/;
/** Flushing is allowed: it changes nothing, and lets what was read outlast a power cut. */
const READ_ONLY: Disk = {
  async open(path, flags) {
    if (flags !== 'r') return refuse();
    const file = await DISK.open(path, flags);
    return { writeFile: refuse, utimes: refuse, sync: () => file.sync(), close: () => file.close() };
  },
  appendFile: refuse,
  rename: refuse,
  unlink: refuse,
  rm: refuse,
  mkdir: refuse,
  rmdir: refuse,
  link: refuse,
  renameNow: refuseNow,
  unlinkNow: refuseNow,
  flushFolderNow: DISK.flushFolderNow,
};

async function refuse(): Promise<never> {
  refuseNow();
}

function refuseNow(): never {
  throw Object.assign(new Error('EROFS: nothing is written here'), { code: 'EROFS', syscall: 'write' });
}

/**
 * A store for reading. It must not be opened, which would make folders and sweep. Where the index would tidy or remember
 * something on the disk, it fails silently, as it may on any full disk.
 * @param reader reads repositories in PostgreSQL, of which the folder is a cache; null where they are in the folder
 */
export function readOnlyStore(
  root: string,
  reader: GitReader | null,
  { cacheBytes = STORE_CACHE_BYTES, admit }: Partial<Pick<GitStoreOptions, 'cacheBytes' | 'admit'>> = {},
): GitStore {
  return new GitStore({
    root,
    log: createLog('silent'),
    cacheBytes,
    onRefsMoved: async () => undefined,
    admit,
    fs: new AtomicFs(READ_ONLY),
    ...(reader && { shared: { reader, tables: null } }),
  });
}

/**
 * A store for reading that believes no cache, so that what it gives is in PostgreSQL if the repositories are there.
 * @param reader as for `readOnlyStore`
 */
export function inspectingStore(root: string, reader: GitReader | null): GitStore {
  return readOnlyStore(reader === null ? root : join(root, NO_CACHE), reader);
}

/**
 * Inspects one repository in the folder of all repositories.
 * @param root absolute path of the folder of all repositories
 * @throws HawserError `repository_missing`, `repository_io`
 */
export function inspectRepository(root: string, ref: StoredRef): Promise<Inspection> {
  return guardDisk(async () => {
    const fs = new AtomicFs(READ_ONLY);
    const gitdir = gitdirOf(root, ref);
    const objects = new ObjectStore(new FolderObjects(fs, new PackCaches(fs, PACK_BYTES)));
    const { refs } = await listRefs(fs, gitdir);
    const shallow = await readShallow(fs, gitdir);
    const { seen, faults } = await walkObjects(refs, async (link) => {
      try {
        return follow(link, await objects.readProven(gitdir, link.oid), shallow);
      } catch (error) {
        if (!(error instanceof HawserError)) throw error;
        return describeBroken(link, describeFailure(error));
      }
    });
    return {
      refs: refs.size,
      objects: seen.size,
      faults: [...(await findLayoutFaults(fs, gitdir)), ...faults],
      unreachable: await inspectUnreachable(fs, objects, gitdir, seen),
      ignoredRefs: await listIgnoredRefs(readOnlyStore(root, null), ref, [...refs.keys()]),
      leftOvers: await listLeftOvers(fs, gitdir),
      strayRefs: [],
    };
  });
}

/**
 * The refs of a repository as they are now, packed ones too: object ids by full names.
 * @param root absolute path of the folder of all repositories
 * @param reader reads repositories in PostgreSQL; null where they are in the folder
 * @throws HawserError `repository_missing`, `repository_io`
 */
export function readRefs(
  root: string,
  reader: GitReader | null,
  ref: StoredRef,
): Promise<ReadonlyMap<string, string>> {
  return guardDisk(async () => {
    if (reader !== null) {
      const stored = await reader.refs(ref);
      if (stored === undefined) throw missingRepository();
      return stored.refs;
    }
    const fs = new AtomicFs(READ_ONLY);
    const gitdir = gitdirOf(root, ref);
    if ((await unlessAbsent(fs.lstat(gitdir), null)) === null) throw missingRepository();
    return (await listRefs(fs, gitdir)).refs;
  });
}

async function* filesBelow(fs: AtomicFs, gitdir: string, folder: string): AsyncGenerator<string> {
  for (const entry of await unlessAbsent(fs.readdir(join(gitdir, folder)), [])) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(fs, gitdir, path);
    else yield path;
  }
}

/** Checks the files by which git tells that a folder is a repository. */
async function findLayoutFaults(fs: AtomicFs, gitdir: string): Promise<Fault[]> {
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

/** Reads the loose objects that no ref leads to. A broken one makes `git gc` fail. */
async function inspectUnreachable(
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
      // An object that is missing now has been packed or removed since the folder was listed.
      if (!(error instanceof HawserError)) throw error;
      if (!isMissingObject(error)) faults.push({ where: path, what: 'the object is broken' });
    }
  }
  return faults;
}

/**
 * The tags and drafts that the server does not take for versions, with its reasons where it has one.
 * @param store is closed in the end
 */
export async function listIgnoredRefs(
  store: GitStore,
  ref: StoredRef,
  names: readonly string[],
): Promise<Fault[]> {
  try {
    if (!holdsVersions(ref)) return [];
    const counted = new Set<string>();
    const index = await store.index(ref);
    for (const series of index.series) {
      for (const { name, version, withdrawn } of index.of(series).versions) {
        counted.add(name);
        if (withdrawn) counted.add(refNameOf({ series, version, status: 'Withdrawn' }));
      }
    }
    const reasons = new Map(store.problems().map((problem) => [problem.ref, problem.reason]));
    return names
      .filter((name) => !counted.has(name) && (name.startsWith('refs/tags/') || reasons.has(name)))
      .map((name) => ({ where: name, what: reasons.get(name) ?? NOT_MEANT }));
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
