/** The rule of staleness as it is now, and how lists of nodes ask by it. */

import type { Database } from '../../db/database.ts';
import { isStaleBy, type StalenessRule } from '../../db/staleness.ts';
import { readServerSettings } from '../settings/queries.ts';

export type { StalenessRule };

/** The rule as the server's settings have it. */
export async function stalenessRule({ read }: Pick<Database, 'read'>, now: number): Promise<StalenessRule> {
  const { stalenessMultiplier } = await readServerSettings(read);
  return { now, stalenessMultiplier };
}

const COLUMNS = {
  lastCheckIn: '(select last_check_in from node_check_ins where node_id = nodes.id)',
  interval: 'nodes.configuration_mode_interval_ms',
};

/** Whether a row of `nodes` is stale. */
export const isStale = (rule: StalenessRule) => isStaleBy(COLUMNS, rule);
