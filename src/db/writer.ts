/**
 * Whose turn it is on the one handle that writes. While another process holds the database, a write is tried again
 * without holding up the event loop, which SQLite's own waiting would, and without keeping its turn meanwhile.
 */

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Database as SqliteHandle } from 'better-sqlite3';
import { CompiledQuery, type DatabaseConnection, type QueryResult, SqliteDriver } from 'kysely';
import { DATABASE_WRITES } from '../domain/lock-names.ts';
import { LocalLocks, type Locks, type Release } from '../lib/locks.ts';
import { TurnTime } from '../lib/pace.ts';
import { isHeld } from './errors.ts';

/** Milliseconds for which a write is tried again, from when it was asked for. */
export const PATIENCE = 5_000;
/** Milliseconds between two tries. A try costs some 12 µs. */
export const PAUSE = 20;
/** Milliseconds of writes in one turn of the event loop. */
const TURN = 10;

const BEGIN = CompiledQuery.raw('begin immediate');
const ROLLBACK = CompiledQuery.raw('rollback');

export class Writer {
  readonly handle: SqliteHandle;
  /** Whose turn it is: of this process, or of all that write to the file for one server. */
  readonly locks: Locks;
  private readonly driver: SqliteDriver;
  private connection: Promise<DatabaseConnection> | undefined;
  private pausing: Promise<void> | null = null;
  private readonly time = new TurnTime(TURN);

  constructor(handle: SqliteHandle, locks: Locks | null) {
    this.handle = handle;
    this.locks = locks ?? new LocalLocks();
    this.driver = new SqliteDriver({ database: handle });
  }

  /**
   * Waits for a turn, which must be ended.
   * @param patience milliseconds for which its statements are tried again while another process holds the database
   */
  async begin(patience: number): Promise<Turn> {
    const turn = new Turn(this, performance.now() + patience);
    await turn.take();
    return turn;
  }

  /**
   * Resolves once the database can be written, though another process may take hold of it right after that.
   * @throws the driver's error when it could not for 5 s
   */
  async requireFree(): Promise<void> {
    const turn = await this.begin(PATIENCE);
    try {
      await turn.executeQuery(BEGIN);
      await turn.executeQuery(ROLLBACK);
    } finally {
      turn.end();
    }
  }

  /** Set while the database was found held so short a time ago that it is not worth a try. */
  get pause(): Promise<void> | null {
    return this.pausing;
  }

  /** Lets reads and polls go first once many writes have followed each other. */
  async giveWay(): Promise<void> {
    if (this.time.isSpent) await nextTurn();
  }

  noteHeld(milliseconds: number): void {
    this.time.spend(milliseconds);
  }

  /** All who wait do so together, so that of a thousand one alone tries first. */
  beginPause(): Promise<void> {
    this.pausing ??= sleep(PAUSE).then(() => {
      this.pausing = null;
    });
    return this.pausing;
  }

  /** Carries out a statement in the name of whoever has the turn. */
  async run<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.connection ??= this.connect();
    return (await this.connection).executeQuery<R>(query);
  }

  /** Kysely's own driver is asked for its one connection once, and keeps the way from a query to SQLite. */
  private async connect(): Promise<DatabaseConnection> {
    await this.driver.init();
    return this.driver.acquireConnection();
  }
}

/** What Kysely takes for a connection: the handle, for a single statement or a whole transaction. */
export class Turn implements DatabaseConnection {
  /** Both in milliseconds: without the handle, and with it. */
  waited = 0;
  held = 0;
  private readonly writer: Writer;
  private readonly until: number;
  private since = performance.now();
  private release: Release | null = null;

  constructor(writer: Writer, until: number) {
    this.writer = writer;
    this.until = until;
  }

  async take(): Promise<void> {
    while (this.release === null) {
      while (this.writer.pause !== null && !this.isOver) await this.writer.pause;
      const release = await this.writer.locks.acquire(DATABASE_WRITES, 'alone');
      // Whoever had the turn before may have found the database held.
      if (this.writer.pause === null || this.isOver) this.release = release;
      else release();
    }
    await this.writer.giveWay();
    this.waited += this.lap();
  }

  /** Does nothing the second time. */
  end(): void {
    if (this.release === null) return;
    this.release();
    this.release = null;
    const held = this.lap();
    this.held += held;
    this.writer.noteHeld(held);
  }

  /** SQLite has done nothing of what it finds the database held for, so that it can be tried again. */
  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    for (;;) {
      try {
        return await this.writer.run<R>(query);
      } catch (error) {
        if (!isHeld(error) || this.isOver) throw error;
      }
      const pause = this.writer.beginPause();
      // A transaction that has begun cannot give way; in WAL mode it does not come to this.
      if (this.writer.handle.inTransaction) await pause;
      else {
        this.end();
        await this.take();
      }
    }
  }

  // biome-ignore lint/correctness/useYield: Kysely asks for it, and nothing here reads in pieces.
  async *streamQuery(): AsyncGenerator<never> {
    throw new Error('The handle that writes does not read in pieces');
  }

  private get isOver(): boolean {
    return performance.now() >= this.until;
  }

  /** Milliseconds since the last call. */
  private lap(): number {
    const { since } = this;
    this.since = performance.now();
    return this.since - since;
  }
}
