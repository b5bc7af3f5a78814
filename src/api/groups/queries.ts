/** Reads and writes of groups, their members and their roles. */

import type { Selectable } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { GroupsTable } from '../../db/schema.ts';

export type GroupRow = Selectable<GroupsTable>;

interface Paging {
  take: number;
  skip: number;
}

export function findGroup(db: Db, id: string): Promise<GroupRow | undefined> {
  return db.selectFrom('groups').selectAll().where('id', '=', id).executeTakeFirst();
}

/** By name, without regard to case. */
export async function listGroups(db: Db, { take, skip }: Paging) {
  const { total } = await db
    .selectFrom('groups')
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('groups')
    .selectAll()
    .orderBy('name_key')
    .limit(take)
    .offset(skip)
    .execute();
  return { rows, total };
}

export async function insertGroup(db: Db, group: GroupRow): Promise<void> {
  await db.insertInto('groups').values(group).execute();
}

export async function updateGroup(
  db: Db,
  id: string,
  change: Partial<Omit<GroupRow, 'id' | 'created_at'>>,
): Promise<void> {
  await db.updateTable('groups').set(change).where('id', '=', id).execute();
}

/** Its memberships, roles, grants and external mappings go with it. */
export async function deleteGroup(db: Db, id: string): Promise<void> {
  await db.deleteFrom('groups').where('id', '=', id).execute();
}

const MEMBER_COLUMNS = [
  ...['users.id', 'users.username', 'users.email', 'users.account_type', 'users.is_active'],
  ...['users.require_password_change', 'users.lockout_end', 'users.created_at', 'users.modified_at'],
] as const;

function members(db: Db, groupId: string) {
  return db
    .selectFrom('group_members')
    .innerJoin('users', 'users.id', 'group_members.user_id')
    .where('group_members.group_id', '=', groupId);
}

/** All of them, by user name. */
export function allMembers(db: Db, groupId: string) {
  return members(db, groupId).select(MEMBER_COLUMNS).orderBy('users.username_key').execute();
}

export async function listMembers(db: Db, groupId: string, { take, skip }: Paging) {
  const { total } = await members(db, groupId)
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const page = members(db, groupId).select(MEMBER_COLUMNS).orderBy('users.username_key');
  return { rows: await page.limit(take).offset(skip).execute(), total };
}

/** Ids of the members with their names, in the order of the names. */
export async function memberNames(db: Db, groupId: string): Promise<Map<string, string>> {
  const rows = await members(db, groupId)
    .select(['users.id', 'users.username'])
    .orderBy('users.username_key')
    .execute();
  return new Map(rows.map((row) => [row.id, row.username]));
}

/** The same for those of the ids that users have. */
export async function userNames(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const known = db.selectFrom('users').select(['id', 'username']).where('id', 'in', ids);
  const rows = await known.orderBy('username_key').execute();
  return new Map(rows.map((row) => [row.id, row.username]));
}

export async function addMembers(db: Db, groupId: string, userIds: readonly string[]): Promise<void> {
  const rows = userIds.map((userId) => ({ group_id: groupId, user_id: userId }));
  await db.insertInto('group_members').values(rows).execute();
}

export async function removeMembers(db: Db, groupId: string, userIds: readonly string[]): Promise<void> {
  await db
    .deleteFrom('group_members')
    .where('group_id', '=', groupId)
    .where('user_id', 'in', userIds)
    .execute();
}

function heldRoles(db: Db, groupId: string) {
  return db
    .selectFrom('group_roles')
    .innerJoin('roles', 'roles.id', 'group_roles.role_id')
    .where('group_roles.group_id', '=', groupId);
}

/** All of them, by name. */
export function allRoles(db: Db, groupId: string) {
  return heldRoles(db, groupId)
    .select(['roles.id', 'roles.name', 'roles.is_system'])
    .orderBy('roles.name_key')
    .execute();
}

export async function listRolesOfGroup(db: Db, groupId: string, { take, skip }: Paging) {
  const { total } = await heldRoles(db, groupId)
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const page = heldRoles(db, groupId)
    .select(['roles.id', 'roles.name', 'roles.is_system'])
    .orderBy('roles.name_key');
  return { rows: await page.limit(take).offset(skip).execute(), total };
}

/** Ids of the roles that the group holds with their names, in the order of the names. */
export async function heldRoleNames(db: Db, groupId: string): Promise<Map<string, string>> {
  const rows = await allRoles(db, groupId);
  return new Map(rows.map((row) => [row.id, row.name]));
}

/** The same for those of the ids that roles have. */
export async function roleNames(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const known = db.selectFrom('roles').select(['id', 'name']).where('id', 'in', ids);
  const rows = await known.orderBy('name_key').execute();
  return new Map(rows.map((row) => [row.id, row.name]));
}

export async function addRoles(db: Db, groupId: string, roleIds: readonly string[]): Promise<void> {
  const rows = roleIds.map((roleId) => ({ group_id: groupId, role_id: roleId }));
  await db.insertInto('group_roles').values(rows).execute();
}

export async function removeRoles(db: Db, groupId: string, roleIds: readonly string[]): Promise<void> {
  await db
    .deleteFrom('group_roles')
    .where('group_id', '=', groupId)
    .where('role_id', 'in', roleIds)
    .execute();
}
