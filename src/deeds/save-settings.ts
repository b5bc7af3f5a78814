/** Saves settings of the server. */

import type { Db } from '../db/database.ts';
import { type Actor, recordAudit } from '../security/audit.ts';

/**
 * Saves any subset of the settings, with an entry in the audit trail. Members that are undefined stay as they are.
 * @param group what the audit trail calls the settings
 * @param changes what it says of them
 */
export async function saveSettings(
  trx: Db,
  actor: Actor,
  group: string,
  members: object,
  changes: object,
): Promise<void> {
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    const row = { value: JSON.stringify(value) };
    await trx
      .insertInto('server_settings')
      .values({ name, ...row })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
      .execute();
  }
  const details = { settings: group, ...changes };
  await recordAudit(trx, actor, { action: 'settings.changed', resourceId: null, details });
}
