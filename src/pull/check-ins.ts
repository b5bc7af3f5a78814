/** When each node last called: noted in memory, written in batches, so that a poll writes nothing. */

import { type Kysely, sql } from 'kysely';
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

/**
 * Skips nodes that were deleted since they called. All rows as one value: a statement with a thousand is text and a tree
 * of a thousand parts each time, which the fleet's memory would be full of.
 */
async function writeRows(db: Kysely<Schema>, rows: readonly (readonly [string, number])[]): Promise<void> {
  await sql`insert into node_check_ins (node_id, last_check_in)
    select n.id, c.value ->> 1 from json_each(${JSON.stringify(rows)}) c join nodes n on n.id = c.value ->> 0
    where true
    on conflict (node_id) do update set last_check_in = excluded.last_check_in`.execute(db);
}
