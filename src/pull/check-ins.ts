/** When each node last called: noted in memory, written in batches, so that a poll writes nothing. */

import type { Kysely } from 'kysely';
import type { Schema } from '../db/schema.ts';
import { SECOND } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

const FLUSH_INTERVAL = SECOND;
/** Rows per statement: short enough that the event loop is not held for more than a few milliseconds. */
const BATCH = 500;

export class CheckIns {
  private readonly db: Kysely<Schema>;
  private readonly log: Log;
  private noted = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;
  private flushing: Promise<void> = Promise.resolve();

  constructor(db: Kysely<Schema>, log: Log) {
    this.db = db;
    this.log = log;
    this.timer = setInterval(() => this.flush(), FLUSH_INTERVAL);
    this.timer.unref();
  }

  note(nodeId: string, now: number): void {
    this.noted.set(nodeId, now);
  }

  /** Writes what was noted so far; a failure keeps it for the next time. */
  flush(): Promise<void> {
    this.flushing = this.flushing.then(() => this.write());
    return this.flushing;
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  private async write(): Promise<void> {
    const batch = [...this.noted];
    this.noted = new Map();
    for (let start = 0; start < batch.length; start += BATCH) {
      const rows = batch.slice(start, start + BATCH);
      try {
        await writeRows(this.db, rows);
      } catch (error) {
        this.log.warn({ err: error }, 'check-ins could not be written; they are kept for the next time');
        for (const [nodeId, now] of batch.slice(start))
          if (!this.noted.has(nodeId)) this.noted.set(nodeId, now);
        return;
      }
      // Lets requests through between two batches.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Skips nodes that were deleted since they called. */
async function writeRows(db: Kysely<Schema>, rows: readonly (readonly [string, number])[]): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const ids = rows.map(([nodeId]) => nodeId);
    const known = new Set(
      (await trx.selectFrom('nodes').select('id').where('id', 'in', ids).execute()).map((row) => row.id),
    );
    const values = rows
      .filter(([nodeId]) => known.has(nodeId))
      .map(([node_id, last_check_in]) => ({ node_id, last_check_in }));
    if (values.length === 0) return;
    await trx
      .insertInto('node_check_ins')
      .values(values)
      .onConflict((conflict) =>
        conflict
          .column('node_id')
          .doUpdateSet((row) => ({ last_check_in: row.ref('excluded.last_check_in') })),
      )
      .execute();
  });
}
