/**
 * Git's own lock protocol: `<file>.lock` is made exclusively, and becomes the file by a rename. So no update is lost while
 * `git gc`, `git pack-refs` or `git push` runs.
 */

import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HawserError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { AtomicFs } from './atomic-fs.ts';
import type { DiskFile } from './disk.ts';
import { errnoOf, missingRepository, unlessAbsent } from './disk-errors.ts';

/** Milliseconds until it is checked whether an ended process has left the lock. */
const STALE_PATIENCE = 1_000;
/** Milliseconds until the wait ends with an error. Stock git in a loop can hold a lock again and again. */
const PATIENCE = 5_000;
const PAUSE = 20;

/** A repository's folder, and what is needed to work in it. */
export interface GitFolder {
  fs: AtomicFs;
  log: Log;
  gitdir: string;
}

export class LockFile {
  private readonly fs: AtomicFs;
  private readonly target: string;
  /** Null once it has been filled and closed. */
  private file: DiskFile | null;
  private held = true;

  constructor(fs: AtomicFs, target: string, file: DiskFile) {
    this.fs = fs;
    this.target = target;
    this.file = file;
  }

  /** Gives the file its new content and flushes it, which also releases the lock. */
  async commit(content: string): Promise<void> {
    const { file } = this;
    this.file = null;
    if (file) await this.fs.fill(file, content);
    // From then on the lock is not held, even if the flush fails: a file of its name may be another program's lock.
    await this.fs.rename(lockPath(this.target), this.target, () => {
      this.held = false;
    });
  }

  /** Releases the lock with the file unchanged. Does nothing after `commit`. A failed removal is tried again later. */
  async release(): Promise<void> {
    if (!this.held) return;
    this.held = false;
    await this.file?.close().catch(() => undefined);
    await this.fs.discardFile(lockPath(this.target)).catch(() => undefined);
  }
}

/** Whether the lock may become the file, so that the folders that are made for it must outlive a power cut. */
interface LockUse {
  isLasting: boolean;
}

/**
 * Takes the lock on a file.
 * @param target absolute path, inside the repository
 * @throws HawserError `repository_locked` when another program keeps it
 */
export async function takeLock(
  folder: GitFolder,
  target: string,
  use: LockUse = { isLasting: true },
): Promise<LockFile> {
  const start = performance.now();
  for (;;) {
    try {
      return new LockFile(folder.fs, target, await folder.fs.createEmpty(lockPath(target)));
    } catch (error) {
      await beforeRetry(folder, target, { error, waited: performance.now() - start, ...use });
    }
  }
}

/** Holds the lock on a file, see `takeLock`, while `work` runs. */
export async function withLock<T>(
  folder: GitFolder,
  target: string,
  work: (lock: LockFile) => Promise<T>,
): Promise<T> {
  const lock = await takeLock(folder, target);
  try {
    return await work(lock);
  } finally {
    await lock.release();
  }
}

async function beforeRetry(
  folder: GitFolder,
  target: string,
  { error, waited, isLasting }: LockUse & { error: unknown; waited: number },
): Promise<void> {
  const errno = errnoOf(error);
  if (errno === 'ENOENT' && waited < PATIENCE) return makeParent(folder, target, isLasting);
  if (errno !== 'EEXIST') throw error;
  if (waited >= STALE_PATIENCE && (await breakStaleLock(folder, target))) return;
  if (waited < PATIENCE) return sleep(PAUSE);
  const message = 'Another program holds the repository; try again.';
  throw new HawserError('unavailable', 'repository_locked', message, { retryAfter: 1, cause: error });
}

/** Makes the folder of a ref, which packing refs removes when it is empty. */
async function makeParent({ fs, gitdir }: GitFolder, target: string, isLasting: boolean): Promise<void> {
  if (fs.lstatNow(gitdir) === undefined) throw missingRepository();
  const made = isLasting
    ? fs.makeFoldersBelow(gitdir, dirname(target))
    : fs.makePassingFoldersBelow(gitdir, dirname(target));
  // Packing may remove the folder as soon as it is made. The next attempt makes it again.
  await unlessAbsent(made, undefined);
}

/** Removes a lock that an ended process has left. Returns true when the lock is gone. */
async function breakStaleLock({ fs, log }: GitFolder, target: string): Promise<boolean> {
  const stats = await unlessAbsent(fs.lstat(lockPath(target)), null);
  if (stats === null) return true;
  // A server that has ended left the locks that are older than this process.
  if (stats.mtimeMs >= performance.timeOrigin) return false;
  log.warn({ lock: basename(lockPath(target)) }, 'removed a lock that an ended process left in a repository');
  await fs.unlink(lockPath(target));
  return true;
}

function lockPath(target: string): string {
  return `${target}.lock`;
}
