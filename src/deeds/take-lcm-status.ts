/** Stores what nodes tell of their LCM: the status in the row of the node, and an event, in one commit with those of others. */

import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import { GroupCommit } from '../db/group-commit.ts';
import { NodeOrder } from '../db/node-order.ts';
import { noteLcmFailed } from '../db/outcomes.ts';
import { takeNotesTurn } from '../db/running.ts';
import { type HawserError, unauthenticated } from '../lib/errors.ts';

export interface ToldStatus {
  nodeId: string;
  lcmStatus: string;
  /** Epoch milliseconds. */
  now: number;
}

export type StatusWriter = GroupCommit<ToldStatus, null>;

/** The bytes of a row and of its entries in indexes, roughly. */
const ROW_BYTES = 200;

export function openStatusWriter({ writeNow }: Pick<Database, 'writeNow'>): StatusWriter {
  return new GroupCommit<ToldStatus, null>(writeNow, { write: writeStatuses, sizeOf: () => ROW_BYTES });
}

/** @returns null for each status that was stored, or the error of one whose node was deleted after it was let in */
export async function writeStatuses(trx: Db, told: readonly ToldStatus[]): Promise<(HawserError | null)[]> {
  // No node is deleted while this transaction has the turn.
  await takeNotesTurn(trx, () => []);
  const ids = [...new Set(told.map(({ nodeId }) => nodeId))];
  const found = await trx
    .selectFrom('nodes')
    .select(['id', 'lcm_status'])
    .where(engineOf(trx).isOneOf('id', ids))
    .execute();
  const before = new Map(found.map(({ id, lcm_status }) => [id, lcm_status]));
  const stored = told.filter(({ nodeId }) => before.has(nodeId));
  // A node may have told several. The last one stays.
  const last = new Map(stored.map(({ nodeId, lcmStatus }) => [nodeId, lcmStatus]));
  const changed = [...last].filter(([nodeId, lcmStatus]) => before.get(nodeId) !== lcmStatus);
  if (changed.length > 0)
    await sql`update nodes set lcm_status = given.value ->> 1
      from ${engineOf(trx).rows(changed)} given where nodes.id = given.value ->> 0`.execute(trx);
  await noteFailures(trx, before, last);
  const order = await NodeOrder.of(trx, ids);
  const events = stored.map(({ nodeId: node_id, lcmStatus: lcm_status, now }) => ({
    ...{ node_id, lcm_status, timestamp: order.next(node_id, now) },
    status: null,
  }));
  if (events.length > 0) await trx.insertInto('status_events').values(events).execute();
  return told.map(({ nodeId }) =>
    before.has(nodeId) ? null : unauthenticated('The node was deleted just now'),
  );
}

/**
 * A status of Error counts for what nodes have applied until they tell another one, or report again.
 * @param before the status that each node had
 * @param last the status that it has now
 */
async function noteFailures(
  trx: Db,
  before: ReadonlyMap<string, string>,
  last: ReadonlyMap<string, string>,
): Promise<void> {
  const told = [...last];
  const failed = told.flatMap(([nodeId, status]) => (status === 'Error' ? nodeId : []));
  const over = told.flatMap(([nodeId, status]) =>
    status !== 'Error' && before.get(nodeId) === 'Error' ? nodeId : [],
  );
  await noteLcmFailed(trx, failed, true);
  await noteLcmFailed(trx, over, false);
}
