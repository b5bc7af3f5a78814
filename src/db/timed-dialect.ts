/** Kysely's SQLite dialect, timing how long its one connection is waited for and held. */

import {
  type DialectAdapter,
  type Driver,
  SqliteAdapter,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from 'kysely';

/** Both in milliseconds; whoever holds the connection has a statement or a transaction, and its flush of the disk. */
export interface WriteWatch {
  onWriteWaited(milliseconds: number): void;
  onWritten(milliseconds: number): void;
}

export const UNWATCHED: WriteWatch = { onWriteWaited: () => undefined, onWritten: () => undefined };

export class TimedSqliteDialect extends SqliteDialect {
  private readonly config: SqliteDialectConfig;
  private readonly watch: WriteWatch;

  constructor(config: SqliteDialectConfig, watch: WriteWatch) {
    super(config);
    this.config = config;
    this.watch = watch;
  }

  override createDriver(): Driver {
    return new TimedSqliteDriver(this.config, this.watch);
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

class TimedSqliteDriver extends SqliteDriver {
  private readonly watch: WriteWatch;
  /** Of the one who holds the connection, which no two do at once. */
  private heldSince = 0;

  constructor(config: SqliteDialectConfig, watch: WriteWatch) {
    super(config);
    this.watch = watch;
  }

  override async acquireConnection(): ReturnType<SqliteDriver['acquireConnection']> {
    const start = performance.now();
    const connection = await super.acquireConnection();
    this.heldSince = performance.now();
    this.watch.onWriteWaited(this.heldSince - start);
    return connection;
  }

  override async releaseConnection(): Promise<void> {
    this.watch.onWritten(performance.now() - this.heldSince);
    await super.releaseConnection();
  }
}
