/**
 * Single refs, read and moved by our own code: isomorphic-git's are neither atomic nor compare-and-swap. Moves
 * follow git's lock protocol, so they are safe beside stock git at work in the same repository.
 */

import { dirname, join } from 'node:path';
import { HawserError } from '../lib/errors.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { errnoOf } from './disk-errors.ts';
import { type GitFolder, type LockFile, takeLock } from './lock-file.ts';
import { findPackedRef, type PackedRef, withoutPackedRef, withPackedRefs } from './packed-refs.ts';

export const MAIN = 'refs/heads/main';

/** Stands for a ref whose file is broken: it exists, and whoever reads what it names fails loudly. */
export const BROKEN_OID = '0'.repeat(40);

/** Folders of refs that stay when they become empty; those below them come and go with their refs. */
const LASTING = ['refs/heads', 'refs/heads/draft', 'refs/tags'];

export interface RefValue {
  name: string;
  oid: string;
}

/** The oid of one ref, null when it does not exist. */
export function readRef(fs: AtomicFs, gitdir: string, name: string): string | null {
  return readLoose(fs, gitdir, name) ?? findPackedRef(readPacked(fs, gitdir), name);
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
    if (readRef(folder.fs, folder.gitdir, name) !== from) return false;
    await lock.commit(`${to}\n`);
    return true;
  } finally {
    await lock.release();
  }
}

/** Of a ref: its value before and after; null: it does not exist. */
export interface RefMove {
  name: string;
  from: string | null;
  to: string | null;
}

/** Makes, moves or removes a ref that still has the value `from`; false when it has another. */
export async function moveRef(folder: GitFolder, { name, from, to }: RefMove): Promise<boolean> {
  if (to !== null) return updateRef(folder, name, from, to);
  return from === null || deleteRef(folder, name, from);
}

/** Removes a ref that still has the value `from`, loose and packed; false when it has another. */
export function deleteRef(folder: GitFolder, name: string, from: string): Promise<boolean> {
  return deleteRefs(folder, [{ name, oid: from }]);
}

/** Removes refs that all still have these values, loose and packed; false, and none removed, when one has another. */
export async function deleteRefs(folder: GitFolder, refs: readonly RefValue[]): Promise<boolean> {
  const { fs, gitdir } = folder;
  const locks: LockFile[] = [];
  try {
    for (const { name } of refs) locks.push(await takeLock(folder, join(gitdir, name)));
    if (!allHold(folder, refs)) return false;
    // Held until the loose files are gone too: a pack-refs in between would bring the refs back from them.
    const packedLock = await takeLock(folder, join(gitdir, 'packed-refs'));
    try {
      await dropPacked(fs, gitdir, refs);
      for (const { name } of refs) await fs.unlink(join(gitdir, name));
    } finally {
      await packedLock.release();
    }
    return true;
  } finally {
    for (const lock of locks) await lock.release();
    for (const { name } of refs) await dropEmptyFolders(folder, name);
  }
}

function allHold({ fs, gitdir }: GitFolder, refs: readonly RefValue[]): boolean {
  const packed = readPacked(fs, gitdir);
  for (const { name, oid } of refs) {
    if ((readLoose(fs, gitdir, name) ?? findPackedRef(packed, name)) !== oid) return false;
  }
  return true;
}

/**
 * Brings loose refs into `packed-refs`, as `git pack-refs` does. Thousands of small files make every program
 * slow that lists refs, us among them. Refs that have moved meanwhile stay as they are.
 */
export async function packRefs(folder: GitFolder, refs: readonly PackedRef[]): Promise<void> {
  const { fs, gitdir } = folder;
  const lock = await takeLock(folder, join(gitdir, 'packed-refs'));
  const packed: PackedRef[] = [];
  try {
    for (const ref of refs) {
      // Looked at under the lock: whoever removes a ref holds it too, until the loose file is gone.
      if (readLoose(fs, gitdir, ref.name) === ref.oid) packed.push(ref);
    }
    const text = withPackedRefs(readPacked(fs, gitdir).toString('utf8'), packed);
    if (text === null) return;
    await replacePacked(fs, gitdir, text);
  } finally {
    await lock.release();
  }
  for (const ref of packed) await dropLoose(folder, ref);
}

/** Not flushed: a loose file that a power cut brings back says what the packed one says. */
async function dropLoose(folder: GitFolder, { name, oid }: PackedRef): Promise<void> {
  const path = join(folder.gitdir, name);
  try {
    const lock = await takeLock(folder, path);
    try {
      if (readLoose(folder.fs, folder.gitdir, name) === oid) await folder.fs.discardFile(path);
    } finally {
      await lock.release();
    }
    await dropEmptyFolders(folder, name);
  } catch (error) {
    // Somebody is at work on this ref: it stays loose.
    if (!(error instanceof HawserError) || error.code !== 'repository_locked') throw error;
  }
}

/** As git does, so that the folders to be looked at are no more than the refs. A failure leaves an empty folder. */
async function dropEmptyFolders({ fs, gitdir }: GitFolder, name: string): Promise<void> {
  for (let path = dirname(name); !LASTING.includes(path) && path.includes('/'); path = dirname(path)) {
    if (!(await fs.discardEmptyFolder(join(gitdir, path)).catch(() => false))) return;
  }
}

/** Under packed-refs.lock. */
async function dropPacked(fs: AtomicFs, gitdir: string, refs: readonly RefValue[]): Promise<void> {
  const file = readPacked(fs, gitdir);
  const packed = refs.filter(({ name }) => findPackedRef(file, name) !== null);
  if (packed.length === 0) return;
  const rest = packed.reduce((text, { name }) => withoutPackedRef(text, name) ?? text, file.toString('utf8'));
  await replacePacked(fs, gitdir, rest);
}

/** Under packed-refs.lock. Git writes the new text to this name too, so that the lock outlives the rename. */
async function replacePacked(fs: AtomicFs, gitdir: string, text: string): Promise<void> {
  const path = join(gitdir, 'packed-refs');
  try {
    await fs.writePlain(`${path}.new`, text);
    await fs.rename(`${path}.new`, path);
  } catch (error) {
    // Left behind it would stop git, which makes this file exclusively.
    await fs.discardFile(`${path}.new`).catch(() => undefined);
    throw error;
  }
}

/** The text of `packed-refs`; empty when there is none. */
export function readPacked(fs: AtomicFs, gitdir: string): Buffer {
  return fs.readNow(join(gitdir, 'packed-refs')) ?? Buffer.alloc(0);
}

/** The oid in a loose ref's file; null when there is none or it is a folder or a symbolic ref. */
export function readLoose(fs: AtomicFs, gitdir: string, name: string): string | null {
  try {
    const data = fs.readNow(join(gitdir, name));
    const text = data === null ? 'ref:' : data.toString('latin1').trim();
    if (text.startsWith('ref:')) return null;
    return /^[0-9a-f]{40}$/.test(text) ? text : BROKEN_OID;
  } catch (error) {
    if (errnoOf(error) === 'EISDIR') return null;
    throw error;
  }
}
