/**
 * What all servers on one PostgreSQL database share besides the registry. An SQLite database has one server, which keeps
 * these secrets in files, so there is no table there.
 */

import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';

/** The authority's certificate and key are PEM. */
export type SecretName = 'ca.crt' | 'ca.key' | 'ticket-keys' | 'first-password';

/** Whether the database has the table. */
export function keepsSecrets(db: Db): boolean {
  return engineOf(db).isShared;
}

/** @returns null where there is no secret of that name */
export async function readSecret(db: Db, name: SecretName): Promise<Buffer | null> {
  const row = await db.selectFrom('secrets').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value ?? null;
}

/** Writes a secret, also in place of another. */
export async function writeSecret(db: Db, name: SecretName, value: Buffer): Promise<void> {
  await db
    .insertInto('secrets')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

/** Gives the secret, which is made if there is none. Of several servers that make one at once, all get the same. */
export async function ensureSecret(db: Db, name: SecretName, make: () => Buffer): Promise<Buffer> {
  const there = await readSecret(db, name);
  if (there !== null) return there;
  const value = make();
  await db
    .insertInto('secrets')
    .values({ name, value })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await readSecret(db, name)) ?? value;
}

/** Removes a secret, if the database keeps it. */
export async function removeSecret(db: Db, name: SecretName): Promise<void> {
  if (keepsSecrets(db)) await db.deleteFrom('secrets').where('name', '=', name).execute();
}
