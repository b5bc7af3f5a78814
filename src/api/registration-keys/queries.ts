/** Reads and writes of registration keys. */

import type { Selectable } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { RegistrationKeysTable } from '../../db/schema.ts';
import { sha256Hex } from '../../lib/hash.ts';

export type RegistrationKeyRow = Selectable<RegistrationKeysTable>;

export interface NewKey {
  id: string;
  secret: string;
  prefix: string;
  description: string | null;
  createdAt: number;
  expiresAt: number;
  maxUses: number | null;
  allowReregistration: boolean;
}

export function insertKey(db: Db, key: NewKey): Promise<RegistrationKeyRow> {
  return db
    .insertInto('registration_keys')
    .values({
      id: key.id,
      key_hash: sha256Hex(key.secret),
      key_prefix: key.prefix,
      description: key.description,
      created_at: key.createdAt,
      expires_at: key.expiresAt,
      max_uses: key.maxUses,
      revoked_at: null,
      allow_reregistration: key.allowReregistration ? 1 : 0,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
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

/** Newest first. */
export async function listKeys(db: Db, { take, skip }: { take: number; skip: number }) {
  const { total } = await db
    .selectFrom('registration_keys')
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('registration_keys')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(take)
    .offset(skip)
    .execute();
  return { rows, total };
}

export function findKey(db: Db, id: string): Promise<RegistrationKeyRow | undefined> {
  return db.selectFrom('registration_keys').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function describeKey(db: Db, id: string, description: string | null): Promise<void> {
  await db.updateTable('registration_keys').set({ description }).where('id', '=', id).execute();
}

export async function revokeKey(db: Db, id: string, now: number): Promise<void> {
  await db.updateTable('registration_keys').set({ revoked_at: now }).where('id', '=', id).execute();
}
