/** Kysely's SQLite dialect for the one handle that writes: in turns, patient as far as it is told to be, and timed. */

import {
  CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  SqliteAdapter,
  SqliteDialect,
} from 'kysely';
import type { Turn, Writer } from './writer.ts';

/** Both in milliseconds; whoever holds the connection has a statement or a transaction, and its flush of the disk. */
export interface WriteWatch {
  onWriteWaited(milliseconds: number): void;
  onWritten(milliseconds: number): void;
}

export const UNWATCHED: WriteWatch = { onWriteWaited: () => undefined, onWritten: () => undefined };

export interface WriterOptions {
  /** Milliseconds for which a write is tried again while another process holds the database. */
  patience: number;
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

/** SQLite undoes changes of tables with the transaction they are in, though Kysely does not count on it. */
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

  /** Kysely asks for it for a single statement or a whole transaction. */
  acquireConnection(): Promise<Turn> {
    return this.writer.begin(this.options.patience);
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    const turn = connection as Turn;
    turn.end();
    this.options.watch.onWriteWaited(turn.waited);
    this.options.watch.onWritten(turn.held);
  }

  /** At once: one that reads first could not write any more after another process has written. */
  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  /** Not where SQLite has done so by itself, as for a disk that is full: the failure would hide what it failed with. */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.writer.handle.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  /** Whoever opened the handle closes it. */
  async destroy(): Promise<void> {}
}
