/** Reads and writes of registration keys. */

import type { Insertable, Selectable } from 'kysely';
import type { Db } from '../../db/database.ts';
import { Table } from '../../db/rows.ts';
import type { RegistrationKeysTable } from '../../db/schema.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { sha256Hex } from '../../lib/hash.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';

export type RegistrationKeyRow = Selectable<RegistrationKeysTable>;

export const REGISTRATION_KEYS = new Table('registration_keys', {
  order: ['created_at', 'id'],
  newestFirst: true,
  missing: 'No such registration key',
});

/** Adds the key and its entry in the audit trail. */
export async function insertKey(
  trx: Db,
  actor: Actor,
  key: Insertable<RegistrationKeysTable>,
): Promise<RegistrationKeyRow> {
  const row = await REGISTRATION_KEYS.insert(trx, key);
  const { id: resourceId, description, max_uses: maxUses, expires_at } = row;
  const allowReregistration = row.allow_reregistration === 1;
  const details = { description, maxUses, allowReregistration, expiresAt: toTimestamp(expires_at) };
  await recordAudit(trx, actor, { action: 'registration_key.created', resourceId, details });
  return row;
}

export function findKeyBySecret(db: Db, secret: string): Promise<RegistrationKeyRow | undefined> {
  return db
    .selectFrom('registration_keys')
    .selectAll()
    .where('key_hash', '=', sha256Hex(secret))
    .executeTakeFirst();
}

export async function countUse(db: Db, id: string): Promise<void> {
  await db
    .updateTable('registration_keys')
    .set((old) => ({ current_uses: old('current_uses', '+', 1) }))
    .where('id', '=', id)
    .execute();
}
