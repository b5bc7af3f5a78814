/** What a user may do: the union over the user's own roles and those of the user's groups. */

import { LRUCache } from 'lru-cache';
import type { Db } from '../db/open.ts';
import type { Permission } from '../domain/permissions.ts';

const MAX_USERS = 10_000;

interface Held {
  generation: number;
  permissions: ReadonlySet<Permission>;
}

/**
 * Remembers what users hold, each for as long as the access generation stands. The generation is read in the
 * statement that finds the session or token, so whatever was revoked before that is gone.
 */
export class PermissionCache {
  private readonly db: Db;
  private readonly users = new LRUCache<string, Held>({ max: MAX_USERS });

  constructor(db: Db) {
    this.db = db;
  }

  async of(userId: string, generation: number): Promise<ReadonlySet<Permission>> {
    const known = this.users.get(userId);
    if (known?.generation === generation) return known.permissions;
    const permissions = await heldPermissions(this.db, userId);
    // At least as new as the generation: if it has risen meanwhile, the next request reads once more.
    this.users.set(userId, { generation, permissions });
    return permissions;
  }
}

export async function heldPermissions(db: Db, userId: string): Promise<ReadonlySet<Permission>> {
  const rows = await db
    .selectFrom('role_permissions')
    .select('permission')
    .where((where) =>
      where.or([
        where('role_id', 'in', db.selectFrom('user_roles').select('role_id').where('user_id', '=', userId)),
        where('role_id', 'in', groupRolesOf(db, userId)),
      ]),
    )
    .execute();
  return new Set(rows.map((row) => row.permission as Permission));
}

/** What each member of the group holds by it. */
export async function permissionsOfGroup(db: Db, groupId: string): Promise<ReadonlySet<Permission>> {
  const rows = await db
    .selectFrom('role_permissions')
    .innerJoin('group_roles', 'group_roles.role_id', 'role_permissions.role_id')
    .select('role_permissions.permission')
    .where('group_roles.group_id', '=', groupId)
    .execute();
  return new Set(rows.map((row) => row.permission as Permission));
}

function groupRolesOf(db: Db, userId: string) {
  return db
    .selectFrom('group_roles')
    .innerJoin('group_members', 'group_members.group_id', 'group_roles.group_id')
    .select('group_roles.role_id')
    .where('group_members.user_id', '=', userId);
}
