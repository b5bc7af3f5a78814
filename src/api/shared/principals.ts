/** Users, groups and the roles that they hold, as the lists of `/users` and `/groups` show them. */

import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { GroupsTable, RolesTable, UsersTable } from '../../db/schema.ts';
import { choice, Id, IdInAnyCase, Timestamp } from '../../http/schemas.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';

const USER = {
  id: '0b1f7c52-6a53-4d0e-9d43-7c1d2f0c9a11',
  username: 'alice',
  email: 'alice@example.com',
  accountType: 'User',
  isActive: true,
  requirePasswordChange: false,
  lockoutEnd: null,
  createdAt: '2026-11-20T09:08:00.000Z',
  modifiedAt: '2026-11-20T09:08:00.000Z',
};

/** Examples of the API description. */
export const EXAMPLES = {
  user: USER,
  member: { ...USER, source: 'Local' },
  group: {
    id: 'd4c3b2a1-f6e5-4887-aa99-ccbbffeedd00',
    name: 'Web team',
    description: 'Looks after the web servers',
    createdAt: '2026-11-20T09:08:00.000Z',
    modifiedAt: '2026-11-20T09:08:00.000Z',
  },
  role: { id: 'a1b2c3d4-e5f6-4788-99aa-bbccddeeff00', name: 'Deployer', isSystemRole: false },
};

export const AccountType = choice('User', 'ServiceAccount');

/** These shapes have no id, because the API description calls the same shape by several names. */
const User = z.object({
  id: Id,
  username: z.string(),
  email: z.string(),
  accountType: AccountType,
  isActive: z.boolean(),
  requirePasswordChange: z.boolean(),
  lockoutEnd: Timestamp.nullable().describe('Null unless locked now'),
  createdAt: Timestamp,
  modifiedAt: Timestamp,
});
const Group = z.object({
  id: Id,
  name: z.string(),
  description: z.string().nullable(),
  createdAt: Timestamp,
  modifiedAt: Timestamp,
});
const HeldRole = z.object({ id: Id, name: z.string(), isSystemRole: z.boolean() });

export const userView = (id: 'User') => User.meta({ id, examples: [EXAMPLES.user] });
export const memberView = () =>
  User.extend({
    source: z
      .string()
      .meta({ description: '`Local` for a membership of its own, else the identity provider' }),
  }).meta({ id: 'GroupMember', examples: [EXAMPLES.member] });
export const groupView = (id: 'Group' | 'UserGroup') => Group.meta({ id, examples: [EXAMPLES.group] });
export const heldRoleView = (id: 'UserRole' | 'GroupRole') =>
  HeldRole.meta({ id, examples: [EXAMPLES.role] });

/** The body that replaces a set of roles. Ids may be repeated; all are kept, so that a fault names the right place. */
export const roleIdsBody = (id: 'UserRoleIds' | 'GroupRoleIds') =>
  z
    .strictObject({ roleIds: z.array(IdInAnyCase).max(1_000) })
    .meta({ id, examples: [{ roleIds: [EXAMPLES.role.id] }] });

/** @param now epoch milliseconds; a lock that ended before it is not shown */
export function toUser(row: Selectable<UsersTable>, now: number) {
  const isLocked = row.lockout_end !== null && row.lockout_end > now;
  return {
    id: row.id,
    username: row.username,
    email: row.email,
    accountType: row.account_type,
    isActive: row.is_active === 1,
    requirePasswordChange: row.require_password_change === 1,
    lockoutEnd: toOptionalTimestamp(isLocked ? row.lockout_end : null),
    ...timesOf(row),
  };
}

export function toGroup(row: Selectable<GroupsTable>) {
  const { id, name, description } = row;
  return { id, name, description, ...timesOf(row) };
}

export function toHeldRole({ id, name, is_system }: Selectable<RolesTable>) {
  return { id, name, isSystemRole: is_system === 1 };
}

/** When a user, group or role was created, and when it or what belongs to it was last changed. */
export function timesOf(row: { created_at: number; modified_at: number }) {
  return { createdAt: toTimestamp(row.created_at), modifiedAt: toTimestamp(row.modified_at) };
}
