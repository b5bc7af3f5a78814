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
  plan.judge(
    'users',
    first(users, ({ username }) => username === ADMIN),
    {
      id: ({ id }) => id,
      name: ({ username }) => username,
      judge: (user) => judgeUser(plan, user),
    },
  );
  planLogins(plan);
  plan.judge('groups', first(groups, isBuiltIn), {
    id: ({ id }) => id,
    name: ({ name }) => name,
    judge: (group) => judgeGroup(plan, group),
  });
  plan.judge(
    'roles',
    first(roles, ({ isSystemRole }) => isSystemRole),
    {
      id: ({ id }) => id,
      name: ({ name }) => name,
      judge: (role) => judgeRole(plan, role),
    },
  );
  planMemberships(plan);
  planMappings(plan);
}

/** Names that differ by case alone are one here, so what every server has must take its name before others do. */
function first<T>(all: readonly T[], isOurs: (each: T) => boolean): T[] {
  return [...all.filter(isOurs), ...all.filter((each) => !isOurs(each))];
}

const isBuiltIn = ({ name }: { name: string }) => BUILT_IN_GROUPS.some((each) => each.name === name);

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
  const { accountType, isActive, accessFailedCount: failures, lockoutEnd, requirePasswordChange } = user;
  if (key === ADMIN && row !== undefined) {
    if (username !== ADMIN) throw new Clash('Every server has a user of this name, and it is another one');
    // Nobody could sign in if the only administrator of a new server came as a disabled one.
    requireSame({ isActive: row.is_active === 1 }, { isActive });
    const standing = { id: row.id, name: row.username };
    if (!hasFirstPassword || hash === null) return here(standing);
    const taken = { userId: row.id, username, hash, mustChange: requirePasswordChange, failures, lockoutEnd };
    return made({ do: 'takePassword', ...taken }, standing);
  }
  if (row !== undefined) {
    const own = { username: row.username, email: row.email, accountType: row.account_type };
    requireSame({ ...own, isActive: row.is_active === 1 }, { username, email, accountType, isActive });
    return here({ id: row.id, name: row.username });
  }
  requireFreeId(user.id, users, (each) => each.username);
  const added = {
    ...{ id: user.id, username, email, account_type: accountType, password_hash: hash },
    ...{
      is_active: isActive ? 1 : 0,
      require_password_change: hash !== null && requirePasswordChange ? 1 : 0,
    },
    ...{ access_failed_count: failures, lockout_end: lockoutEnd },
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

/** External logins belong to their users, and come with them where their provider is one of ours. */
function planLogins(plan: Plan): void {
  const { site, skip, here: own } = plan.input;
  const users = new Map(site.users.map((user) => [user.id, user]));
  const linked = new Map(own.identities.map((each) => [`${each.issuer} ${each.subject}`, each.user_id]));
  for (const { userId, provider: given, providerKey: subject } of site.externalLogins) {
    const provider = given.toLowerCase();
    const issuer = own.providers.get(provider);
    const user = plan.find('users', userId);
    const holder = linked.get(`${issuer} ${subject}`);
    if (user !== undefined && holder === user.id) continue;
    const isPerson = users.get(userId)?.accountType === 'User';
    if (issuer === undefined || user === undefined || holder !== undefined || !isPerson || skip.has('users'))
      plan.loginsLeft.push(`${users.get(userId)?.username ?? 'unknown user'} (${given})`);
    else {
      linked.set(`${issuer} ${subject}`, user.id);
      const identity = { provider, issuer, subject };
      const deed = { do: 'linkIdentity', user: { id: user.id, username: user.name }, identity } as const;
      plan.deeds.push({ kind: 'users', name: user.name, deed });
    }
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
  else if (!isBuiltIn(wanted))
    throw new Clash('Every server has a group of this name, and it is another one');
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
      if (row === undefined) {
        requireFreeId(id, own.mappings, (each) => `${each.provider}/${each.external_group_id}`);
        return made({ do: 'insertMapping', id, mapping: wanted });
      }
      if (row.group_id !== groupId) throw new Clash('It is mapped to another group here');
      return here();
    },
  });
}
