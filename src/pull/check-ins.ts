/** Notes in memory when each node last called, and writes it in batches, so that a poll writes nothing. */

import { type Kysely, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import { breaksReference } from '../db/errors.ts';
import type { Schema } from '../db/schema.ts';
import { SECOND } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type NodeNote, NodeNotes } from './node-notes.ts';

const FLUSH_INTERVAL = SECOND;

export class CheckIns {
  private readonly notes: NodeNotes<number>;
  private readonly timer: NodeJS.Timeout;

  constructor(database: Pick<Database, 'write' | 'writeNow'>, log: Log) {
    this.notes = new NodeNotes(log, {
      onFailure: 'check-ins could not be written; they are kept until they can be',
      batch: engineOf(database.writeNow).checkInsAtOnce,
      join: (_before, then) => then,
      write: (rows, isLast) => writeCheckIns(isLast ? database.write : database.writeNow, rows),
    });
    this.timer = setInterval(() => this.notes.flush(), FLUSH_INTERVAL);
    this.timer.unref();
  }

  note(nodeId: string, now: number): void {
    this.notes.set(nodeId, now);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.notes.flush(true);
  }
}

/**
 * Writes when nodes called last. Skips nodes that were deleted since they called. All processes write in one order, so that
 * no two wait for each other. All rows are one value of the statement. A statement with a thousand values is a large text
 * and a tree of a thousand parts each time, and a fleet's check-ins would fill the memory with them.
 */
export async function writeCheckIns(db: Kysely<Schema>, rows: readonly NodeNote<number>[]): Promise<void> {
  try {
    await sql`insert into node_check_ins (node_id, last_check_in)
      select n.id, cast(c.value ->> 1 as bigint) from ${engineOf(db).rows(rows)} c join nodes n on n.id = c.value ->> 0
      order by c.value ->> 0
      on conflict (node_id) do update set last_check_in = excluded.last_check_in`.execute(db);
  } catch (error) {
    if (!breaksReference(error)) throw error;
    // A node was deleted while the statement ran. It is skipped now.
    await writeCheckIns(db, rows);
  }
}
