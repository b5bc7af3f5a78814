/** Changes settings of the server. */

import type { Db } from '../db/database.ts';
import { changedMembers } from '../domain/changed-members.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';

/** What of a change is to be saved, and what the audit trail says beside the members that change. */
export interface Admitted {
  members: object;
  details: object;
}

/** Settings that are read and changed together. */
export interface SettingsRules {
  /** What the audit trail calls them. */
  name: string;
  read(db: Db, now: number): Promise<object>;
  /** Looks at a change before it is saved. Without this, every change is saved as it is. */
  admit?(trx: Db, change: object, now: number): Promise<Admitted>;
}

/** Saves what differs, with one entry of the audit trail. @returns the settings as they are then */
export async function changeSettings(
  trx: Db,
  { actor }: Caller,
  { name, read, admit }: SettingsRules,
  change: object,
): Promise<object> {
  const before = await read(trx, actor.at);
  const admitted = (await admit?.(trx, change, actor.at)) ?? { members: change, details: {} };
  const changes = changedMembers(before, admitted.members);
  if (changes === null) return before;
  await saveSettings(trx, actor, name, admitted.members, { ...changes, ...admitted.details });
  return read(trx, actor.at);
}

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
