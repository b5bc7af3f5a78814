/** Kysely's SQLite dialect for the one writing handle. Writes take turns, are repeated for a time, and are measured. */

import {
  CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  SqliteAdapter,
  SqliteDialect,
} from 'kysely';
import type { WriteWatch } from '../write-watch.ts';
import { ROLLBACK, type Turn, type Writer } from './writer.ts';

export interface WriterOptions {
  /** Milliseconds for which a write is repeated while another process holds the database. */
  patience: number;
  /** Whether a commit is on the disk when Kysely's call resolves. */
  isFlushed: boolean;
  watch: WriteWatch;
}

export class WriterDialect extends SqliteDialect {
  private readonly writer: Writer;
  private readonly options: WriterOptions;

  constructor(writer: Writer, options: WriterOptions) {
    super({ database: writer.handle });
    this.writer = writer;
    this.options = options;
  }

  override createDriver(): Driver {
    return new WriterDriver(this.writer, this.options);
  }

  override createAdapter(): DialectAdapter {
    return new UndoingAdapter();
  }
}

/** SQLite rolls back changes of tables with their transaction, which Kysely does not assume by default. */
class UndoingAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class WriterDriver implements Driver {
  private readonly writer: Writer;
  private readonly options: WriterOptions;

  constructor(writer: Writer, options: WriterOptions) {
    this.writer = writer;
    this.options = options;
  }

  async init(): Promise<void> {}

  /** Kysely acquires a connection for a single statement or a whole transaction. */
  acquireConnection(): Promise<Turn> {
    return this.writer.begin(this.options.patience);
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    const turn = connection as Turn;
    turn.end();
    if (this.options.isFlushed) await turn.flush();
    this.options.watch.onWriteWaited(turn.waited);
    this.options.watch.onWritten(turn.held);
  }

  /** Locks at once, because a transaction that reads first cannot write after another process has written. */
  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  /** SQLite rolls back by itself after some faults, such as a full disk. A second rollback would fail and hide them. */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.writer.handle.inTransaction) await connection.executeQuery(ROLLBACK);
  }

  /** Does nothing, because whoever opened the handle closes it. */
  async destroy(): Promise<void> {}
}
