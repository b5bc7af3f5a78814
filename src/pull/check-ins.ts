/** Notes in memory when each node last called, and writes it in batches, so that a poll writes nothing. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../db/open.ts';
import type { Schema } from '../db/schema.ts';
import { SECOND } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

const FLUSH_INTERVAL = SECOND;
/** With this many rows a statement holds the event loop for a few milliseconds at most. */
const BATCH = 500;

export class CheckIns {
  private readonly database: Pick<Database, 'write' | 'writeNow'>;
  private readonly log: Log;
  private readonly noted = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;
  private flushing: Promise<void> = Promise.resolve();
  /** Whether the log says already that check-ins cannot be written. */
  private isFailing = false;

  constructor(database: Pick<Database, 'write' | 'writeNow'>, log: Log) {
    this.database = database;
    this.log = log;
    this.timer = setInterval(() => this.flush(this.database.writeNow), FLUSH_INTERVAL);
    this.timer.unref();
  }

  note(nodeId: string, now: number): void {
    this.noted.set(nodeId, now);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.flush(this.database.write);
  }

  /** Writes what was noted so far. After a failure it stays noted for the next time. */
  private flush(db: Kysely<Schema>): Promise<void> {
    this.flushing = this.flushing.then(() => this.write(db));
    return this.flushing;
  }

  private async write(db: Kysely<Schema>): Promise<void> {
    for (let left = this.noted.size; left > 0; left -= BATCH) {
      const rows = this.take();
      try {
        await writeRows(db, rows);
        this.isFailing = false;
      } catch (error) {
        for (const [nodeId, now] of rows) if (!this.noted.has(nodeId)) this.noted.set(nodeId, now);
        if (!this.isFailing)
          this.log.warn({ err: error }, 'check-ins could not be written; they are kept until they can be');
        this.isFailing = true;
        return;
      }
      // Lets requests through between two batches.
      await nextTurn();
    }
  }

  /** Takes the first check-ins out of the notes. */
  private take(): [string, number][] {
    const rows: [string, number][] = [];
    for (const row of this.noted) {
      if (rows.length === BATCH) break;
      rows.push(row);
      this.noted.delete(row[0]);
    }
    return rows;
  }
}

/**
 * Skips nodes that were deleted since they called. All rows are one value of the statement. A statement with a thousand
 * values is a large text and a tree of a thousand parts each time, and a fleet's check-ins would fill the memory with them.
 */
async function writeRows(db: Kysely<Schema>, rows: readonly (readonly [string, number])[]): Promise<void> {
  await sql`insert into node_check_ins (node_id, last_check_in)
    select n.id, c.value ->> 1 from json_each(${JSON.stringify(rows)}) c join nodes n on n.id = c.value ->> 0
    where true
    on conflict (node_id) do update set last_check_in = excluded.last_check_in`.execute(db);
}
