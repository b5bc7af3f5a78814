/** Which nodes are stale. */

import { type SqlBool, sql } from 'kysely';
import type { Database } from './database.ts';
import { readServerSettings } from './settings.ts';

/** A node is stale when its last check-in was more than `stalenessMultiplier` of its own intervals before `now`. */
export interface StalenessRule {
  /** Epoch milliseconds. */
  now: number;
  stalenessMultiplier: number;
}

/**
 * Whether a row of `nodes`, joined with its row of `node_check_ins`, is stale. It is false while the last check-in or the
 * reported interval is unknown. Whoever tells it asks this, so that no two answers of one moment differ.
 */
export const isStale = ({ now, stalenessMultiplier }: StalenessRule) =>
  sql<SqlBool>`coalesce(${now} - node_check_ins.last_check_in >
    nodes.configuration_mode_interval_ms * cast(${stalenessMultiplier} as double precision), false)`;

/** The rule as the server's settings have it. */
export async function stalenessRule({ read }: Pick<Database, 'read'>, now: number): Promise<StalenessRule> {
  const { stalenessMultiplier } = await readServerSettings(read);
  return { now, stalenessMultiplier };
}
