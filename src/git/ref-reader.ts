/**
 * The only reader of refs. A loose ref, a file of its own, goes before the line of the same name in `packed-refs`. Loose
 * refs are always read first: packing writes packed-refs and removes the loose files after that, so a ref on its way from
 * one to the other is seen in at least one of them.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { AtomicFs } from './atomic-fs.ts';
import { errnoOf, missingRepository } from './disk-errors.ts';

export const MAIN = 'refs/heads/main';

/** The value given for a ref whose file is broken: the ref exists, and reading the object that it names fails loudly. */
export const BROKEN_OID = '0'.repeat(40);

const PACKED_REFS = 'packed-refs';
const PACKED_LINE = /^([0-9a-f]{40}) (refs\/.+)$/;
/**
 * The folders of a snapshot, looked at even while they are absent, in this order. A rollout is written before the tag of its
 * version, and so is the record of a push. They are read after it, so that nobody sees the version without them.
 */
const SNAPSHOT_FOLDERS = ['refs/heads', 'refs/tags', 'refs/heads/rollout', 'refs/pushed'];

/** Milliseconds. Disks keep times in steps: a second change within the same step leaves the stamp as it was. */
const TIMESTAMP_STEP = 100;

export interface RefValue {
  name: string;
  oid: string;
}

/** Tells whether a file or folder has changed since it was looked at. */
interface Stamp {
  text: string;
  /** Epoch milliseconds by the machine's clock. */
  changedAt: number;
  /** Whether the last change was so recent that a later one may leave the text as it is. */
  isRacy: boolean;
}

interface LooseRef {
  oid: string;
  stamp: Stamp;
}

/** A folder of loose refs. Every move of a ref renames a file into its folder, so the folder's stamp shows it. */
interface RefFolder {
  /** Null when there is no such folder. */
  stamp: Stamp | null;
  /** The full names of the refs in it. */
  refs: readonly string[];
  /** The paths of the folders in it. */
  folders: readonly string[];
}

interface PackedFile {
  /** Null when there is no such file. */
  stamp: Stamp | null;
  /** The hash of the file's bytes, so that thousands of unchanged lines are not parsed twice. */
  digest: string;
  refs: ReadonlyMap<string, string>;
}

/** The refs of a repository on the disk at one moment. */
export interface RefSnapshot {
  /** The key is the path of the folder inside the repository. */
  folders: ReadonlyMap<string, RefFolder>;
  /** The key is the full name. A loose ref hides the packed one of the same name. */
  loose: ReadonlyMap<string, LooseRef>;
  packed: PackedFile;
}

/** The full names of the refs of a repository that are files of their own. */
export function listLooseRefs(fs: AtomicFs, gitdir: string, folder = 'refs'): string[] {
  return fs.readdirNow(join(gitdir, folder)).flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    return entry.isDirectory() ? listLooseRefs(fs, gitdir, name) : [name];
  });
}

/** A snapshot of refs that do not lie in a folder. */
export function snapshotOf(refs: ReadonlyMap<string, string>): RefSnapshot {
  return { folders: new Map(), loose: new Map(), packed: { stamp: null, digest: '', refs } };
}

/** The oid of one ref; null when the ref does not exist. */
export function readRef(fs: AtomicFs, gitdir: string, name: string): string | null {
  return readLooseRef(fs, gitdir, name) ?? findPackedRef(readPackedRefs(fs, gitdir), name);
}

/** The oid in a loose ref's file; null when there is no file, or it is a folder or a symbolic ref. */
export function readLooseRef(fs: AtomicFs, gitdir: string, name: string): string | null {
  try {
    const text = fs.readNow(join(gitdir, name))?.toString('latin1').trim();
    if (text === undefined || text.startsWith('ref:')) return null;
    return /^[0-9a-f]{40}$/.test(text) ? text : BROKEN_OID;
  } catch (error) {
    if (errnoOf(error) === 'EISDIR') return null;
    throw error;
  }
}

/** The file that was read last. A publish needs it several times, and with thousands of versions it is large. */
const lastPacked = new WeakMap<AtomicFs, { path: string; stamp: Stamp | null; data: Buffer }>();

/** The bytes of `packed-refs`; none when the file is absent. */
export function readPackedRefs(fs: AtomicFs, gitdir: string): Buffer {
  const path = join(gitdir, PACKED_REFS);
  // Taken before the file is read, so that a change meanwhile shows as a difference at the next look.
  const stamp = stampOf(fs, path);
  const last = lastPacked.get(fs);
  if (stamp && last?.path === path && isUnchanged(last.stamp, stamp)) return last.data;
  const data = fs.readNow(path) ?? Buffer.alloc(0);
  lastPacked.set(fs, { path, stamp, data });
  return data;
}

/** The oid of one packed ref, found without parsing or decoding the whole file; null when it is not in the file. */
export function findPackedRef(file: Buffer, name: string): string | null {
  const at = file.indexOf(` ${name}\n`);
  return at < 40 ? null : file.toString('latin1', at - 40, at);
}

/** The oids of `packed-refs` by full name. Other lines are ignored, such as those that tell what a tag leads to. */
export function parsePackedRefs(text: string): Map<string, string> {
  const refs = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, oid, name] = PACKED_LINE.exec(line) ?? [];
    if (oid !== undefined && name !== undefined) refs.set(name, oid);
  }
  return refs;
}

/**
 * All branches and tags. Only what has changed since `previous` is read again, so the thousandth tag costs no more than
 * the first.
 */
export async function readSnapshot(
  fs: AtomicFs,
  gitdir: string,
  previous: RefSnapshot | undefined,
): Promise<RefSnapshot> {
  const snapshot = await readFolders(fs, gitdir, SNAPSHOT_FOLDERS, previous);
  const { loose, packed } = snapshot;
  if (loose.size + packed.refs.size === 0 && !fs.lstatNow(join(gitdir, 'refs'))) throw missingRepository();
  return snapshot;
}

/**
 * The snapshot with one loose ref as it is on the disk now. The stamp of the ref's folder stays that of the earlier look, so
 * the next look still notices what else has changed in it.
 * @returns null when there is no such file any more, so that all refs must be read
 */
export function followRef(
  fs: AtomicFs,
  gitdir: string,
  known: RefSnapshot,
  name: string,
): RefSnapshot | null {
  const loose = new Map(known.loose);
  loose.delete(name);
  readLooseFile({ fs, gitdir, known, loose }, name);
  return loose.has(name) ? { ...known, loose } : null;
}

/** Whether nothing has changed that a move of a ref touches. This costs a system call for each folder, and no promise. */
export function isCurrent(fs: AtomicFs, gitdir: string, { folders, packed }: RefSnapshot): boolean {
  if (!isUnchanged(packed.stamp, stampOf(fs, `${gitdir}/${PACKED_REFS}`))) return false;
  for (const [path, { stamp }] of folders) {
    if (!isUnchanged(stamp, stampOf(fs, `${gitdir}/${path}`))) return false;
  }
  return true;
}

export function oidOf(snapshot: RefSnapshot, name: string): string | null {
  return snapshot.loose.get(name)?.oid ?? snapshot.packed.refs.get(name) ?? null;
}

/** The full names of the refs that came, went or moved between two snapshots. */
export function changedRefs(before: RefSnapshot | undefined, after: RefSnapshot): Set<string> {
  const changed = new Set<string>();
  const compare = (names: Iterable<string>) => {
    for (const name of names) {
      if (!before || oidOf(before, name) !== oidOf(after, name)) changed.add(name);
    }
  };
  compare(after.loose.keys());
  if (before) compare(before.loose.keys());
  const [old, now] = [before?.packed.refs, after.packed.refs];
  if (old === now) return changed;
  // A ref that is packed as before can only have moved as a loose one, which has been compared above.
  for (const [name, oid] of now) if (old?.get(name) !== oid) compare([name]);
  for (const name of old?.keys() ?? []) if (!now.has(name)) compare([name]);
  return changed;
}

interface Reading {
  fs: AtomicFs;
  gitdir: string;
  known: RefSnapshot | undefined;
  /** The folders to begin with, in their order. */
  paths: readonly string[];
  folders: Map<string, RefFolder>;
  loose: Map<string, LooseRef>;
}

/** The refs in some folders, of which only what has changed since `previous` is read again. */
export async function readFolders(
  fs: AtomicFs,
  gitdir: string,
  paths: readonly string[],
  known: RefSnapshot | undefined,
): Promise<RefSnapshot> {
  const [folders, loose] = [new Map<string, RefFolder>(), new Map<string, LooseRef>()];
  // packed-refs may have been renamed into the repository's own folder by a process that ended before it flushed that.
  if (!known) await fs.flushIfRecent(gitdir);
  for (const path of paths) await readFolder({ fs, gitdir, known, paths, folders, loose }, path);
  return { folders, loose, packed: readPackedFile(fs, gitdir, known?.packed) };
}

async function readFolder(reading: Reading, path: string): Promise<void> {
  const { fs, gitdir, known, paths, folders, loose } = reading;
  // Taken before the refs are read, so that a change meanwhile shows as a difference at the next look.
  const stamp = stampOf(fs, join(gitdir, path));
  let folder = known?.folders.get(path);
  if (folder && isUnchanged(folder.stamp, stamp)) {
    for (const name of folder.refs) {
      const ref = known?.loose.get(name);
      if (ref) loose.set(name, ref);
    }
  } else {
    if (!known) await fs.flushIfRecent(join(gitdir, path));
    folder = listFolder(reading, path, stamp);
    for (const name of folder.refs) readLooseFile(reading, name);
  }
  folders.set(path, folder);
  const inner = folder.folders.filter((each) => !paths.includes(each));
  await Promise.all(inner.map((each) => readFolder(reading, each)));
}

function listFolder({ fs, gitdir }: Reading, path: string, stamp: Stamp | null): RefFolder {
  const refs: string[] = [];
  const folders: string[] = [];
  for (const entry of fs.readdirNow(join(gitdir, path))) {
    if (entry.name.startsWith('.') || entry.name.endsWith('.lock')) continue;
    (entry.isDirectory() ? folders : refs).push(`${path}/${entry.name}`);
  }
  return { stamp, refs, folders };
}

function readLooseFile({ fs, gitdir, known, loose }: Omit<Reading, 'folders' | 'paths'>, name: string): void {
  const stamp = stampOf(fs, join(gitdir, name));
  // The ref may have been packed or removed since the folder was listed.
  if (stamp === null) return;
  const before = known?.loose.get(name);
  if (before && isUnchanged(before.stamp, stamp)) {
    loose.set(name, before);
    return;
  }
  const oid = readLooseRef(fs, gitdir, name);
  if (oid !== null) loose.set(name, { oid, stamp });
}

function readPackedFile(fs: AtomicFs, gitdir: string, previous: PackedFile | undefined): PackedFile {
  const stamp = stampOf(fs, join(gitdir, PACKED_REFS));
  if (previous && isUnchanged(previous.stamp, stamp)) return previous;
  const data = readPackedRefs(fs, gitdir);
  const digest = createHash('sha1').update(data).digest('hex');
  // A racy stamp makes it read again although its bytes are mostly as they were.
  const refs = previous?.digest === digest ? previous.refs : parsePackedRefs(data.toString('utf8'));
  return { stamp, digest, refs };
}

function stampOf(fs: AtomicFs, path: string): Stamp | null {
  const stats = fs.lstatNow(path);
  if (!stats) return null;
  const { mtimeNs, ctimeNs, mtimeMs, ctimeMs, ino, size } = stats;
  const changedAt = Math.max(Number(mtimeMs), Number(ctimeMs));
  // The times of files come from the machine's clock, and not from one that a test may hold.
  const isRacy = Date.now() - changedAt <= TIMESTAMP_STEP;
  return { text: `${mtimeNs}.${ctimeNs}.${ino}.${size}`, changedAt, isRacy };
}

function isUnchanged(before: Stamp | null, now: Stamp | null): boolean {
  if (!before || !now) return before === now;
  return !before.isRacy && before.text === now.text;
}
