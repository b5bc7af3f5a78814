/**
 * Looks at repositories from end to end and changes nothing: every ref, every object, and what unfinished work has left.
 * Whatever would write is refused before it reaches the disk.
 */

import { join } from 'node:path';
import type { GitReader } from '../db/git-tables.ts';
import { AtomicFs } from '../git/atomic-fs.ts';
import { DISK, type Disk } from '../git/disk.ts';
import { guardDisk, isCorruption, missingRepository, unlessAbsent } from '../git/disk-errors.ts';
import { FolderObjects } from '../git/folder-objects.ts';
import { readShallow } from '../git/history.ts';
import type { ObjectContent } from '../git/loose-objects.ts';
import { PackCaches } from '../git/object-caches.ts';
import { isMissingObject, ObjectStore } from '../git/objects.ts';
import { BROKEN_OID, listRefs } from '../git/ref-reader.ts';
import { gitdirOf } from '../git/repository-layout.ts';
import { decodeTree } from '../git/tree.ts';
import type { RepositoryRef } from '../git/types.ts';
import { HawserError } from '../lib/errors.ts';
import { createLog } from '../lib/log.ts';
import { refNameOf } from './kinds.ts';
import { GitStore } from './store.ts';

/** A fault of a repository, and the ref or file that has it. */
export interface Fault {
  where: string;
  what: string;
}

export interface Inspection {
  refs: number;
  /** The number of objects that the refs lead to. */
  objects: number;
  /** Faults that make a version, or the whole repository, unusable. */
  faults: readonly Fault[];
  /** Broken objects that no ref leads to. */
  unreachable: readonly Fault[];
  /** The tags and draft branches that are no versions, with the reasons. */
  ignoredRefs: readonly Fault[];
  leftOvers: readonly LeftOver[];
}

/** A lock or an unfinished file. Its program may be at work still, or may have ended without removing it. */
export interface LeftOver {
  /** The path inside the repository. */
  path: string;
  /** Epoch milliseconds. */
  modifiedAt: number;
}

const PACK_BYTES = 256 * 1024 * 1024;
/** The bytes that a store for reading may use for the index of one repository and its packs. */
const STORE_CACHE_BYTES = 64 * 1024 * 1024;
/** The names of unfinished files of git and of this server, in the folders of objects and packs. */
const UNFINISHED = /^(?:tmp_|\.tmp-)/;
const LOCK = /\.lock$|^packed-refs\.new$/;
const FOLDER_MODE = '40000';
/** The entry of a tree that names a commit of another repository, which need not be here. */
const SUBMODULE_MODE = '160000';

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
};

async function refuse(): Promise<never> {
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
  cacheBytes = STORE_CACHE_BYTES,
): GitStore {
  return new GitStore({
    root,
    log: createLog('silent'),
    cacheBytes,
    onRefsMoved: async () => undefined,
    fs: new AtomicFs(READ_ONLY),
    ...(reader && { shared: { reader, tables: null } }),
  });
}

/**
 * Inspects one repository.
 * @param root absolute path of the folder of all repositories
 * @throws HawserError `repository_missing`, `repository_io`
 */
export function inspectRepository(root: string, ref: RepositoryRef): Promise<Inspection> {
  return guardDisk(async () => {
    const fs = new AtomicFs(READ_ONLY);
    const gitdir = gitdirOf(root, ref);
    const objects = new ObjectStore(new FolderObjects(fs, new PackCaches(fs, PACK_BYTES)));
    const { refs } = await listRefs(fs, gitdir);
    const shallow = await readShallow(fs, gitdir);
    const { seen, faults } = await walkObjects({ objects, gitdir, shallow }, refs);
    return {
      refs: refs.size,
      objects: seen.size,
      faults: [...(await findLayoutFaults(fs, gitdir)), ...faults],
      unreachable: await inspectUnreachable(fs, objects, gitdir, seen),
      ignoredRefs: await listIgnoredRefs(root, ref, [...refs.keys()]),
      leftOvers: await listLeftOvers(fs, gitdir),
    };
  });
}

/**
 * The refs of a repository as they are now, packed ones too: object ids by full names.
 * @param root absolute path of the folder of all repositories
 * @throws HawserError `repository_missing`, `repository_io`
 */
export function readRefs(root: string, ref: RepositoryRef): Promise<ReadonlyMap<string, string>> {
  return guardDisk(async () => {
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

/** The tags and drafts that the server does not take for versions, with its reasons where it has one. */
async function listIgnoredRefs(root: string, ref: RepositoryRef, names: readonly string[]): Promise<Fault[]> {
  const store = readOnlyStore(root, null);
  try {
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
      .map((name) => ({ where: name, what: reasons.get(name) ?? 'it is no annotated tag of a version' }));
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

interface Link {
  oid: string;
  /** The type that the object must have; null for what a ref names, which may be anything. */
  type: string | null;
}

interface Walk {
  objects: ObjectStore;
  gitdir: string;
  /** The commits at which history ends. */
  shallow: ReadonlySet<string>;
}

/**
 * Walks from refs to every object that they lead to.
 * @returns the oids of all objects that were looked at, and what is missing, broken or of a wrong type
 */
async function walkObjects(
  walk: Walk,
  refs: ReadonlyMap<string, string>,
): Promise<{ seen: Set<string>; faults: Fault[] }> {
  const seen = new Set<string>();
  const faults: Fault[] = [];
  for (const [where, tip] of refs) {
    if (tip === BROKEN_OID) faults.push({ where, what: 'the ref holds no object id' });
    const next: Link[] = tip === BROKEN_OID ? [] : [{ oid: tip, type: null }];
    for (let link = next.pop(); link !== undefined; link = next.pop()) {
      if (seen.has(link.oid)) continue;
      seen.add(link.oid);
      const links = await visit(walk, link);
      if (typeof links === 'string') faults.push({ where, what: links });
      else next.push(...links);
    }
  }
  return { seen, faults };
}

/** The objects that an object leads to, or what is wrong with it. */
async function visit(walk: Walk, { oid, type }: Link): Promise<Link[] | string> {
  try {
    const object = await walk.objects.readProven(walk.gitdir, oid);
    if (type !== null && object.type !== type) return `${oid} is a ${object.type} where a ${type} must be`;
    return linksOf(oid, object, walk.shallow) ?? `the ${object.type} ${oid} is malformed`;
  } catch (error) {
    if (!(error instanceof HawserError)) throw error;
    return `the ${type ?? 'object'} ${oid} ${describeFailure(error)}`;
  }
}

/** The objects that an object leads to; null when it is malformed. @param shallow the commits at which history ends */
export function linksOf(
  oid: string,
  { type, content }: ObjectContent,
  shallow: ReadonlySet<string>,
): Link[] | null {
  if (type === 'tree') {
    const entries = decodeTree(content)?.filter(({ mode }) => mode !== SUBMODULE_MODE);
    return (
      entries?.map((entry) => ({ oid: entry.oid, type: entry.mode === FOLDER_MODE ? 'tree' : 'blob' })) ??
      null
    );
  }
  const header = type === 'blob' ? '' : (content.toString('latin1').split('\n\n', 1)[0] ?? '');
  if (type === 'tag') {
    const [, object, kind] = /^object ([0-9a-f]{40})\ntype (\w+)$/m.exec(header) ?? [];
    return object === undefined || kind === undefined ? null : [{ oid: object, type: kind }];
  }
  if (type !== 'commit') return [];
  const tree = /^tree ([0-9a-f]{40})$/m.exec(header)?.[1];
  if (tree === undefined) return null;
  const parents = shallow.has(oid) ? [] : header.matchAll(/^parent ([0-9a-f]{40})$/gm);
  const links = [...parents].map(([, parent = '']) => ({ oid: parent, type: 'commit' }));
  return [{ oid: tree, type: 'tree' }, ...links];
}

function describeFailure(error: HawserError): string {
  if (isMissingObject(error)) return 'is missing';
  if (isCorruption(error)) return 'is broken: its bytes are not what its id says';
  return `cannot be read: ${error.cause instanceof Error ? error.cause.message : error.message}`;
}
