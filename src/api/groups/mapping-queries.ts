/** Reads and writes of mappings of external groups. */

import type { Selectable } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { ExternalGroupMappingsTable } from '../../db/schema.ts';

export type MappingRow = Selectable<ExternalGroupMappingsTable> & { group_name: string };

function withGroupName(db: Db) {
  return db
    .selectFrom('external_group_mappings')
    .innerJoin('groups', 'groups.id', 'external_group_mappings.group_id')
    .selectAll('external_group_mappings')
    .select('groups.name as group_name');
}

/** By provider, then by what the provider calls the group. */
export async function listMappings(db: Db, { take, skip }: { take: number; skip: number }) {
  const { total } = await db
    .selectFrom('external_group_mappings')
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await withGroupName(db)
    .orderBy('provider')
    .orderBy('external_group_id')
    .limit(take)
    .offset(skip)
    .execute();
  return { rows, total };
}

export function findMapping(db: Db, id: string): Promise<MappingRow | undefined> {
  return withGroupName(db).where('external_group_mappings.id', '=', id).executeTakeFirst();
}

export async function insertMapping(db: Db, mapping: Selectable<ExternalGroupMappingsTable>): Promise<void> {
  await db.insertInto('external_group_mappings').values(mapping).execute();
}

export async function deleteMapping(db: Db, id: string): Promise<void> {
  await db.deleteFrom('external_group_mappings').where('id', '=', id).execute();
}
