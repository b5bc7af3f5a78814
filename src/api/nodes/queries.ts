/** What other segments ask of the node list: the rule of staleness, and counts of nodes at a moment. */

import type { Database } from '../../db/database.ts';
import { readServerSettings } from '../../db/settings.ts';
import type { StalenessRule } from '../../db/staleness.ts';

export { TimeCounts } from './list-conditions.ts';

/** The rule as the server's settings have it. */
export async function stalenessRule({ read }: Pick<Database, 'read'>, now: number): Promise<StalenessRule> {
  const { stalenessMultiplier } = await readServerSettings(read);
  return { now, stalenessMultiplier };
}
