/**
 * All refs of a repository as they lie on the disk at one moment. Only what changed since the last snapshot
 * is read again, so the thousandth tag costs no more than the first.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { AtomicFs } from './atomic-fs.ts';
import { missingRepository, unlessAbsent } from './disk-errors.ts';
import { parsePackedRefs } from './packed-refs.ts';
import { readLoose, readPacked } from './refs.ts';

const PACKED_REFS = 'packed-refs';
/** Looked at even while they are absent; a folder below them shows in the one that holds it. */
const ROOTS = ['refs/heads', 'refs/tags'];

/** Disks keep times in steps: a second change within the same step would leave the stamp as it was. */
const SETTLE = 100;

/** By what a later change of a file or folder shows. */
export interface Stamp {
  text: string;
  /** Whether the last change was long enough past that a later one must show in the text. */
  settled: boolean;
}

interface LooseRef {
  oid: string;
  stamp: Stamp;
}

/** A folder of loose refs: every move of one is a file renamed into it, which its stamp shows. */
interface RefFolder {
  /** Null: there is no such folder. */
  stamp: Stamp | null;
  /** The full names of what it held, refs and folders apart. */
  refs: readonly string[];
  folders: readonly string[];
}

interface PackedFile {
  /** Null: there is no such file. */
  stamp: Stamp | null;
  /** Of its bytes: thousands of lines are not taken apart twice. */
  digest: string;
  refs: ReadonlyMap<string, string>;
}

export interface RefSnapshot {
  /** By path inside the repository. */
  folders: ReadonlyMap<string, RefFolder>;
  /** By full name; these go before the packed ones. */
  loose: ReadonlyMap<string, LooseRef>;
  packed: PackedFile;
}

interface Reading {
  fs: AtomicFs;
  gitdir: string;
  known: RefSnapshot | undefined;
  folders: Map<string, RefFolder>;
  found: Map<string, LooseRef>;
}

/** Whether nothing that a move of a ref touches has changed: a system call for each folder, and no promise. */
export function isCurrent(fs: AtomicFs, gitdir: string, { folders, packed }: RefSnapshot): boolean {
  if (!isSame(packed.stamp, stampOf(fs, `${gitdir}/${PACKED_REFS}`))) return false;
  for (const [path, { stamp }] of folders) {
    if (!isSame(stamp, stampOf(fs, `${gitdir}/${path}`))) return false;
  }
  return true;
}

/** Every ref under refs/heads and refs/tags; `previous` saves reading what is as it was. */
export async function readSnapshot(
  fs: AtomicFs,
  gitdir: string,
  previous: RefSnapshot | undefined,
): Promise<RefSnapshot> {
  const [folders, found] = [new Map<string, RefFolder>(), new Map<string, LooseRef>()];
  const reading = { fs, gitdir, known: previous, folders, found };
  // For the new names in it, such as that of packed-refs.
  if (!previous) await fs.settleFolder(gitdir);
  // Loose before packed: packing writes packed-refs first and removes the loose files after, so in this
  // order a ref on its way from one to the other is seen in at least one of them.
  for (const root of ROOTS) await readFolder(reading, root);
  const packed = readPackedFile(fs, gitdir, previous?.packed);
  if (found.size + packed.refs.size === 0 && !fs.lstatNow(join(gitdir, 'refs'))) throw missingRepository();
  return { folders, loose: found, packed };
}

export function oidOf(snapshot: RefSnapshot, name: string): string | null {
  return snapshot.loose.get(name)?.oid ?? snapshot.packed.refs.get(name) ?? null;
}

/** The full names of the refs that came, went or moved between two snapshots. */
export function changedRefs(before: RefSnapshot | undefined, after: RefSnapshot): Set<string> {
  const changed = new Set<string>();
  const look = (names: Iterable<string>) => {
    for (const name of names) {
      if (!before || oidOf(before, name) !== oidOf(after, name)) changed.add(name);
    }
  };
  look(after.loose.keys());
  if (before) look(before.loose.keys());
  const [old, now] = [before?.packed.refs, after.packed.refs];
  if (old === now) return changed;
  // Of what is packed alike only the loose file can have moved, and that has been looked at.
  for (const [name, oid] of now) if (old?.get(name) !== oid) look([name]);
  for (const name of old?.keys() ?? []) if (!now.has(name)) look([name]);
  return changed;
}

function stampOf(fs: AtomicFs, path: string): Stamp | null {
  const stats = fs.lstatNow(path);
  if (!stats) return null;
  const { mtimeNs, ctimeNs, mtimeMs, ctimeMs, ino, size } = stats;
  // Compared with the times of files, so the machine's clock and not one that tests may hold.
  const age = Date.now() - Math.max(Number(mtimeMs), Number(ctimeMs));
  return { text: `${mtimeNs}.${ctimeNs}.${ino}.${size}`, settled: age > SETTLE };
}

function isSame(before: Stamp | null | undefined, now: Stamp | null): boolean {
  if (!before || !now) return before === now;
  return before.settled && before.text === now.text;
}

/** The stamp is taken before the refs are read: a change meanwhile must show as a difference later. */
async function readFolder(reading: Reading, path: string): Promise<void> {
  const { fs, gitdir, known, folders, found } = reading;
  const stamp = stampOf(fs, join(gitdir, path));
  let folder = known?.folders.get(path);
  if (folder && isSame(folder.stamp, stamp)) {
    for (const name of folder.refs) {
      const ref = known?.loose.get(name);
      if (ref) found.set(name, ref);
    }
  } else {
    if (!known) await fs.settleFolder(join(gitdir, path));
    folder = await listFolder(reading, path, stamp);
    for (const name of folder.refs) readFile(reading, name);
  }
  folders.set(path, folder);
  await Promise.all(folder.folders.map((inner) => readFolder(reading, inner)));
}

async function listFolder({ fs, gitdir }: Reading, path: string, stamp: Stamp | null): Promise<RefFolder> {
  const refs: string[] = [];
  const folders: string[] = [];
  for (const entry of await unlessAbsent(fs.readdir(join(gitdir, path)), [])) {
    if (entry.name.startsWith('.') || entry.name.endsWith('.lock')) continue;
    (entry.isDirectory() ? folders : refs).push(`${path}/${entry.name}`);
  }
  return { stamp, refs, folders };
}

function readFile({ fs, gitdir, known, found }: Reading, name: string): void {
  const stamp = stampOf(fs, join(gitdir, name));
  // Packed or removed since the folder was listed.
  if (stamp === null) return;
  const before = known?.loose.get(name);
  if (before && isSame(before.stamp, stamp)) {
    found.set(name, before);
    return;
  }
  const oid = readLoose(fs, gitdir, name);
  if (oid !== null) found.set(name, { oid, stamp });
}

function readPackedFile(fs: AtomicFs, gitdir: string, previous: PackedFile | undefined): PackedFile {
  const stamp = stampOf(fs, join(gitdir, PACKED_REFS));
  if (previous && isSame(previous.stamp, stamp)) return previous;
  const data = readPacked(fs, gitdir);
  const digest = createHash('sha1').update(data).digest('hex');
  // Looked at again so soon after a change that its time cannot tell: most often it is as it was.
  const refs = previous?.digest === digest ? previous.refs : parsePackedRefs(data.toString('utf8'));
  return { stamp, digest, refs };
}
