/** Reads and writes of registration keys. */

import type { Selectable } from 'kysely';
import { sha256Hex } from '../lib/hash.ts';
import type { Db } from './database.ts';
import { Table } from './rows.ts';
import type { RegistrationKeysTable } from './schema.ts';

export type RegistrationKeyRow = Selectable<RegistrationKeysTable>;

export const REGISTRATION_KEYS = new Table('registration_keys', {
  order: ['created_at', 'id'],
  newestFirst: true,
  missing: 'No such registration key',
});

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
