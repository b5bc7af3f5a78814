/**
 * The cleanup of reports and status events: for each node it deletes those that are beyond the newest `keepCount` and
 * older than `keepDays`.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { reportBytes } from '../db/report-bytes.ts';
import { DAY } from '../lib/clock.ts';
import type { CleanupRun } from '../versions/cleanup-run.ts';
import { deleteInTurns, KEYS, moveToDeleted, type RecordTable } from './delete-records.ts';
import { fitReports, type Gone } from './fit-reports.ts';

/** What is kept of a node's records: the newest, and all that are younger than so many days. */
export interface RecordRule {
  keepCount: number;
  keepDays: number;
}

/** How many nodes are read in one turn. */
const NODES_AT_ONCE = 20;
/** The keys that are collected before their records are deleted. Sorting so many takes some 10 ms. */
const KEYS_AT_ONCE = 100_000;

/**
 * @param maxBytes what all reports may take; null where there is no limit
 * @throws what ends the run: the signal's reason, or a fault of the database; what was deleted until then is gone
 */
export async function cleanRecords(
  database: Database,
  table: RecordTable,
  rule: RecordRule,
  run: CleanupRun,
  maxBytes: number | null = null,
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
  if (maxBytes !== null && table === 'reports') await fitReports(database, maxBytes, cleanup.gone, run);
}

class RecordCleanup {
  private readonly database: Database;
  private readonly table: RecordTable;
  private readonly rule: RecordRule;
  private readonly run: CleanupRun;
  /** The time of the newest record that may go, in epoch milliseconds. */
  private readonly until: number;
  private due: number[] = [];
  private goneBytes = 0;
  private readonly lastByNode = new Map<string, number>();

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
    if (run.isDryRun && excess > 0) {
      const oldest = await sumOldest(database.read, table, { nodeId, until, limit: excess });
      moveToDeleted(run, oldest.count);
      this.goneBytes += oldest.bytes;
      this.lastByNode.set(nodeId, oldest.last ?? 0);
    }
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
    const { due } = this;
    this.due = [];
    await deleteInTurns(this.database, this.table, due, this.until, this.run);
  }

  /** What a dry run would have deleted. */
  get gone(): Gone {
    return { bytes: this.goneBytes, lastByNode: this.lastByNode };
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

/** Only reports have bytes. */
async function sumOldest(db: Db, table: RecordTable, oldest: Oldest) {
  const [key, bytes] = [sql.ref(KEYS[table]), table === 'reports' ? reportBytes(db) : sql`0`];
  const { rows } = await sql<{ count: number; last: number | null; bytes: number }>`
    select count(*) as count, max(key) as last, cast(coalesce(sum(bytes), 0) as bigint) as bytes
    from (select ${key} as key, ${bytes} as bytes ${from(table, oldest)}) oldest`.execute(db);
  return rows[0] ?? { count: 0, last: null, bytes: 0 };
}

function from(table: RecordTable, { nodeId, until, limit }: Oldest) {
  return sql`from ${sql.table(table)} where node_id = ${nodeId} and timestamp <= ${until}
    order by timestamp, ${sql.ref(KEYS[table])} limit ${limit}`;
}
