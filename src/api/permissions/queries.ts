/** Reads and writes of grants. */

import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { GrantsTable } from '../../db/schema.ts';
import type { GrantKind, GrantLevel } from '../../domain/permissions.ts';

export interface GrantTarget {
  on: GrantKind;
  resourceId: string;
}

export interface GrantHolder {
  principalType: GrantsTable['principal_type'];
  principalId: string;
}

/** Grants on one thing by the names of their holders. */
export async function listGrants(
  db: Db,
  { on, resourceId }: GrantTarget,
  { take, skip }: { take: number; skip: number },
) {
  const held = db.selectFrom('grants').where('resource_kind', '=', on).where('resource_id', '=', resourceId);
  const { total } = await held.select((of) => of.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await held
    .leftJoin('users', (join) =>
      join.onRef('users.id', '=', 'grants.principal_id').on('grants.principal_type', '=', 'User'),
    )
    .leftJoin('groups', (join) =>
      join.onRef('groups.id', '=', 'grants.principal_id').on('grants.principal_type', '=', 'Group'),
    )
    .select([
      'grants.principal_type',
      'grants.principal_id',
      'grants.level',
      'grants.granted_at',
      'grants.granted_by',
      sql<string>`coalesce(users.username, groups.name, '')`.as('principal_name'),
    ])
    .orderBy('grants.principal_type')
    .orderBy('principal_name')
    .limit(take)
    .offset(skip)
    .execute();
  return { rows, total };
}

/** Whether what the grant would stand on is there; no foreign key says so. */
export async function targetExists(db: Db, { on, resourceId }: GrantTarget): Promise<boolean> {
  const table = on === 'composite' ? 'composites' : 'configurations';
  const row = await db.selectFrom(table).select('id').where('id', '=', resourceId).executeTakeFirst();
  return row !== undefined;
}

export async function principalExists(db: Db, { principalType, principalId }: GrantHolder): Promise<boolean> {
  const table = principalType === 'User' ? 'users' : 'groups';
  const row = await db.selectFrom(table).select('id').where('id', '=', principalId).executeTakeFirst();
  return row !== undefined;
}

/** The level that is granted to this very holder; undefined for none. */
export async function findGrantedLevel(
  db: Db,
  target: GrantTarget,
  holder: GrantHolder,
): Promise<GrantLevel | undefined> {
  const row = await db
    .selectFrom('grants')
    .select('level')
    .where('resource_kind', '=', target.on)
    .where('resource_id', '=', target.resourceId)
    .where('principal_type', '=', holder.principalType)
    .where('principal_id', '=', holder.principalId)
    .executeTakeFirst();
  return row?.level;
}

/** Grants a level, in place of one that the holder may have. */
export async function saveGrant(
  db: Db,
  target: GrantTarget,
  holder: GrantHolder,
  grant: { level: GrantLevel; grantedBy: string; now: number },
): Promise<void> {
  const change = { level: grant.level, granted_at: grant.now, granted_by: grant.grantedBy };
  await db
    .insertInto('grants')
    .values({
      resource_kind: target.on,
      resource_id: target.resourceId,
      principal_type: holder.principalType,
      principal_id: holder.principalId,
      ...change,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['resource_kind', 'resource_id', 'principal_type', 'principal_id'])
        .doUpdateSet(change),
    )
    .execute();
}

/** @returns the level that was granted; undefined where there was no such grant */
export async function deleteGrant(
  db: Db,
  target: GrantTarget,
  holder: GrantHolder,
): Promise<GrantLevel | undefined> {
  const row = await db
    .deleteFrom('grants')
    .where('resource_kind', '=', target.on)
    .where('resource_id', '=', target.resourceId)
    .where('principal_type', '=', holder.principalType)
    .where('principal_id', '=', holder.principalId)
    .returning('level')
    .executeTakeFirst();
  return row?.level;
}
