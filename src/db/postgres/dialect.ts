/** Kysely's PostgreSQL dialect for one lane: its connections come from a section or from a pool, and are measured. */

import {
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresDialect,
  PostgresQueryCompiler,
  type PrimitiveValueListNode,
  type Transaction,
  type TransactionBuilder,
} from 'kysely';
import type { Pool } from 'pg';
import { translateDatabaseError } from '../errors.ts';
import type { Schema } from '../schema.ts';
import type { WriteHealth } from '../write-health.ts';
import type { WriteWatch } from '../write-watch.ts';
import { againAfterDeadlock } from './deadlocks.ts';
import { type Taken, Work, type WorkOptions } from './work.ts';

export interface LaneOptions extends WorkOptions {
  /** Where connections come from. @throws HawserError unavailable */
  take(): Promise<Taken>;
  /** Is told of each write; null for a lane that only reads. */
  watch: WriteWatch | null;
  health: WriteHealth;
}

/** A handle whose transactions are tried again after a deadlock. What they do outside of the database must allow it. */
export class LaneHandle extends Kysely<Schema> {
  constructor(pool: Pool, options: LaneOptions) {
    super({ dialect: new LaneDialect(pool, options) });
  }

  override transaction(): TransactionBuilder<Schema> {
    const builder = super.transaction();
    const execute = builder.execute.bind(builder);
    builder.execute = <T>(callback: (trx: Transaction<Schema>) => Promise<T>): Promise<T> =>
      againAfterDeadlock(() => execute(callback));
    return builder;
  }
}

class LaneDialect extends PostgresDialect {
  private readonly options: LaneOptions;

  constructor(pool: Pool, options: LaneOptions) {
    super({ pool });
    this.options = options;
  }

  override createDriver(): Driver {
    return new LaneDriver(this.options);
  }

  override createQueryCompiler(): QueryCompiler {
    return new QueryCompiler();
  }
}

class LaneDriver implements Driver {
  private readonly options: LaneOptions;

  constructor(options: LaneOptions) {
    this.options = options;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<Work> {
    const startedAt = performance.now();
    return new Work(await this.noting(this.options.take()), startedAt, this.options);
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await this.noting((connection as Work).begin());
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await this.noting((connection as Work).commit());
    this.options.health.noteWritten();
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await (connection as Work).rollback();
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    const work = connection as Work;
    work.end();
    this.options.watch?.onWriteWaited(work.waited);
    this.options.watch?.onWritten(performance.now() - work.startedAt - work.waited);
  }

  /** Does nothing, because whoever made the pool ends it. */
  async destroy(): Promise<void> {}

  private async noting<T>(step: Promise<T>): Promise<T> {
    try {
      return await step;
    } catch (error) {
      this.options.health.noteFailure(error);
      throw translateDatabaseError(error);
    }
  }
}

class QueryCompiler extends PostgresQueryCompiler {
  /** An empty list of `in`, which SQLite takes and PostgreSQL does not, is a list that holds nothing that could be equal. */
  protected override visitPrimitiveValueList(node: PrimitiveValueListNode): void {
    if (node.values.length > 0) super.visitPrimitiveValueList(node);
    else this.append('(null)');
  }
}
