/**
 * Gives writes their turns on the one writing handle. While another process holds the database, a write is repeated. It
 * does not block the event loop meanwhile, as SQLite's own waiting would, and gives its turn to others.
 */

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Database as SqliteHandle } from 'better-sqlite3';
import { CompiledQuery, type DatabaseConnection, type QueryResult, SqliteDriver } from 'kysely';
import { DATABASE_WRITES } from '../../domain/lock-names.ts';
import { LocalLocks, type Locks, type Release } from '../../lib/locks.ts';
import { TurnBudget } from '../../lib/pace.ts';
import { isHeld } from '../errors.ts';
import type { LogFlush } from './log-flush.ts';
import { PreparedStatements } from './prepared-statements.ts';

/** Milliseconds for which a write is repeated, counted from when it was asked for. */
export const PATIENCE = 5_000;
/** Milliseconds between two attempts. An attempt costs some 12 µs. */
export const PAUSE = 20;
/** Milliseconds that writes may take in one turn of the event loop. */
const TURN = 10;

const BEGIN = CompiledQuery.raw('begin immediate');
export const ROLLBACK = CompiledQuery.raw('rollback');
/** Statements that change nothing themselves. */
const CHANGES_NOTHING = /^\s*(?:select|pragma|begin|commit|rollback)\b/i;

export class Writer {
  readonly handle: SqliteHandle;
  readonly locks: Locks = new LocalLocks();
  readonly log: LogFlush;
  private readonly driver: SqliteDriver;
  private connection: Promise<DatabaseConnection> | undefined;
  private pausing: Promise<void> | null = null;
  private readonly time = new TurnBudget(TURN);

  /** @param handle must leave the flush of commits to `log` */
  constructor(handle: SqliteHandle, log: LogFlush) {
    this.handle = handle;
    this.log = log;
    this.driver = new SqliteDriver({ database: new PreparedStatements(handle) });
  }

  /**
   * Waits for a turn. The caller must end it.
   * @param patience is the time in milliseconds for which statements are repeated while another process holds the database
   */
  async begin(patience: number): Promise<Turn> {
    const turn = new Turn(this, performance.now() + patience);
    await turn.take();
    return turn;
  }

  /**
   * Resolves once the database can be written. Another process may lock it right after that.
   * @throws the driver's error if it could not be written for 5 s
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

  /** Set if the database was found held a short time ago, so that a new attempt must wait. */
  get pause(): Promise<void> | null {
    return this.pausing;
  }

  /** Lets reads and polls go first after many writes in one turn of the event loop. */
  async giveWay(): Promise<void> {
    if (this.time.isSpent) await nextTurn();
  }

  noteHeld(milliseconds: number): void {
    this.time.spend(milliseconds);
  }

  /** All waiting writes share one pause, and only one of them makes the next attempt. */
  beginPause(): Promise<void> {
    this.pausing ??= sleep(PAUSE).then(() => {
      this.pausing = null;
    });
    return this.pausing;
  }

  /** Carries out a statement for the write that has the turn. */
  async run<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.connection ??= this.connect();
    return (await this.connection).executeQuery<R>(query);
  }

  /** Kysely's own driver gives its connection once. It knows how to run a query on SQLite. */
  private async connect(): Promise<DatabaseConnection> {
    await this.driver.init();
    return this.driver.acquireConnection();
  }
}

/** A connection in Kysely's sense: the use of the handle for a single statement or a whole transaction. */
export class Turn implements DatabaseConnection {
  /** Milliseconds spent waiting for the handle, and holding it. */
  waited = 0;
  held = 0;
  private hasChanged = false;
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
      // The write before this one may have found the database held.
      if (this.writer.pause === null || this.isOver) this.release = release;
      else release();
    }
    await this.writer.giveWay();
    this.waited += this.lap();
  }

  /** Ends the turn. A second call does nothing. */
  end(): void {
    if (this.release === null) return;
    this.release();
    this.release = null;
    const held = this.lap();
    this.held += held;
    this.writer.noteHeld(held);
  }

  /** Resolves once all that it has committed is on the disk. Whoever has the next turn does not wait for that. */
  async flush(): Promise<void> {
    if (!this.hasChanged) return;
    await this.writer.log.flush();
    this.held += this.lap();
  }

  /** A statement that found the database held has done nothing, so it can be repeated. */
  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    for (;;) {
      try {
        const result = await this.writer.run<R>(query);
        this.hasChanged = query !== ROLLBACK && (this.hasChanged || !CHANGES_NOTHING.test(query.sql));
        return result;
      } catch (error) {
        if (!isHeld(error) || this.isOver) throw error;
      }
      const pause = this.writer.beginPause();
      // A transaction that has begun cannot give its turn away. In WAL mode this does not happen.
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
