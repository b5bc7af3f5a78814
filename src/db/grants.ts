/** Reads and writes of grants. */

import { type Selectable, sql } from 'kysely';
import type { GrantKind, GrantLevel } from '../domain/permissions.ts';
import type { Db } from './database.ts';
import type { GrantsTable } from './schema.ts';

export interface GrantTarget {
  on: GrantKind;
  resourceId: string;
}

export interface GrantHolder {
  principalType: GrantsTable['principal_type'];
  principalId: string;
}

export type NamedGrantRow = Omit<Selectable<GrantsTable>, 'resource_kind' | 'resource_id'> & {
  principal_name: string;
};

/** Selects the grants on one thing, by the names of their holders. */
export function grantsOn(db: Db, { on, resourceId }: GrantTarget) {
  return db
    .selectFrom('grants')
    .leftJoin('users', (join) =>
      join.onRef('users.id', '=', 'grants.principal_id').on('grants.principal_type', '=', 'User'),
    )
    .leftJoin('groups', (join) =>
      join.onRef('groups.id', '=', 'grants.principal_id').on('grants.principal_type', '=', 'Group'),
    )
    .where('resource_kind', '=', on)
    .where('resource_id', '=', resourceId)
    .select([
      'grants.principal_type',
      'grants.principal_id',
      'grants.level',
      'grants.granted_at',
      'grants.granted_by',
      sql<string>`coalesce(users.username, groups.name, '')`.as('principal_name'),
    ])
    .orderBy('grants.principal_type')
    .orderBy('principal_name');
}

/** Whether what the grant is on exists. No foreign key of the table says so. */
export function targetExists(db: Db, { on, resourceId }: GrantTarget): Promise<boolean> {
  return exists(db, on === 'composite' ? 'composites' : 'configurations', resourceId);
}

export function principalExists(db: Db, { principalType, principalId }: GrantHolder): Promise<boolean> {
  return exists(db, principalType === 'User' ? 'users' : 'groups', principalId);
}

async function exists(
  db: Db,
  table: 'composites' | 'configurations' | 'users' | 'groups',
  id: string,
): Promise<boolean> {
  const row = await db.selectFrom(table).select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

/** The primary key of a grant. */
const keyOf = ({ on, resourceId }: GrantTarget, { principalType, principalId }: GrantHolder) => ({
  resource_kind: on,
  resource_id: resourceId,
  principal_type: principalType,
  principal_id: principalId,
});

/** The level that is granted to this holder itself, or undefined where there is no such grant. */
export async function findGrantedLevel(
  db: Db,
  target: GrantTarget,
  holder: GrantHolder,
): Promise<GrantLevel | undefined> {
  const grant = db.selectFrom('grants').where((of) => of.and(keyOf(target, holder)));
  return (await grant.select('level').executeTakeFirst())?.level;
}

/** Grants a level. It replaces a level that the holder has already. */
export async function saveGrant(
  db: Db,
  target: GrantTarget,
  holder: GrantHolder,
  { level, grantedBy, now }: { level: GrantLevel; grantedBy: string | null; now: number },
): Promise<void> {
  const key = keyOf(target, holder);
  const change = { level, granted_at: now, granted_by: grantedBy };
  await db
    .insertInto('grants')
    .values({ ...key, ...change })
    .onConflict((conflict) => conflict.columns(Object.keys(key) as (keyof typeof key)[]).doUpdateSet(change))
    .execute();
}

export async function deleteGrant(db: Db, target: GrantTarget, holder: GrantHolder): Promise<void> {
  await db
    .deleteFrom('grants')
    .where((of) => of.and(keyOf(target, holder)))
    .execute();
}
