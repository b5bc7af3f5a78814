/** Groups, their members, their roles and external mappings as the API shows them. */

import type { Db } from '../../db/open.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import type { MappingRow } from './mapping-queries.ts';
import { allMembers, allRoles, type GroupRow } from './queries.ts';

export function toGroup(row: GroupRow) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    createdAt: toTimestamp(row.created_at),
    modifiedAt: toTimestamp(row.modified_at),
  };
}

type MemberRow = Awaited<ReturnType<typeof allMembers>>[number];

/** @param now epoch milliseconds; a lock that has run out by then is none */
export function toMember(row: MemberRow, now: number) {
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

type RoleRow = Awaited<ReturnType<typeof allRoles>>[number];

export function toHeldRole(row: RoleRow) {
  return { id: row.id, name: row.name, isSystemRole: row.is_system === 1 };
}

/** The group with all its members, by user name, and roles, by name. */
export async function showGroup(db: Db, row: GroupRow, now: number) {
  const members = await allMembers(db, row.id);
  const roles = await allRoles(db, row.id);
  return {
    ...toGroup(row),
    members: members.map((member) => toMember(member, now)),
    roles: roles.map(toHeldRole),
  };
}

export function toExternalMapping(row: MappingRow) {
  return {
    id: row.id,
    provider: row.provider,
    externalGroupId: row.external_group_id,
    externalGroupName: row.external_group_name,
    groupId: row.group_id,
    groupName: row.group_name,
    createdAt: toTimestamp(row.created_at),
  };
}
