/** The rules for nodes that register, as they are stored: one setting of the server, which is replaced as a whole. */

import type { Db } from './database.ts';
import type { StoredGift } from './registration-keys.ts';

/** What a rule gives to nodes whose names fit its pattern. */
export interface JoiningRule extends StoredGift {
  fqdnPattern: string;
}

/** The member of the settings. */
export const JOINING_RULES = 'joiningRules';

/** @returns the rules, and the text in which they are stored; null where there are none */
export async function readStoredRules(
  db: Db,
): Promise<{ rules: readonly JoiningRule[]; text: string | null }> {
  const row = await db
    .selectFrom('server_settings')
    .select('value')
    .where('name', '=', JOINING_RULES)
    .executeTakeFirst();
  return row === undefined
    ? { rules: [], text: null }
    : { rules: JSON.parse(row.value) as JoiningRule[], text: row.value };
}
