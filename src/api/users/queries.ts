/** Reads and writes of users and of the roles that they hold themselves. */

import type { Selectable } from 'kysely';
import { orConflict } from '../../db/errors.ts';
import type { Db } from '../../db/open.ts';
import type { UsersTable } from '../../db/schema.ts';
import { nameKey } from '../../domain/names.ts';
import { conflict } from '../../lib/errors.ts';

export type UserRow = Selectable<UsersTable>;

export const nameTaken = () => conflict('name_taken', 'Another user has this name');

/** By user name, whatever its case. */
export async function listUsers(db: Db, { take, skip }: { take: number; skip: number }) {
  const { total } = await db
    .selectFrom('users')
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('users')
    .selectAll()
    .orderBy('username_key')
    .limit(take)
    .offset(skip)
    .execute();
  return { rows, total };
}

export interface NewAccount {
  id: string;
  username: string;
  email: string;
  accountType: UsersTable['account_type'];
  /** Null for a service account. */
  passwordHash: string | null;
  mustChange: boolean;
  now: number;
}

/** @throws HawserError conflict `name_taken` */
export function insertUser(db: Db, account: NewAccount): Promise<UserRow> {
  const insertion = db.insertInto('users').values({
    id: account.id,
    username: account.username,
    username_key: nameKey(account.username),
    email: account.email,
    account_type: account.accountType,
    password_hash: account.passwordHash,
    is_active: 1,
    require_password_change: account.mustChange ? 1 : 0,
    lockout_end: null,
    created_at: account.now,
    modified_at: account.now,
  });
  return uniquelyNamed(() => insertion.returningAll().executeTakeFirstOrThrow());
}

/** @throws HawserError conflict `name_taken` */
export async function saveUser(
  db: Db,
  id: string,
  user: { username: string; email: string; isActive: boolean; now: number },
): Promise<void> {
  const { username, email, isActive, now } = user;
  const change = db.updateTable('users').set({
    ...{ username, username_key: nameKey(username), email },
    ...{ is_active: isActive ? 1 : 0, modified_at: now },
  });
  await uniquelyNamed(() => change.where('id', '=', id).execute());
}

const uniquelyNamed = <T>(write: () => Promise<T>) => orConflict('users.username_key', nameTaken(), write);

/** Sessions, tokens, memberships, roles and grants go with the user. */
export async function deleteUser(db: Db, id: string): Promise<void> {
  await db.deleteFrom('users').where('id', '=', id).execute();
}

/** Roles held directly, by name. */
export function listRolesOf(db: Db, userId: string) {
  return db
    .selectFrom('user_roles')
    .innerJoin('roles', 'roles.id', 'user_roles.role_id')
    .select(['roles.id', 'roles.name', 'roles.is_system'])
    .where('user_roles.user_id', '=', userId)
    .orderBy('roles.name_key')
    .execute();
}

/** By name. */
export function listGroupsOf(db: Db, userId: string) {
  return db
    .selectFrom('group_members')
    .innerJoin('groups', 'groups.id', 'group_members.group_id')
    .selectAll('groups')
    .where('group_members.user_id', '=', userId)
    .orderBy('groups.name_key')
    .execute();
}

/** Those of the roles that there are, by name. */
export async function findRoles(db: Db, ids: readonly string[]): Promise<{ id: string; name: string }[]> {
  if (ids.length === 0) return [];
  return db.selectFrom('roles').select(['id', 'name']).where('id', 'in', ids).orderBy('name_key').execute();
}

/** Notes a change of what belongs to the user without standing in the row. */
export async function touchUser(db: Db, id: string, now: number): Promise<void> {
  await db.updateTable('users').set({ modified_at: now }).where('id', '=', id).execute();
}

export async function giveRoles(db: Db, userId: string, roleIds: readonly string[]): Promise<void> {
  if (roleIds.length === 0) return;
  const rows = roleIds.map((roleId) => ({ user_id: userId, role_id: roleId }));
  await db.insertInto('user_roles').values(rows).execute();
}

export async function takeRoles(db: Db, userId: string, roleIds: readonly string[]): Promise<void> {
  if (roleIds.length === 0) return;
  await db.deleteFrom('user_roles').where('user_id', '=', userId).where('role_id', 'in', roleIds).execute();
}
