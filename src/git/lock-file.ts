/**
 * Git's own lock protocol: `<file>.lock`, made exclusively, becomes the file by a rename. So a `git gc`,
 * `git pack-refs` or `git push` beside us cannot lose an update.
 */

import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HawserError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { AtomicFs, DiskFile } from './atomic-fs.ts';
import { errnoOf, missingRepository, unlessAbsent } from './disk-errors.ts';

/** Milliseconds until a lock that an ended process may have left is looked at. */
const STALE_PATIENCE = 1_000;
/** Milliseconds until it is given up: stock git at work in a loop can keep us waiting for a while. */
const PATIENCE = 5_000;
const PAUSE = 20;

/** A repository's folder and the means to work on it. */
export interface GitFolder {
  fs: AtomicFs;
  log: Log;
  gitdir: string;
  /** Epoch milliseconds: a lock that is older was left by a process of this server that has ended. */
  leftBefore(): number;
}

export class LockFile {
  private readonly fs: AtomicFs;
  private readonly target: string;
  /** Null once it is filled and closed. */
  private file: DiskFile | null;
  private held = true;

  constructor(fs: AtomicFs, target: string, file: DiskFile) {
    this.fs = fs;
    this.target = target;
    this.file = file;
  }

  /** Gives the file its new content, flushed, and the lock back, in one step. */
  async commit(content: string): Promise<void> {
    const { file } = this;
    this.file = null;
    if (file) await this.fs.fill(file, content);
    // Held no longer from then on, even if the flush after it fails: the name may be another's lock.
    await this.fs.rename(lockPath(this.target), this.target, () => {
      this.held = false;
    });
  }

  /** Gives the lock back with the file unchanged; does nothing after `commit`. Where it cannot yet, that is made up for. */
  async release(): Promise<void> {
    if (!this.held) return;
    this.held = false;
    await this.file?.close().catch(() => undefined);
    await this.fs.discardFile(lockPath(this.target)).catch(() => undefined);
  }
}

/** Takes the lock on `target`, a path inside the repository; `repository_locked` when somebody keeps it. */
export async function takeLock(folder: GitFolder, target: string): Promise<LockFile> {
  const start = performance.now();
  for (;;) {
    try {
      return new LockFile(folder.fs, target, await folder.fs.createEmpty(lockPath(target)));
    } catch (error) {
      await beforeRetry(folder, target, error, performance.now() - start);
    }
  }
}

async function beforeRetry(folder: GitFolder, target: string, error: unknown, waited: number): Promise<void> {
  const errno = errnoOf(error);
  if (errno === 'ENOENT' && waited < PATIENCE) return makeParent(folder, target);
  if (errno !== 'EEXIST') throw error;
  if (waited >= STALE_PATIENCE && (await breakStaleLock(folder, target))) return;
  if (waited < PATIENCE) return sleep(PAUSE);
  throw new HawserError(
    'unavailable',
    'repository_locked',
    'Another program holds the repository; try again.',
    {
      retryAfter: 1,
      cause: error,
    },
  );
}

/** Packing refs removes folders of refs that have become empty; the repository's own folder it keeps. */
async function makeParent(folder: GitFolder, target: string): Promise<void> {
  if ((await unlessAbsent(folder.fs.lstat(folder.gitdir), null)) === null) throw missingRepository();
  // A folder that goes as soon as it is made has been packed away again: the next turn makes it anew.
  await unlessAbsent(folder.fs.makeFoldersBelow(folder.gitdir, dirname(target)), undefined);
}

/** True when the way is free: the lock is gone, or was left by a process that has ended. */
async function breakStaleLock({ fs, log, leftBefore }: GitFolder, target: string): Promise<boolean> {
  const stats = await unlessAbsent(fs.lstat(lockPath(target)), null);
  if (stats === null) return true;
  if (stats.mtimeMs >= leftBefore()) return false;
  log.warn({ lock: basename(lockPath(target)) }, 'removed a lock that an ended process left in a repository');
  await fs.unlink(lockPath(target));
  return true;
}

function lockPath(target: string): string {
  return `${target}.lock`;
}
