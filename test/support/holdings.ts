/** Writes users and groups with permissions and grants into the server's database file, without signing in. */

import type { Database } from '../../src/db/database.ts';
import type { GrantKind, GrantLevel } from '../../src/domain/permissions.ts';
import { newId } from '../../src/lib/ids.ts';

/** One thing that can be held: a permission, or a level on a resource. */
export type Holding = { permission: string } | { on: GrantKind; resourceId: string; level: GrantLevel };

export type Holder = { type: 'User' | 'Group'; id: string };

/** Makes a user whose password does not work. */
export async function insertUser(
  { write }: Database,
  username: string,
  { isActive }: { isActive: boolean },
): Promise<string> {
  const [id, now] = [newId(), Date.now()];
  const names = { username, username_key: username.toLowerCase(), email: `${username}@example.org` };
  const account = { account_type: 'User', password_hash: '', is_active: isActive ? 1 : 0 } as const;
  const rest = { require_password_change: 0, lockout_end: null, created_at: now, modified_at: now };
  await write
    .insertInto('users')
    .values({ id, ...names, ...account, ...rest })
    .execute();
  return id;
}

export async function insertGroup({ write }: Database, name: string, ...members: string[]): Promise<string> {
  const [id, now] = [newId(), Date.now()];
  const group = { id, name, name_key: name.toLowerCase(), description: null };
  await write
    .insertInto('groups')
    .values({ ...group, created_at: now, modified_at: now })
    .execute();
  for (const user_id of members)
    await write.insertInto('group_members').values({ group_id: id, user_id }).execute();
  return id;
}

/** Gives this to the holder. A permission is given by a role that is made for it. */
export async function give({ write }: Database, { type, id }: Holder, holding: Holding): Promise<void> {
  const now = Date.now();
  if ('on' in holding) {
    const grant = { resource_kind: holding.on, resource_id: holding.resourceId, level: holding.level };
    const principal = { principal_type: type, principal_id: id, granted_at: now, granted_by: null };
    await write
      .insertInto('grants')
      .values({ ...grant, ...principal })
      .execute();
    return;
  }
  const roleId = newId();
  const role = { id: roleId, name: roleId, name_key: roleId, description: null, is_system: 0 };
  await write
    .insertInto('roles')
    .values({ ...role, created_at: now, modified_at: now })
    .execute();
  await write
    .insertInto('role_permissions')
    .values({ role_id: roleId, permission: holding.permission })
    .execute();
  if (type === 'User')
    await write.insertInto('user_roles').values({ user_id: id, role_id: roleId }).execute();
  else await write.insertInto('group_roles').values({ group_id: id, role_id: roleId }).execute();
}

/** Takes all roles and grants from the holder. */
export async function takeAll({ write }: Database, { type, id }: Holder): Promise<void> {
  await write
    .deleteFrom('grants')
    .where('principal_type', '=', type)
    .where('principal_id', '=', id)
    .execute();
  if (type === 'User') await write.deleteFrom('user_roles').where('user_id', '=', id).execute();
  else await write.deleteFrom('group_roles').where('group_id', '=', id).execute();
}
