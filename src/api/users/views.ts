/** Users as the API shows them. */

import type { Db } from '../../db/open.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { listGroupsOf, listRolesOf, type UserRow } from './queries.ts';

/** @param now epoch milliseconds; a lock that has run out by then is none */
export function toUser(row: UserRow, now: number) {
  const isLocked = row.lockout_end !== null && row.lockout_end > now;
  return {
    id: row.id,
    username: row.username,
    email: row.email,
    accountType: row.account_type,
    isActive: row.is_active === 1,
    requirePasswordChange: row.require_password_change === 1,
    lockoutEnd: toOptionalTimestamp(isLocked ? row.lockout_end : null),
    createdAt: toTimestamp(row.created_at),
    modifiedAt: toTimestamp(row.modified_at),
  };
}

/** The user with roles (held directly) and groups, read from the same handle as the row. */
export async function describeUser(db: Db, row: UserRow, now: number) {
  const groups = await listGroupsOf(db, row.id);
  return {
    ...toUser(row, now),
    accessFailedCount: row.access_failed_count,
    roles: await describeRoles(db, row.id),
    groups: groups.map((group) => ({
      id: group.id,
      name: group.name,
      description: group.description,
      createdAt: toTimestamp(group.created_at),
      modifiedAt: toTimestamp(group.modified_at),
    })),
  };
}

/** The roles that the user holds directly, by name. */
export async function describeRoles(db: Db, userId: string) {
  const roles = await listRolesOf(db, userId);
  return roles.map(({ id, name, is_system }) => ({ id, name, isSystemRole: is_system === 1 }));
}
