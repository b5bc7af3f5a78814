/**
 * Nobody gives more permissions and grants than they hold, and nobody removes the last administrator. All checks run in the
 * transaction of the change, so that nothing changes between the two.
 */

import type { Db } from '../db/database.ts';
import { keyOfScope, restrictedScopes } from '../db/scope-grants.ts';
import {
  ADMINISTRATOR_ROLE_ID,
  GRANT_RULES,
  type GrantKind,
  type GrantLevel,
  type Permission,
  reaches,
} from '../domain/permissions.ts';
import { conflict, forbidden, type HawserError } from '../lib/errors.ts';
import type { UserPrincipal } from './principal.ts';
import {
  type GrantedLevels,
  grantedToGroup,
  grantedToUser,
  heldPermissions,
  levelOnScope,
  levelWith,
  permissionsOfGroup,
  type Rights,
} from './rights.ts';

/**
 * Checks permissions that the caller is about to add to a role, or to remove from one.
 * @throws HawserError forbidden `beyond_own_permissions`, which names a permission that the caller does not hold
 */
export async function requireOwnPermissions(
  trx: Db,
  principal: UserPrincipal,
  permissions: Iterable<string>,
): Promise<void> {
  requireAmong((await rightsNow(trx, principal)).permissions, permissions);
}

/** The same for all permissions of these roles. */
export async function requireOwnRoles(
  trx: Db,
  principal: UserPrincipal,
  roleIds: readonly string[],
): Promise<void> {
  if (roleIds.length === 0) return;
  const rows = await trx
    .selectFrom('role_permissions')
    .select('permission')
    .distinct()
    .where('role_id', 'in', roleIds)
    .orderBy('permission')
    .execute();
  const permissions = rows.map((row) => row.permission);
  await requireOwnPermissions(trx, principal, permissions);
}

/**
 * Checks a group that the caller is about to put somebody into, which gives them the roles and grants of the group.
 * @throws HawserError forbidden `beyond_own_permissions`, which names the first permission that the caller does not hold,
 *   or else the first such grant on something that the caller may read
 */
export async function requireOwnGroup(trx: Db, principal: UserPrincipal, groupId: string): Promise<void> {
  await requireOwn(
    trx,
    principal,
    await permissionsOfGroup(trx, groupId),
    await grantedToGroup(trx, groupId),
  );
}

/**
 * The same for all that a user holds, or would hold if it were active. Whoever sets the password of a user, or gives its
 * name to somebody else, can act as this user.
 */
export async function requireOwnUser(trx: Db, principal: UserPrincipal, userId: string): Promise<void> {
  await requireOwn(trx, principal, await heldPermissions(trx, userId), await grantedToUser(trx, userId));
}

/**
 * Checks a caller who makes a token of a service account. Such a token hands out what the account holds now, and lets it
 * use whatever its scopes name as soon as the account holds that. So each scope must be a permission of the caller's own.
 * A scope that opens grants needs the override above all such grants, because nobody knows which ones will follow.
 * @throws HawserError forbidden `beyond_own_permissions`, which names the first scope or else what `requireOwnUser` names
 */
export async function requireOwnToken(
  trx: Db,
  principal: UserPrincipal,
  { accountId, scopes }: { accountId: string; scopes: readonly string[] },
): Promise<void> {
  const { permissions } = await rightsNow(trx, principal);
  for (const scope of scopes) {
    const needed = OVERRIDES.get(scope) ?? scope;
    if (permissions.has(needed as Permission)) continue;
    if (needed === scope) throw beyond(`You do not hold ${scope} yourself, so you cannot give it`);
    throw beyond(`The scope ${scope} needs ${needed}, which you do not hold yourself`);
  }
  await requireOwnUser(trx, principal, accountId);
}

/** For each scope that opens grants, the permission above all grants of this kind. */
const OVERRIDES: ReadonlyMap<string, Permission> = new Map(
  Object.values(GRANT_RULES).map(({ scope, override }) => [scope, override]),
);

/**
 * Checks a caller who makes a key with which known nodes can register again: its holder can take the place of a node.
 * @throws HawserError forbidden `beyond_own_permissions`
 */
export async function requireOwnTakeover(trx: Db, principal: UserPrincipal): Promise<void> {
  const { permissions } = await rightsNow(trx, principal);
  if (permissions.has('nodes.delete')) return;
  throw beyond(
    'A key that allows re-registration takes nodes over: this needs nodes.delete, which you do not hold',
  );
}

/** The caller's rights in this transaction. Since the request began, somebody may have removed roles of the caller. */
async function rightsNow(trx: Db, { userId, permissions, scopes }: UserPrincipal): Promise<Rights> {
  const held = await heldPermissions(trx, userId);
  return { scopes, permissions: new Set([...permissions].filter((permission) => held.has(permission))) };
}

function requireAmong(own: ReadonlySet<string>, permissions: Iterable<string>): void {
  for (const permission of permissions) {
    if (!own.has(permission)) throw beyond(`You do not hold ${permission} yourself, so you cannot give it`);
  }
}

async function requireOwn(
  trx: Db,
  principal: UserPrincipal,
  permissions: ReadonlySet<Permission>,
  granted: GrantedLevels,
): Promise<void> {
  const rights = await rightsNow(trx, principal);
  requireAmong(rights.permissions, permissions);
  const own = await grantedToUser(trx, principal.userId);
  const given = { permissions, scopes: null };
  let unreadable: GrantKind | undefined;
  for (const { on, id } of resourcesOf(granted, own)) {
    // The receiver of these grants uses them without the limits of a token.
    const level = levelWith(granted, given, on, id);
    const held = levelWith(own, rights, on, id);
    if (level === null || reaches(held, level)) continue;
    if (held !== null) throw await beyondGrant(trx, { on, id, level });
    unreadable ??= on;
  }
  const restricted = new Set((await restrictedScopes(trx)).map(keyOfScope));
  for (const key of granted.scopes.keys()) {
    const [configurationId = '', scopeTypeId = '', scopeValueId = null] = key.split('/');
    const scope = { configurationId, scopeTypeId, scopeValueId };
    const level = levelOnScope(granted, given, scope, restricted.has(key));
    const held = levelOnScope(own, rights, scope, restricted.has(key));
    if (level === null || reaches(held, level)) continue;
    if (held !== null) throw await beyondGrant(trx, { on: 'parameters', id: configurationId, level });
    unreadable ??= 'parameters';
  }
  if (unreadable === undefined) return;
  throw beyond(`This would give a grant on ${OF_ANY[unreadable]} that you do not hold yourself`);
}

/**
 * Everything on which giver and receiver can have different levels. A configuration stands for its parameters too, which
 * have its level when they have no grant. The giver's grants on parameters can lower that level.
 */
function* resourcesOf(granted: GrantedLevels, own: GrantedLevels): Generator<{ on: GrantKind; id: string }> {
  for (const id of granted.configuration.keys()) yield { on: 'configuration', id };
  for (const id of granted.composite.keys()) yield { on: 'composite', id };
  for (const levels of [granted.parameters, granted.configuration, own.parameters]) {
    for (const id of levels.keys()) yield { on: 'parameters', id };
  }
}

/** The error that names a grant. It is only for callers who may read the resource of the grant. */
async function beyondGrant(
  trx: Db,
  { on, id, level }: { on: GrantKind; id: string; level: GrantLevel },
): Promise<HawserError> {
  const table = on === 'composite' ? 'composites' : 'configurations';
  const { name } = await trx.selectFrom(table).select('name').where('id', '=', id).executeTakeFirstOrThrow();
  return beyond(`You do not hold ${level} on ${OF_ONE[on]} ${name} yourself, so you cannot give it`);
}

const OF_ONE: Record<GrantKind, string> = {
  configuration: 'the configuration',
  composite: 'the composite configuration',
  parameters: 'the parameters of the configuration',
};
const OF_ANY: Record<GrantKind, string> = {
  configuration: 'a configuration',
  composite: 'a composite configuration',
  parameters: 'the parameters of a configuration',
};

const beyond = (message: string) => forbidden(message, 'beyond_own_permissions');

/**
 * Runs a change, and refuses it if it removed the last administrator: an active user with a password of this server who
 * holds the role Administrator directly or through a group. Write transactions run one at a time, so two changes that each remove one
 * of the last two administrators cannot both succeed.
 * @throws HawserError conflict `last_administrator`, which rolls the transaction back
 */
export async function keepingAnAdministrator<T>(trx: Db, change: () => Promise<T>): Promise<T> {
  const before = await hasAdministrator(trx);
  const result = await change();
  if (before && !(await hasAdministrator(trx))) {
    throw conflict('last_administrator', 'This would leave nobody who is an administrator and can sign in');
  }
  return result;
}

async function hasAdministrator(trx: Db): Promise<boolean> {
  const direct = trx.selectFrom('user_roles').select('user_id').where('role_id', '=', ADMINISTRATOR_ROLE_ID);
  const throughGroups = trx
    .selectFrom('group_roles')
    .innerJoin('group_members', 'group_members.group_id', 'group_roles.group_id')
    .select('group_members.user_id')
    .where('group_roles.role_id', '=', ADMINISTRATOR_ROLE_ID);
  const anyone = await trx
    .selectFrom('users')
    .select('id')
    .where('is_active', '=', 1)
    .where('account_type', '=', 'User')
    // A provider may be away, or let nobody in any more.
    .where('password_hash', 'is not', null)
    .where((where) => where.or([where('id', 'in', direct), where('id', 'in', throughGroups)]))
    .limit(1)
    .executeTakeFirst();
  return anyone !== undefined;
}
