/** Reads and writes of roles. */

import type { Selectable } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { RolesTable } from '../../db/schema.ts';

export type RoleRow = Selectable<RolesTable>;

export function findRole(db: Db, id: string): Promise<RoleRow | undefined> {
  return db.selectFrom('roles').selectAll().where('id', '=', id).executeTakeFirst();
}

/** By name, without regard to case. */
export async function listRoles(db: Db, { take, skip }: { take: number; skip: number }) {
  const { total } = await db
    .selectFrom('roles')
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('roles')
    .selectAll()
    .orderBy('name_key')
    .limit(take)
    .offset(skip)
    .execute();
  return { rows, total };
}

/** What each of these roles holds; a role without permissions is not among the keys. */
export async function permissionsOfRoles(
  db: Db,
  roleIds: readonly string[],
): Promise<Map<string, Set<string>>> {
  const held = new Map<string, Set<string>>();
  if (roleIds.length === 0) return held;
  const rows = await db.selectFrom('role_permissions').selectAll().where('role_id', 'in', roleIds).execute();
  for (const { role_id, permission } of rows) {
    const ofRole = held.get(role_id) ?? new Set();
    held.set(role_id, ofRole.add(permission));
  }
  return held;
}

export async function permissionsOfRole(db: Db, roleId: string): Promise<Set<string>> {
  return (await permissionsOfRoles(db, [roleId])).get(roleId) ?? new Set();
}

export async function insertRole(db: Db, role: RoleRow): Promise<void> {
  await db.insertInto('roles').values(role).execute();
}

export async function updateRole(
  db: Db,
  id: string,
  change: Pick<RoleRow, 'name' | 'name_key' | 'description' | 'modified_at'>,
): Promise<void> {
  await db.updateTable('roles').set(change).where('id', '=', id).execute();
}

export async function addPermissions(db: Db, roleId: string, permissions: readonly string[]): Promise<void> {
  if (permissions.length === 0) return;
  const rows = permissions.map((permission) => ({ role_id: roleId, permission }));
  await db.insertInto('role_permissions').values(rows).execute();
}

export async function removePermissions(
  db: Db,
  roleId: string,
  permissions: readonly string[],
): Promise<void> {
  if (permissions.length === 0) return;
  await db
    .deleteFrom('role_permissions')
    .where('role_id', '=', roleId)
    .where('permission', 'in', permissions)
    .execute();
}

/** Takes it from all users and groups that hold it, too. */
export async function deleteRole(db: Db, id: string): Promise<void> {
  await db.deleteFrom('roles').where('id', '=', id).execute();
}
