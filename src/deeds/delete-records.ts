/**
 * Deletes reports and status events in transactions that are so short that no writer waits for long, with pauses between
 * them.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import type { CleanupRun } from '../versions/cleanup-run.ts';

export type RecordTable = 'reports' | 'status_events' | 'node_events';

/** The columns that rise with the order of writing. */
export const KEYS = { reports: 'seq', status_events: 'id', node_events: 'seq' } as const;

/** Records per statement. A report may have megabytes, so the clock is read after a few of them. */
const RECORDS_AT_ONCE = 10;
/** Milliseconds after which a transaction begins no further statement. Its commit takes more time. */
const BUDGET = 4;
/** The pause between two transactions, in milliseconds. */
const PAUSE = 5;

/**
 * Deletes records in short transactions, in the order of their keys.
 * @param until the time of the newest record that may go, in epoch milliseconds
 */
export async function deleteInTurns(
  database: Database,
  table: RecordTable,
  due: readonly number[],
  until: number,
  run: CleanupRun,
): Promise<void> {
  const keys = Float64Array.from(due).sort();
  let done = 0;
  while (done < keys.length) {
    run.signal.throwIfAborted();
    const left = keys.subarray(done);
    const [deleted, taken] = await database.writeUnflushed
      .transaction()
      .execute((trx) => deleteSlice(trx, table, left, until));
    done += taken;
    moveToDeleted(run, deleted);
    await sleep(PAUSE);
  }
}

/** @returns how many records were deleted, and how many keys were taken until time was over */
async function deleteSlice(
  trx: Db,
  table: RecordTable,
  keys: Float64Array,
  until: number,
): Promise<[deleted: number, taken: number]> {
  const end = performance.now() + BUDGET;
  let [deleted, taken] = [0, 0];
  do {
    const some = keys.subarray(taken, taken + RECORDS_AT_ONCE);
    deleted += await deleteKeys(trx, table, some, until);
    taken += some.length;
  } while (taken < keys.length && performance.now() < end);
  return [deleted, taken];
}

/** Counts records as deleted that were counted as kept. */
export function moveToDeleted({ outcome }: CleanupRun, count: number): void {
  outcome.deletedCount += count;
  outcome.keptCount -= count;
}

/**
 * The time is compared once more, because SQLite may give the highest key of reports again if its report was deleted
 * with its node meanwhile.
 */
async function deleteKeys(db: Db, table: RecordTable, keys: Float64Array, until: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where timestamp <= ${until}
    and ${engineOf(db).isOneOf(KEYS[table], [...keys])}`.execute(db);
  return Number(numAffectedRows ?? 0);
}
