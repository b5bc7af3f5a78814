/**
 * Kysely's SQLite dialect for the one handle that writes: timed, and taking turns where several processes write to one
 * file. A turn is waited for without holding up the event loop, which SQLite's own waiting would.
 */

import type { Database as SqliteHandle } from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import { DATABASE_WRITES } from '../domain/lock-names.ts';
import type { Locks, Release } from '../lib/locks.ts';

/** Both in milliseconds; whoever holds the connection has a statement or a transaction, and its flush of the disk. */
export interface WriteWatch {
  onWriteWaited(milliseconds: number): void;
  onWritten(milliseconds: number): void;
}

export const UNWATCHED: WriteWatch = { onWriteWaited: () => undefined, onWritten: () => undefined };

export interface WriterOptions {
  watch: WriteWatch;
  /** Null where no other process of this server writes. */
  locks: Locks | null;
}

interface WriterConfig {
  database: SqliteHandle;
}

export class WriterDialect extends SqliteDialect {
  private readonly config: WriterConfig;
  private readonly options: WriterOptions;

  constructor(config: WriterConfig, options: WriterOptions) {
    super(config);
    this.config = config;
    this.options = options;
  }

  override createDriver(): Driver {
    return new WriterDriver(this.config, this.options);
  }

  override createAdapter(): DialectAdapter {
    return new UndoingAdapter();
  }
}

/** SQLite undoes changes of tables with the transaction they are in, though Kysely does not count on it. */
class UndoingAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class WriterDriver extends SqliteDriver {
  private readonly handle: SqliteHandle;
  private readonly options: WriterOptions;
  /** Of the one who holds the connection, which no two do at once. */
  private heldSince = 0;
  private release: Release | null = null;

  constructor(config: WriterConfig, options: WriterOptions) {
    super(config);
    this.handle = config.database;
    this.options = options;
  }

  /** Kysely hands the one connection out for a single statement or a whole transaction. */
  override async acquireConnection(): ReturnType<SqliteDriver['acquireConnection']> {
    const { locks, watch } = this.options;
    const start = performance.now();
    const connection = await super.acquireConnection();
    if (locks) this.release = await locks.acquire(DATABASE_WRITES, 'alone');
    this.heldSince = performance.now();
    watch.onWriteWaited(this.heldSince - start);
    return connection;
  }

  override async releaseConnection(): Promise<void> {
    this.options.watch.onWritten(performance.now() - this.heldSince);
    this.release?.();
    this.release = null;
    await super.releaseConnection();
  }

  /** At once: one that reads first could not write any more after another process has written. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** Not where SQLite has done so by itself, as for a disk that is full: the failure would hide what it failed with. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.handle.inTransaction) await super.rollbackTransaction(connection);
  }
}
