/** Reads and writes of the registry of composite configurations. */

import type { Selectable } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { CompositesTable } from '../../db/schema.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { readableIds } from '../../security/rights.ts';

export type CompositeRow = Selectable<CompositesTable>;

export function findComposite(db: Db, id: string): Promise<CompositeRow | undefined> {
  return db.selectFrom('composites').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Looks without regard to case, as names are unique that way. */
export async function isCompositeNameTaken(db: Db, name: string): Promise<boolean> {
  const row = await db
    .selectFrom('composites')
    .select('id')
    .where('name_key', '=', name.toLowerCase())
    .executeTakeFirst();
  return row !== undefined;
}

export async function insertComposite(
  db: Db,
  composite: Omit<CompositeRow, 'name_key' | 'updated_at'>,
): Promise<void> {
  const { name, created_at } = composite;
  await db
    .insertInto('composites')
    .values({ ...composite, name_key: name.toLowerCase(), updated_at: created_at })
    .execute();
}

/** @returns whether it was there */
export async function deleteCompositeRow(db: Db, id: string): Promise<boolean> {
  const row = await db.deleteFrom('composites').where('id', '=', id).returning('id').executeTakeFirst();
  return row !== undefined;
}

/** Those the caller may read, by name. */
export async function listReadableComposites(
  db: Db,
  principal: UserPrincipal,
  { take, skip }: { take: number; skip: number },
) {
  const ids = readableIds(db, principal, 'composite');
  const all = db.selectFrom('composites');
  const readable = ids === 'all' ? all : all.where('id', 'in', ids);
  const { total } = await readable
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await readable.selectAll().orderBy('name').limit(take).offset(skip).execute();
  return { rows, total };
}

/** Ids of configurations by their names. */
export async function findConfigurationIds(db: Db, names: readonly string[]): Promise<Map<string, string>> {
  // SQLite alone takes an empty list.
  if (names.length === 0) return new Map();
  const rows = await db
    .selectFrom('configurations')
    .select(['id', 'name'])
    .where('name', 'in', [...names])
    .execute();
  return new Map(rows.map((row) => [row.name, row.id]));
}
