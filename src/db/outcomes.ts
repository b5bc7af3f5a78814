/** How the last report of a node went that names a checksum: having a version is not having applied it. */

import { sql } from 'kysely';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';

/** How it went for a node that runs a checksum: by its last report that names it, or by its LCM since. */
export const OUTCOMES = ['Failed', 'Applied', 'Untested'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A report that names a checksum. */
export interface NamedOutcome {
  nodeId: string;
  checksum: string;
  hadErrors: boolean;
}

/**
 * Notes outcomes in the order in which the reports came. Rows that stay as they are are not written. What is kept of
 * checksums that no node and no report names any more goes with the first outcome of another.
 */
export async function noteOutcomes(trx: Db, outcomes: readonly NamedOutcome[]): Promise<void> {
  const last = new Map(outcomes.map((each) => [`${each.nodeId} ${each.checksum}`, each]));
  if (last.size === 0) return;
  const values = Array.from(last.values(), ({ nodeId, checksum, hadErrors }) => [
    nodeId,
    checksum,
    Number(hadErrors),
  ]);
  const { rows } = await sql<{ node_id: string }>`
    insert into node_outcomes (node_id, checksum, had_errors, lcm_failed)
    select value ->> 0, value ->> 1, cast(value ->> 2 as integer), 0
    from ${engineOf(trx).rows(values)} given where true
    on conflict (node_id, checksum) do update set had_errors = excluded.had_errors, lcm_failed = 0
    where node_outcomes.had_errors <> excluded.had_errors or node_outcomes.lcm_failed <> 0
    returning node_id`.execute(trx);
  if (rows.length === 0) return;
  const nodeIds = [...new Set(rows.map((row) => row.node_id))];
  await sql`delete from node_outcomes where ${engineOf(trx).isOneOf('node_id', nodeIds)}
    and not exists (select 1 from checksum_uses u where u.checksum = node_outcomes.checksum and u.uses > 0)`.execute(
    trx,
  );
}

/** Notes that the LCM of some nodes is in status Error now, or no longer. */
export async function noteLcmFailed(trx: Db, nodeIds: readonly string[], isFailed: boolean): Promise<void> {
  if (nodeIds.length === 0) return;
  await trx
    .updateTable('node_outcomes')
    .set({ lcm_failed: Number(isFailed) })
    .where(engineOf(trx).isOneOf('node_id', nodeIds))
    .where('lcm_failed', '=', Number(!isFailed))
    .execute();
}
