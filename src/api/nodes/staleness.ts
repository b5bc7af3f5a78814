/** Which nodes are stale. */

import { type SqlBool, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { readServerSettings } from '../settings/queries.ts';

/** A node is stale when its last check-in was more than `stalenessMultiplier` of its own intervals before `now`. */
export interface StalenessRule {
  now: number;
  stalenessMultiplier: number;
}

/** The rule as the server's settings have it. */
export async function stalenessRule({ read }: Pick<Database, 'read'>, now: number): Promise<StalenessRule> {
  const { stalenessMultiplier } = await readServerSettings(read);
  return { now, stalenessMultiplier };
}

/** The condition is false while the last check-in or the reported interval is unknown. */
export function isStale({ now, stalenessMultiplier }: StalenessRule) {
  const lastCheckIn = sql`(select last_check_in from node_check_ins where node_id = nodes.id)`;
  const limit = sql`${sql.ref('nodes.configuration_mode_interval_ms')} * cast(${stalenessMultiplier} as double precision)`;
  return sql<SqlBool>`coalesce(${now} - ${lastCheckIn} > ${limit}, false)`;
}
