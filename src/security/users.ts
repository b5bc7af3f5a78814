/** The tables of users, of the roles that they hold directly and of the groups that they are in. */

import type { Selectable } from 'kysely';
import type { Db } from '../db/database.ts';
import { Table } from '../db/rows.ts';
import type { UsersTable } from '../db/schema.ts';
import { nameKey } from '../domain/names.ts';
import { conflict } from '../lib/errors.ts';
import { requireOwnRoles } from './delegation.ts';
import { JoinTable } from './join-table.ts';

export const userNameTaken = () => conflict('name_taken', 'Another user has this name');

/** When a row is deleted, the database deletes the user's sessions, tokens, memberships, roles and grants too. */
export const USERS = new Table('users', {
  order: ['username_key'],
  missing: 'No such user',
  unique: { column: 'users.username_key', taken: userNameTaken },
});

/** The roles that users hold themselves. The roles of their groups are not among them. */
export const USER_ROLES = new JoinTable('user_roles', {
  owner: { table: USERS, column: 'user_id', name: 'username' },
  member: { table: 'roles', column: 'role_id' },
  action: 'user.roles_changed',
  requireOwn: (trx, principal, { added }) => requireOwnRoles(trx, principal, added),
});

export type UserRow = Selectable<UsersTable>;

/** @throws HawserError conflict `name_taken` */
export async function saveUser(
  db: Db,
  id: string,
  { username, email, isActive, now }: { username: string; email: string; isActive: boolean; now: number },
): Promise<UserRow> {
  const name = { username, username_key: nameKey(username) };
  return USERS.update(db, id, { ...name, email, is_active: isActive ? 1 : 0, modified_at: now });
}

/** The groups that the user is in, by name. */
export function listGroupsOf(db: Db, userId: string) {
  const memberships = db.selectFrom('group_memberships').select('group_id').where('user_id', '=', userId);
  return db.selectFrom('groups').selectAll().where('id', 'in', memberships).orderBy('name_key').execute();
}
