/**
 * The cleanup of reports and status events: for each node it deletes those that are beyond the newest `keepCount` and
 * older than `keepDays`. Its transactions are so short that no writer waits for long, with pauses between them.
 */

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database, Db } from '../../db/open.ts';
import { DAY } from '../../lib/clock.ts';
import type { CleanupRun } from '../../versions/retention.ts';

export type RecordTable = 'reports' | 'status_events';

/** The columns that rise with the order of writing. */
const KEYS = { reports: 'seq', status_events: 'id' } as const;

/** The newest record of a node that is deleted. All of the node's records before it are deleted too. */
interface Bound {
  nodeId: string;
  timestamp: number;
  /** The order among the records of that time. */
  key: number;
}

/** What is kept of a node's records: the newest, and all that are younger than so many days. */
export interface RecordRule {
  keepCount: number;
  keepDays: number;
}

/** How many nodes are read in one turn. */
const NODES_AT_ONCE = 100;
/** Records per statement. A report may have megabytes, so the clock is read after a few of them. */
const RECORDS_AT_ONCE = 10;
/** Milliseconds after which a transaction begins no further statement. Its commit takes more time. */
const BUDGET = 2;
/** The pause between two transactions, in milliseconds. */
const PAUSE = 5;

export async function cleanRecords(
  database: Database,
  table: RecordTable,
  rule: RecordRule,
  run: CleanupRun,
): Promise<void> {
  const { outcome, isDryRun, signal } = run;
  const { read } = database;
  let nodeIds = await nodesAfter(read, '', NODES_AT_ONCE);
  while (nodeIds.length > 0) {
    const due: Bound[] = [];
    for (const { nodeId, count } of await countByNode(read, table, nodeIds)) {
      outcome.keptCount += count;
      if (count > rule.keepCount) due.push(...(await boundOf(database, table, nodeId, rule, run)));
    }
    for (const bound of isDryRun ? due : []) move(run, await countUpTo(read, table, bound));
    if (!isDryRun) await deleteAll(database, table, due, run);
    await nextTurn();
    signal.throwIfAborted();
    nodeIds = await nodesAfter(read, nodeIds.at(-1) ?? '', NODES_AT_ONCE);
  }
}

/** The newest record to delete: the first one beyond `keepCount`, or the newest of `keepDays` ago if that is older. */
async function boundOf(
  { read }: Database,
  table: RecordTable,
  nodeId: string,
  { keepCount, keepDays }: RecordRule,
  { now }: CleanupRun,
): Promise<Bound[]> {
  const beyond = await newestBeyond(read, table, nodeId, keepCount);
  if (beyond === undefined) return [];
  const oldest = now - keepDays * DAY;
  return [beyond.timestamp <= oldest ? beyond : { nodeId, timestamp: oldest, key: Number.MAX_SAFE_INTEGER }];
}

async function deleteAll(
  { write }: Database,
  table: RecordTable,
  due: Bound[],
  run: CleanupRun,
): Promise<void> {
  while (due.length > 0) {
    run.signal.throwIfAborted();
    const deleted = await write.transaction().execute(async (trx) => {
      const end = performance.now() + BUDGET;
      let sum = 0;
      while (due[0] !== undefined && performance.now() < end) {
        const count = await deleteUpTo(trx, table, due[0], RECORDS_AT_ONCE);
        sum += count;
        if (count < RECORDS_AT_ONCE) due.shift();
      }
      return sum;
    });
    move(run, deleted);
    if (deleted > 0) await sleep(PAUSE);
  }
}

function move({ outcome }: CleanupRun, count: number): void {
  outcome.deletedCount += count;
  outcome.keptCount -= count;
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

/** The newest record of a node beyond the newest `keepCount`. Undefined where there are no more than these. */
async function newestBeyond(
  db: Db,
  table: RecordTable,
  nodeId: string,
  keepCount: number,
): Promise<Bound | undefined> {
  const key = sql.ref(KEYS[table]);
  const { rows } = await sql<Bound>`
    select node_id as "nodeId", timestamp, ${key} as key from ${sql.table(table)}
    where node_id = ${nodeId} order by timestamp desc, ${key} desc limit 1 offset ${keepCount}`.execute(db);
  return rows[0];
}

async function countUpTo(db: Db, table: RecordTable, bound: Bound): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)} where ${upTo(table, bound)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Deletes the oldest records first. @returns how many were deleted, at most `limit` */
async function deleteUpTo(db: Db, table: RecordTable, bound: Bound, limit: number): Promise<number> {
  const key = sql.ref(KEYS[table]);
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where ${key} in (
      select ${key} from ${sql.table(table)} where ${upTo(table, bound)}
      order by timestamp, ${key} limit ${limit})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Written so that the range of the index that is read begins and ends with what goes. */
function upTo(table: RecordTable, { nodeId, timestamp, key }: Bound) {
  return sql`node_id = ${nodeId} and timestamp <= ${timestamp}
    and not (timestamp = ${timestamp} and ${sql.ref(KEYS[table])} > ${key})`;
}
