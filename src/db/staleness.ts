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

/** Where the last check-in and the reported interval are, in SQL. */
interface Columns {
  lastCheckIn: string;
  interval: string;
}

/**
 * The condition, with `now` and `stalenessMultiplier` in the place of each `?`. It is false while the last check-in or
 * the reported interval is unknown.
 */
export const staleText = ({ lastCheckIn, interval }: Columns) =>
  `coalesce(? - ${lastCheckIn} > ${interval} * cast(? as double precision), false)`;

/** The same for a query of Kysely. */
export function isStaleBy(columns: Columns, { now, stalenessMultiplier }: StalenessRule) {
  const [before, between, after] = staleText(columns).split('?').map(sql.raw);
  return sql<SqlBool>`${before}${now}${between}${stalenessMultiplier}${after}`;
}

const OF_NODES = {
  lastCheckIn: '(select last_check_in from node_check_ins where node_id = nodes.id)',
  interval: 'nodes.configuration_mode_interval_ms',
};

/** Whether a row of `nodes` is stale. */
export const isStale = (rule: StalenessRule) => isStaleBy(OF_NODES, rule);

/** The rule as the server's settings have it. */
export async function stalenessRule({ read }: Pick<Database, 'read'>, now: number): Promise<StalenessRule> {
  const { stalenessMultiplier } = await readServerSettings(read);
  return { now, stalenessMultiplier };
}
