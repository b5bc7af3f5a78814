/** Reads and writes of the registry of configurations. */

import type { Selectable } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { ConfigurationsTable } from '../../db/schema.ts';
import { grantedIds, mayOverride, mayUseGrants } from '../../security/grants.ts';
import type { UserPrincipal } from '../../security/principal.ts';

export type ConfigurationRow = Selectable<ConfigurationsTable>;

export function findConfiguration(db: Db, id: string): Promise<ConfigurationRow | undefined> {
  return db.selectFrom('configurations').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Looks without regard to case, as names are unique that way. */
export async function isNameTaken(db: Db, name: string): Promise<boolean> {
  const row = await db
    .selectFrom('configurations')
    .select('id')
    .where('name_key', '=', name.toLowerCase())
    .executeTakeFirst();
  return row !== undefined;
}

export async function insertConfiguration(
  db: Db,
  configuration: Omit<ConfigurationRow, 'name_key' | 'updated_at'>,
): Promise<void> {
  const { name, created_at } = configuration;
  await db
    .insertInto('configurations')
    .values({ ...configuration, name_key: name.toLowerCase(), updated_at: created_at })
    .execute();
}

/** The creator's Manage. Left out for a user who is gone, and where one is left of a row that was lost. */
export async function grantToCreator(
  db: Db,
  configurationId: string,
  userId: string,
  now: number,
): Promise<void> {
  const user = await db.selectFrom('users').select('id').where('id', '=', userId).executeTakeFirst();
  if (!user) return;
  await db
    .insertInto('grants')
    .values({
      resource_kind: 'configuration',
      resource_id: configurationId,
      principal_type: 'User',
      principal_id: userId,
      level: 'Manage',
      granted_at: now,
      granted_by: userId,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Those the caller may read, by name. */
export async function listReadable(
  db: Db,
  principal: UserPrincipal,
  { take, skip }: { take: number; skip: number },
) {
  let readable = db.selectFrom('configurations');
  if (!mayOverride(principal, 'configuration')) {
    if (!mayUseGrants(principal, 'configuration')) return { rows: [], total: 0 };
    readable = readable.where('id', 'in', grantedIds(db, principal, 'configuration'));
  }
  const { total } = await readable
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await readable.selectAll().orderBy('name').limit(take).offset(skip).execute();
  return { rows, total };
}
