/**
 * Refs, read and moved by our own code: isomorphic-git's are neither atomic nor compare-and-swap. Moves
 * follow git's lock protocol, so they are safe beside stock git at work in the same repository.
 */

import { join } from 'node:path';
import { Semaphore } from '../lib/keyed-mutex.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { errnoOf, missingRepository, unlessAbsent } from './disk-errors.ts';
import { type GitFolder, takeLock } from './lock-file.ts';
import { findPackedRef, parsePackedRefs, type RefValue, withoutPackedRef } from './packed-refs.ts';

export const MAIN = 'refs/heads/main';

/** Stands for a ref whose file is broken: it exists, and whoever reads what it names fails loudly. */
const BROKEN_OID = '0'.repeat(40);
const CONCURRENT_READS = 16;

/** Every ref under refs/heads and refs/tags by full name. */
export async function readRefs(fs: AtomicFs, gitdir: string): Promise<Map<string, RefValue>> {
  // Loose before packed: packing writes packed-refs first and removes the loose files after, so in this
  // order a ref on its way from one to the other is seen in at least one of them.
  const loose = new Map<string, RefValue>();
  const reads = new Semaphore(CONCURRENT_READS);
  await readLooseFolder(fs, reads, gitdir, 'refs/heads', loose);
  await readLooseFolder(fs, reads, gitdir, 'refs/tags', loose);
  const refs = parsePackedRefs(await readPacked(fs, gitdir));
  for (const [name, value] of loose) refs.set(name, value);
  if (refs.size === 0 && (await unlessAbsent(fs.lstat(join(gitdir, 'refs')), null)) === null) {
    throw missingRepository();
  }
  return refs;
}

/** The oid of one ref, null when it does not exist. */
export async function readRef(fs: AtomicFs, gitdir: string, name: string): Promise<string | null> {
  const loose = await readLoose(fs, gitdir, name);
  return loose ?? findPackedRef(await readPacked(fs, gitdir), name);
}

/** Moves a ref that still has the value `from` (null: does not exist) to `to`; false when it has another. */
export async function updateRef(
  folder: GitFolder,
  name: string,
  from: string | null,
  to: string,
): Promise<boolean> {
  const lock = await takeLock(folder, join(folder.gitdir, name));
  try {
    if ((await readRef(folder.fs, folder.gitdir, name)) !== from) return false;
    await lock.commit(`${to}\n`);
    return true;
  } finally {
    await lock.release();
  }
}

/** Removes a ref that still has the value `from`, loose and packed; false when it has another. */
export async function deleteRef(folder: GitFolder, name: string, from: string): Promise<boolean> {
  const { fs, gitdir } = folder;
  const lock = await takeLock(folder, join(gitdir, name));
  try {
    if ((await readRef(fs, gitdir, name)) !== from) return false;
    // Held until the loose file is gone too: a pack-refs in between would bring the ref back from it.
    const packedLock = await takeLock(folder, join(gitdir, 'packed-refs'));
    try {
      await dropPacked(fs, gitdir, name);
      await fs.unlink(join(gitdir, name));
    } finally {
      await packedLock.release();
    }
    return true;
  } finally {
    await lock.release();
  }
}

/** Under packed-refs.lock. Git writes the new text to this name too, so that the lock outlives the rename. */
async function dropPacked(fs: AtomicFs, gitdir: string, name: string): Promise<void> {
  const rest = withoutPackedRef(await readPacked(fs, gitdir), name);
  if (rest === null) return;
  const path = join(gitdir, 'packed-refs');
  try {
    await fs.writePlain(`${path}.new`, rest);
    await fs.rename(`${path}.new`, path);
  } catch (error) {
    // Left behind it would stop git, which makes this file exclusively.
    await fs.discard(`${path}.new`).catch(() => undefined);
    throw error;
  }
}

async function readPacked(fs: AtomicFs, gitdir: string): Promise<string> {
  const data = await unlessAbsent(fs.readFile(join(gitdir, 'packed-refs')), null);
  return data === null ? '' : data.toString('utf8');
}

/** The oid in a loose ref's file; null when there is none or it is a folder or a symbolic ref. */
async function readLoose(fs: AtomicFs, gitdir: string, name: string): Promise<string | null> {
  try {
    const data = await unlessAbsent(fs.readFile(join(gitdir, name)), null);
    const text = data === null ? 'ref:' : data.toString('latin1').trim();
    if (text.startsWith('ref:')) return null;
    return /^[0-9a-f]{40}$/.test(text) ? text : BROKEN_OID;
  } catch (error) {
    if (errnoOf(error) === 'EISDIR') return null;
    throw error;
  }
}

async function readLooseFolder(
  fs: AtomicFs,
  reads: Semaphore,
  gitdir: string,
  folder: string,
  into: Map<string, RefValue>,
): Promise<void> {
  const entries = await unlessAbsent(fs.readdir(join(gitdir, folder)), []);
  const visits = entries.map(async (entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.name.startsWith('.') || entry.name.endsWith('.lock')) return;
    if (entry.isDirectory()) return readLooseFolder(fs, reads, gitdir, name, into);
    const oid = await reads.run(() => readLoose(fs, gitdir, name));
    if (oid !== null) into.set(name, { oid, peeled: folder.startsWith('refs/tags') ? undefined : null });
  });
  await Promise.all(visits);
}
