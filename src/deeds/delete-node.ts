/** Deletes a node. Its reports and events may be many, so they go first, in slices. What it ran at which time stays. */

import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { deleteNodeRow, requireNode } from '../db/nodes.ts';
import { endOfSlice, giveWay } from '../db/slices.ts';
import { notFound } from '../lib/errors.ts';
import { type Actor, recordAudit } from '../security/audit.ts';

/** The tables of which a node may have many rows, and their keys, which rise with the order of writing. */
const RECORDS = [
  { table: 'reports', key: 'seq' },
  { table: 'status_events', key: 'id' },
  { table: 'node_events', key: 'seq' },
] as const;

/** Records per statement, after which the clock is read. A report may have megabytes. */
const RECORDS_AT_ONCE = 10;

/**
 * Deletes a node with all that belongs to it, and lets other work go first between slices.
 * @throws HawserError not_found
 */
export async function removeNode(
  { write, nodeLookup }: Pick<Database, 'write' | 'nodeLookup'>,
  actor: Actor,
  nodeId: string,
): Promise<void> {
  const slice = () => write.transaction().execute((trx) => removeWithin(trx, actor, nodeId, endOfSlice()));
  while ((await slice()) === null) await giveWay();
  nodeLookup.noteEnded(nodeId, null);
}

/**
 * Deletes the records of a node, the oldest first, and then the node. If the server ends between two transactions, the
 * node is still there and has lost its oldest records, as after a cleanup.
 * @param until is when to stop, as `performance.now()` counts
 * @returns true; null where records are left for another transaction
 * @throws HawserError not_found
 */
export async function removeWithin(
  trx: Db,
  actor: Actor,
  nodeId: string,
  until: number,
): Promise<true | null> {
  await requireNode(trx, nodeId);
  for (const records of RECORDS) {
    while ((await deleteOldest(trx, records, nodeId)) === RECORDS_AT_ONCE) {
      if (performance.now() > until) return null;
    }
  }
  const fqdn = await deleteNodeRow(trx, nodeId, actor.at);
  if (fqdn === undefined) throw notFound('No such node');
  await recordAudit(trx, actor, { action: 'node.deleted', resourceId: nodeId, details: { fqdn } });
  return true;
}

/** @returns how many were deleted, at most `RECORDS_AT_ONCE` */
async function deleteOldest(
  trx: Db,
  { table, key }: (typeof RECORDS)[number],
  nodeId: string,
): Promise<number> {
  const oldest = sql`select ${sql.ref(key)} from ${sql.table(table)} where node_id = ${nodeId}
    order by timestamp, ${sql.ref(key)} limit ${RECORDS_AT_ONCE}`;
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where ${sql.ref(key)} in (${oldest})`.execute(trx);
  return Number(numAffectedRows ?? 0);
}
