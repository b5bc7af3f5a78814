/**
 * The cleanup of reports and status events: for each node it deletes those that are beyond the newest `keepCount` and
 * older than `keepDays`. Its transactions are so short that no writer waits for long, with pauses between them.
 */

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database, Db } from '../../db/database.ts';
import { engineOf } from '../../db/engine-of.ts';
import { DAY } from '../../lib/clock.ts';
import type { CleanupRun } from '../../versions/retention.ts';

export type RecordTable = 'reports' | 'status_events';

/** The columns that rise with the order of writing. */
const KEYS = { reports: 'seq', status_events: 'id' } as const;

/** What is kept of a node's records: the newest, and all that are younger than so many days. */
export interface RecordRule {
  keepCount: number;
  keepDays: number;
}

/** How many nodes are read in one turn. */
const NODES_AT_ONCE = 20;
/** The keys that are collected before their records are deleted. Sorting so many takes some 10 ms. */
const KEYS_AT_ONCE = 100_000;
/** Records per statement. A report may have megabytes, so the clock is read after a few of them. */
const RECORDS_AT_ONCE = 10;
/** Milliseconds after which a transaction begins no further statement. Its commit takes more time. */
const BUDGET = 4;
/** The pause between two transactions, in milliseconds. */
const PAUSE = 5;

/** @throws what ends the run: the signal's reason, or a fault of the database; what was deleted until then is gone */
export async function cleanRecords(
  database: Database,
  table: RecordTable,
  rule: RecordRule,
  run: CleanupRun,
): Promise<void> {
  const cleanup = new RecordCleanup(database, table, rule, run);
  let nodeIds = await nodesAfter(database.read, '', NODES_AT_ONCE);
  while (nodeIds.length > 0) {
    for (const { nodeId, count } of await countByNode(database.read, table, nodeIds))
      await cleanup.takeNode(nodeId, count);
    await nextTurn();
    run.signal.throwIfAborted();
    nodeIds = await nodesAfter(database.read, nodeIds.at(-1) ?? '', NODES_AT_ONCE);
  }
  await cleanup.deleteDue();
}

class RecordCleanup {
  private readonly database: Database;
  private readonly table: RecordTable;
  private readonly rule: RecordRule;
  private readonly run: CleanupRun;
  /** The time of the newest record that may go, in epoch milliseconds. */
  private readonly until: number;
  private due: number[] = [];

  constructor(database: Database, table: RecordTable, rule: RecordRule, run: CleanupRun) {
    this.database = database;
    this.table = table;
    this.rule = rule;
    this.run = run;
    this.until = run.now - rule.keepDays * DAY;
  }

  /** Notes what is to be deleted of a node's records, and deletes what is noted once that is much. */
  async takeNode(nodeId: string, count: number): Promise<void> {
    const { database, table, until, run } = this;
    run.outcome.keptCount += count;
    let excess = count - this.rule.keepCount;
    if (run.isDryRun && excess > 0)
      this.move(await countOldest(database.read, table, { nodeId, until, limit: excess }));
    while (!run.isDryRun && excess > 0) {
      const limit = Math.min(excess, KEYS_AT_ONCE - this.due.length);
      const keys = await oldestKeys(database.read, table, { nodeId, until, limit });
      for (const key of keys) this.due.push(key);
      excess = keys.length < limit ? 0 : excess - limit;
      if (this.due.length === KEYS_AT_ONCE) await this.deleteDue();
    }
  }

  /**
   * Deletes the records of all nodes in the order in which they were written. Records that were written together share
   * their pages, so far fewer pages are changed than if one node followed the other.
   */
  async deleteDue(): Promise<void> {
    const keys = Float64Array.from(this.due).sort();
    this.due = [];
    let done = 0;
    while (done < keys.length) {
      this.run.signal.throwIfAborted();
      const from = done;
      const [deleted, to] = await this.database.writeUnflushed
        .transaction()
        .execute((trx) => this.deleteSlice(trx, keys, from));
      done = to;
      this.move(deleted);
      await sleep(PAUSE);
    }
  }

  /** @returns how many records were deleted, and the place of the first one that was left out because time was over */
  private async deleteSlice(
    trx: Db,
    keys: Float64Array,
    from: number,
  ): Promise<[deleted: number, to: number]> {
    const end = performance.now() + BUDGET;
    let deleted = 0;
    let at = from;
    do {
      const some = keys.subarray(at, at + RECORDS_AT_ONCE);
      deleted += await deleteKeys(trx, this.table, some, this.until);
      at += some.length;
    } while (at < keys.length && performance.now() < end);
    return [deleted, at];
  }

  private move(count: number): void {
    this.run.outcome.deletedCount += count;
    this.run.outcome.keptCount -= count;
  }
}

async function nodesAfter(db: Db, nodeId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('nodes')
    .select('id')
    .where('id', '>', nodeId)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

async function countByNode(
  db: Db,
  table: RecordTable,
  nodeIds: readonly string[],
): Promise<{ nodeId: string; count: number }[]> {
  const { rows } = await sql<{ nodeId: string; count: number }>`
    select node_id as "nodeId", count(*) as count from ${sql.table(table)}
    where node_id in (${sql.join([...nodeIds])}) group by node_id`.execute(db);
  return rows;
}

/** Some of a node's records, the oldest first. */
interface Oldest {
  nodeId: string;
  /** The time of the newest, in epoch milliseconds. */
  until: number;
  limit: number;
}

async function oldestKeys(db: Db, table: RecordTable, oldest: Oldest): Promise<number[]> {
  const key = sql.ref(KEYS[table]);
  const { rows } = await sql<{ key: number }>`select ${key} as key ${from(table, oldest)}`.execute(db);
  return rows.map((row) => row.key);
}

async function countOldest(db: Db, table: RecordTable, oldest: Oldest): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (select 1 ${from(table, oldest)}) oldest`.execute(db);
  return rows[0]?.count ?? 0;
}

function from(table: RecordTable, { nodeId, until, limit }: Oldest) {
  return sql`from ${sql.table(table)} where node_id = ${nodeId} and timestamp <= ${until}
    order by timestamp, ${sql.ref(KEYS[table])} limit ${limit}`;
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
