/** Reads and deletes of what nodes leave behind, by node: reports and status events. */

import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';

export type RecordTable = 'reports' | 'status_events';

/** The column that rises with the order of writing. */
const KEYS = { reports: 'seq', status_events: 'id' } as const;

/** All of a node's records that are not after this one go. */
export interface Bound {
  nodeId: string;
  timestamp: number;
  /** Among those of that time. */
  key: number;
}

export async function nodesAfter(db: Db, nodeId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('nodes')
    .select('id')
    .where('id', '>', nodeId)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

export async function countByNode(
  db: Db,
  table: RecordTable,
  nodeIds: readonly string[],
): Promise<{ nodeId: string; count: number }[]> {
  const { rows } = await sql<{ nodeId: string; count: number }>`
    select node_id as "nodeId", count(*) as count from ${sql.table(table)}
    where node_id in (${sql.join([...nodeIds])}) group by node_id`.execute(db);
  return rows;
}

/** The newest record of a node but so many; undefined where there are no more than these. */
export async function newestBeyond(
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

export async function countUpTo(db: Db, table: RecordTable, bound: Bound): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)} where ${upTo(table, bound)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Deletes the oldest first. @returns how many there were to delete, at most `limit` */
export async function deleteUpTo(db: Db, table: RecordTable, bound: Bound, limit: number): Promise<number> {
  const key = sql.ref(KEYS[table]);
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where ${key} in (
      select ${key} from ${sql.table(table)} where ${upTo(table, bound)}
      order by timestamp, ${key} limit ${limit})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** So that the range of the index that is read begins and ends with what goes. */
function upTo(table: RecordTable, { nodeId, timestamp, key }: Bound) {
  return sql`node_id = ${nodeId} and timestamp <= ${timestamp}
    and not (timestamp = ${timestamp} and ${sql.ref(KEYS[table])} > ${key})`;
}
