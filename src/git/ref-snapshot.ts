/**
 * All refs of a repository as they lie on the disk at one moment. Only what changed since the last snapshot
 * is read again, so the thousandth tag costs no more than the first.
 */

import { join } from 'node:path';
import { Semaphore } from '../lib/keyed-mutex.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { missingRepository, unlessAbsent } from './disk-errors.ts';
import { parsePackedRefs } from './packed-refs.ts';
import { readLoose } from './refs.ts';

/** Every move of a ref changes one of these: a new file is renamed into the folder, or packed-refs replaced. */
const STAMPED = ['packed-refs', 'refs/heads', 'refs/heads/draft', 'refs/tags'];

/** Disks keep times in steps: a second change within the same step would leave the stamp as it was. */
const SETTLE = 100;
const CONCURRENT_READS = 16;

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

interface PackedFile {
  /** Null: there is no such file. */
  stamp: Stamp | null;
  refs: ReadonlyMap<string, string>;
}

export interface RefSnapshot {
  stamp: Stamp;
  /** By full name; these go before the packed ones. */
  loose: ReadonlyMap<string, LooseRef>;
  packed: PackedFile;
}

interface Reading {
  fs: AtomicFs;
  gitdir: string;
  reads: Semaphore;
  known: ReadonlyMap<string, LooseRef> | undefined;
  found: Map<string, LooseRef>;
}

/** The stamp of everything that a move of a ref touches: four system calls and no promise. */
export function takeStamp(fs: AtomicFs, gitdir: string): Stamp {
  const stamps = STAMPED.map((path) => stampOf(fs, `${gitdir}/${path}`));
  return {
    text: stamps.map((stamp) => stamp?.text ?? '-').join(' '),
    settled: stamps.every((stamp) => stamp?.settled ?? true),
  };
}

/** Every ref under refs/heads and refs/tags; `previous` saves reading what is as it was. */
export async function readSnapshot(
  fs: AtomicFs,
  gitdir: string,
  previous: RefSnapshot | undefined,
): Promise<RefSnapshot> {
  // Before the refs: a change while they are read must show as a difference later.
  const stamp = takeStamp(fs, gitdir);
  const found = new Map<string, LooseRef>();
  const reading = { fs, gitdir, reads: new Semaphore(CONCURRENT_READS), known: previous?.loose, found };
  // Loose before packed: packing writes packed-refs first and removes the loose files after, so in this
  // order a ref on its way from one to the other is seen in at least one of them.
  await readFolder(reading, 'refs/heads');
  await readFolder(reading, 'refs/tags');
  const packed = await readPackedFile(fs, gitdir, previous?.packed);
  if (found.size + packed.refs.size === 0 && !fs.lstatNow(join(gitdir, 'refs'))) throw missingRepository();
  return { stamp, loose: found, packed };
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
  if (before?.packed === after.packed) return changed;
  look(after.packed.refs.keys());
  if (before) look(before.packed.refs.keys());
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

async function readFolder(reading: Reading, folder: string): Promise<void> {
  const { fs, gitdir } = reading;
  const entries = await unlessAbsent(fs.readdir(join(gitdir, folder)), []);
  const visits = entries.map((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.name.startsWith('.') || entry.name.endsWith('.lock')) return undefined;
    return entry.isDirectory() ? readFolder(reading, name) : readFile(reading, name);
  });
  await Promise.all(visits);
}

function readFile({ fs, gitdir, reads, known, found }: Reading, name: string): Promise<void> | undefined {
  const stamp = stampOf(fs, join(gitdir, name));
  // Packed or removed since the folder was listed.
  if (stamp === null) return undefined;
  const before = known?.get(name);
  if (before && isSame(before.stamp, stamp)) {
    found.set(name, before);
    return undefined;
  }
  return reads.run(async () => {
    const oid = await readLoose(fs, gitdir, name);
    if (oid !== null) found.set(name, { oid, stamp });
  });
}

async function readPackedFile(
  fs: AtomicFs,
  gitdir: string,
  previous: PackedFile | undefined,
): Promise<PackedFile> {
  const path = join(gitdir, 'packed-refs');
  const stamp = stampOf(fs, path);
  if (previous && isSame(previous.stamp, stamp)) return previous;
  const data = await unlessAbsent(fs.readFile(path), null);
  return { stamp, refs: parsePackedRefs(data?.toString('utf8') ?? '') };
}
