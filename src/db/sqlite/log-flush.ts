/**
 * Flushes the write-ahead log of SQLite in a thread of Node's pool. SQLite would do it within the commit, in which the event
 * loop stands: on a slow disk all polls would wait for it.
 */

import { type FileHandle, open } from 'node:fs/promises';
import type { Database as SqliteHandle } from 'better-sqlite3';

export class LogFlush {
  private readonly path: string;
  private file: Promise<FileHandle> | null = null;
  private running: Promise<void> = Promise.resolve();
  private waiting: Promise<void> | null = null;

  /** @param path is that of the log's file, which need not be there before the first commit */
  constructor(path: string) {
    this.path = path;
  }

  /**
   * Resolves once all that was committed before the call is on the disk. A flush that is under way does not count for it,
   * and all who ask meanwhile share the next one. It never rejects: if the disk fails, the process ends, because readers
   * may have seen what was committed, and Linux tells of a failed flush only once.
   */
  flush(): Promise<void> {
    this.waiting ??= this.running.then(() => {
      this.waiting = null;
      this.running = this.sync();
      return this.running;
    });
    return this.waiting;
  }

  /** Waits for those who still wait. */
  async close(): Promise<void> {
    await (this.waiting ?? this.running);
    await (await this.file)?.close();
  }

  private async sync(): Promise<void> {
    try {
      this.file ??= open(this.path, 'r+');
      await (await this.file).datasync();
    } catch (error) {
      await endProcess(this.path, error);
    }
  }
}

/** Never resolves. The next start copies what the log holds into the database, and flushes that. */
function endProcess(path: string, cause: unknown): Promise<never> {
  setImmediate(() => {
    throw new Error(`${path} could not be flushed; look at the disk, and start again`, { cause });
  });
  return new Promise(() => undefined);
}

/**
 * Makes a write that alters nothing. The first one after all of the log was copied begins the log anew, and waits within
 * SQLite for a flush of the log's head. So it is made where nobody waits for it.
 */
export function beginLog(handle: SqliteHandle): void {
  handle.pragma(`user_version = ${handle.pragma('user_version', { simple: true })}`);
}
