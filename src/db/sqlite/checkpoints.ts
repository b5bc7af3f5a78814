/**
 * Copies what was committed from the write-ahead log into the database file (sqlite.org/wal.html, "Checkpointing"). SQLite
 * itself would do it within some commits, which block the event loop meanwhile and take up to a second on a busy disk. So
 * a thread does it. It waits for nobody, and nobody waits for it.
 */

import type { Database as SqliteHandle, Statement } from 'better-sqlite3';
import { DATABASE_WRITES } from '../../domain/lock-names.ts';
import { SECOND } from '../../lib/clock.ts';
import { shuttingDown } from '../../lib/errors.ts';
import type { Locks } from '../../lib/locks.ts';
import { Threads } from '../../lib/threads.ts';

/** The log's frames, each of which is a page of 4 KiB, and how many of them were copied. Both count from the log's begin. */
export type CheckpointResult = [isBusy: number, frames: number, copied: number];

export type CheckpointTasks = {
  checkpoint(file: string): CheckpointResult | undefined;
  /** Begins the log anew, once all of it was copied. */
  beginAnew(file: string): void;
};

/** So many frames that are not copied yet make a checkpoint due. The flush of a longer one holds up the flush of a commit. */
const DUE = 250;
/** With more frames than this the log must begin anew, which happens once all of its frames are copied. */
const LONG = 10_000;
/** SQLite makes a checkpoint within a commit if the log has so many frames, which happens only if the thread fails. */
const LAST_RESORT = 16_000;
/** The log's file is shortened to so many bytes when it begins anew, such as after a long backup. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** The pause after a checkpoint that failed or copied nothing, because a reader still needs the old pages. */
const PAUSE = SECOND;
/** The thread needs memory for its code alone. */
const HEAP_MEGABYTES = 32;

export class Checkpoints {
  private readonly file: string;
  private readonly handle: SqliteHandle;
  private readonly locks: Locks;
  /** It reads two numbers from shared memory, in some 3 µs. */
  private readonly state: Statement<[], CheckpointResult>;
  /** No thread is started before the first checkpoint is due. */
  private readonly threads = new Threads<CheckpointTasks>({
    entry: new URL('./checkpoint-thread.js', import.meta.url),
    size: 1,
    heapMegabytes: HEAP_MEGABYTES,
  });
  private isRunning = false;
  private isClosed = false;
  /** What the thread does, which never fails here. */
  private copying: Promise<unknown> = Promise.resolve();
  private pausedUntil = 0;

  /**
   * @param handle is the one that writes
   * @param locks are those by which writes take turns
   */
  constructor(file: string, handle: SqliteHandle, locks: Locks) {
    this.file = file;
    this.handle = handle;
    this.locks = locks;
    handle.pragma(`wal_autocheckpoint = ${LAST_RESORT}`);
    handle.pragma(`journal_size_limit = ${MAX_FILE_BYTES}`);
    this.state = handle.prepare<[], CheckpointResult>('pragma wal_checkpoint(noop)').raw();
  }

  /** Is called after each write. Begins a checkpoint if one is due, and does not wait for it. */
  note(): void {
    if (this.isRunning || this.handle.inTransaction || performance.now() < this.pausedUntil) return;
    const [, frames, copied] = this.read();
    if (frames - copied >= DUE) void this.run(copied);
  }

  /**
   * Ends the thread once it has nothing to do. Whoever closes the last handle makes the last checkpoint. If the thread was
   * ended while SQLite fails there, as on a full disk, better-sqlite3 could not make its error, and would end the process.
   */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.copying;
    await this.threads.close();
  }

  private async run(copiedBefore: number): Promise<void> {
    this.isRunning = true;
    try {
      const [, frames, copied] = await this.copy();
      if (copied <= copiedBefore) this.pause();
      else if (copied === frames || frames >= LONG) await this.beginAnew();
    } catch {
      // The log keeps everything. SQLite makes a checkpoint itself once the log is long enough.
      this.pause();
    } finally {
      this.isRunning = false;
    }
  }

  private pause(): void {
    this.pausedUntil = performance.now() + PAUSE;
  }

  /**
   * Copies up to the log's end, and begins the log anew. While writes follow each other without a gap, a checkpoint never
   * sees the end. So writes wait for the last one, which has little left to copy. The write that begins the log waits for a
   * flush of its head within SQLite, so the thread makes it.
   */
  private async beginAnew(): Promise<void> {
    await this.copy();
    await this.locks.run(DATABASE_WRITES, async () => {
      let [, frames, copied] = this.read();
      if (copied < frames) [, frames, copied] = await this.copy();
      if (copied === frames) await this.inThread('beginAnew');
    });
  }

  private read(): CheckpointResult {
    return this.state.get() ?? [0, 0, 0];
  }

  /** @throws what the thread fails with; HawserError unavailable `shutting_down` once it is closed */
  private async copy(): Promise<CheckpointResult> {
    return (await this.inThread('checkpoint')) ?? [1, 0, 0];
  }

  /** @throws as `copy` does */
  private inThread<T extends keyof CheckpointTasks>(task: T): Promise<ReturnType<CheckpointTasks[T]>> {
    if (this.isClosed) throw shuttingDown();
    const working = this.threads.run('', task, this.file);
    this.copying = working.catch(() => undefined);
    return working;
  }
}
