/** Users, groups and roles, who is in and has which of them, and the groups of providers that are mapped. */

import { GroupContent, NewExternalMapping } from '../../../api/groups/schemas.ts';
import { RoleContent } from '../../../api/roles/schemas.ts';
import { NewUser } from '../../../api/users/schemas.ts';
import { nameKey } from '../../../domain/names.ts';
import { BUILT_IN_GROUPS, PERMISSION_NAMES } from '../../../domain/permissions.ts';
import { ADMIN } from '../../../security/built-ins.ts';
import { importedPasswordHash } from '../../../security/imported-passwords.ts';
import type { SourceRole, SourceUser } from '../source/site.ts';
import { Clash, here, LeftOut, made, type Plan, requireFreeId, requireSame } from './plan.ts';

export function planPeople(plan: Plan): void {
  const { users, groups, roles } = plan.input.site;
  plan.judge('users', users, {
    id: ({ id }) => id,
    name: ({ username }) => username,
    judge: (user) => judgeUser(plan, user),
  });
  plan.judge('groups', groups, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    judge: (group) => judgeGroup(plan, group),
  });
  plan.judge('roles', roles, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    judge: (role) => judgeRole(plan, role),
  });
  planMemberships(plan);
  planMappings(plan);
}

/** The permissions that this server does not know, by the roles that have them. Those of the system are met by name. */
export function unknownPermissions(roles: readonly SourceRole[]): string[] {
  const known: readonly string[] = PERMISSION_NAMES;
  const own = roles.filter(({ isSystemRole }) => !isSystemRole);
  return own.flatMap(({ name, permissions }) =>
    permissions.filter((each) => !known.includes(each)).map((each) => `${name}: ${each}`),
  );
}

function judgeUser(plan: Plan, user: SourceUser) {
  const { users, hasFirstPassword } = plan.input.here;
  // The rules for a password are not asked, because only its hash is known.
  const username = NewUser.shape.username.parse(user.username);
  const email = NewUser.shape.email.parse(user.email);
  const key = nameKey(username);
  plan.once('users', key);
  const row = users.find((each) => each.username_key === key);
  const hash = hashOf(user);
  const mustChange = user.requirePasswordChange;
  if (key === ADMIN && row !== undefined) {
    const standing = { id: row.id, name: row.username };
    if (!hasFirstPassword || hash === null) return here(standing);
    return made({ do: 'takePassword', userId: row.id, username, hash, mustChange }, standing);
  }
  const { accountType, isActive } = user;
  if (row !== undefined) {
    const own = { username: row.username, email: row.email, accountType: row.account_type };
    requireSame({ ...own, isActive: row.is_active === 1 }, { username, email, accountType, isActive });
    return here({ id: row.id, name: row.username });
  }
  requireFreeId(user.id, users, (each) => each.username);
  const added = {
    ...{ id: user.id, username, email, account_type: accountType, password_hash: hash },
    ...{ is_active: isActive ? 1 : 0, require_password_change: hash !== null && mustChange ? 1 : 0 },
    ...{ access_failed_count: user.accessFailedCount, lockout_end: user.lockoutEnd },
    created_at: user.createdAt ?? plan.input.now,
  };
  return made({ do: 'insertUser', user: added }, { id: user.id, name: username });
}

/** Null for a service account, which has no password here, and for who signs in by a provider alone. */
function hashOf({ accountType, passwordSalt: salt, passwordHash: hash }: SourceUser): string | null {
  if (accountType === 'ServiceAccount' || salt === null || hash === null) return null;
  try {
    return importedPasswordHash(Buffer.from(salt, 'base64'), Buffer.from(hash, 'base64'));
  } catch (error) {
    throw error instanceof RangeError ? new LeftOut(error.message) : error;
  }
}

function judgeGroup(
  plan: Plan,
  { id, name, description }: { id: string; name: string; description: string | null },
) {
  const { groups } = plan.input.here;
  const wanted = GroupContent.parse({ name, description });
  const key = nameKey(wanted.name);
  plan.once('groups', key);
  const row = groups.find((each) => each.name_key === key);
  if (row === undefined) {
    requireFreeId(id, groups, (each) => each.name);
    return made({ do: 'createGroup', id, content: wanted }, { id, name: wanted.name });
  }
  // The groups that every server has are described by each in its own words.
  if (!BUILT_IN_GROUPS.some((each) => each.id === row.id)) requireSame(row, wanted);
  return here({ id: row.id, name: row.name });
}

function judgeRole(plan: Plan, role: SourceRole) {
  const { roles } = plan.input.here;
  const known = PERMISSION_NAMES.filter((name) => role.permissions.includes(name));
  const wanted = RoleContent.parse({ name: role.name, description: role.description, permissions: known });
  const key = nameKey(wanted.name);
  plan.once('roles', key);
  const found = roles.find(({ row }) => row.name_key === key);
  if (found === undefined) {
    requireFreeId(
      role.id,
      roles.map(({ row }) => row),
      (each) => each.name,
    );
    return made({ do: 'insertRole', id: role.id, content: wanted }, { id: role.id, name: wanted.name });
  }
  const { row, permissions } = found;
  const standing = { id: row.id, name: row.name };
  if (row.is_system === 1) {
    if (role.isSystemRole) return here(standing);
    throw new Clash('Every server has a role of this name, and it is another one');
  }
  const own = PERMISSION_NAMES.filter((name) => permissions.has(name));
  requireSame({ name: row.name, description: row.description, permissions: own }, wanted);
  return here(standing);
}

type Membership = { set: 'group_members' | 'user_roles' | 'group_roles'; owner: string; member: string };

const SETS = {
  group_members: { owners: 'groups', members: 'users', verb: 'has the member' },
  user_roles: { owners: 'users', members: 'roles', verb: 'has the role' },
  group_roles: { owners: 'groups', members: 'roles', verb: 'has the role' },
} as const;

function planMemberships(plan: Plan): void {
  const { site, here: own } = plan.input;
  const names = new Map<string, string>();
  for (const { id, username } of site.users) names.set(id, username);
  for (const { id, name } of [...site.groups, ...site.roles]) names.set(id, name);
  const nameOf = (id: string) => names.get(id) ?? id;
  const memberships: Membership[] = [
    ...site.userGroups.map(({ groupId, userId }) => ({
      ...({ set: 'group_members', owner: groupId, member: userId } as const),
    })),
    ...site.userRoles.map(({ userId, roleId }) => ({
      ...({ set: 'user_roles', owner: userId, member: roleId } as const),
    })),
    ...site.groupRoles.map(({ groupId, roleId }) => ({
      ...({ set: 'group_roles', owner: groupId, member: roleId } as const),
    })),
  ];
  plan.judge('memberships', memberships, {
    name: ({ set, owner, member }) => `${nameOf(owner)} ${SETS[set].verb} ${nameOf(member)}`,
    judge({ set, owner, member }) {
      const { id: ownerId } = plan.require(SETS[set].owners, owner);
      const { id } = plan.require(SETS[set].members, member);
      if (own.memberships[set].has(`${ownerId} ${id}`)) return here();
      return made({ do: 'join', set, ownerId, id });
    },
  });
}

function planMappings(plan: Plan): void {
  const { site, here: own } = plan.input;
  plan.judge('group mappings', site.groupMappings, {
    name: ({ provider, externalGroupId }) => `${provider}/${externalGroupId}`,
    judge({ id, groupId: group, ...mapping }) {
      const { id: groupId } = plan.require('groups', group);
      const { provider, externalGroupId, externalGroupName } = mapping;
      const wanted = NewExternalMapping.parse({ provider, externalGroupId, externalGroupName, groupId });
      plan.once('group mappings', JSON.stringify([wanted.provider, wanted.externalGroupId]));
      const row = own.mappings.find(
        (each) => each.provider === wanted.provider && each.external_group_id === wanted.externalGroupId,
      );
      if (row === undefined) return made({ do: 'insertMapping', id, mapping: wanted });
      if (row.group_id !== groupId) throw new Clash('It is mapped to another group here');
      return here();
    },
  });
}
