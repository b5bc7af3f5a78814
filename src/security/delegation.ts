/**
 * Nobody hands out more than they hold, permissions and grants (rights.md section 2), and nobody takes the last
 * administrator away (api.md section 9). The one place that knows what goes with a role, a group or a user. All checks
 * are for the transaction that does the deed, so that nothing changes between the two.
 */

import type { Db } from '../db/open.ts';
import {
  ADMINISTRATOR_ROLE_ID,
  type GrantKind,
  type GrantLevel,
  type Permission,
  reaches,
} from '../domain/permissions.ts';
import { conflict, forbidden, type HawserError } from '../lib/errors.ts';
import { type GrantedLevels, grantedToGroup, grantedToUser, levelWith, type Rights } from './grants.ts';
import { heldPermissions, permissionsOfGroup } from './held-permissions.ts';
import type { UserPrincipal } from './principal.ts';

/** All that goes with a group or a user. */
interface Holdings {
  permissions: ReadonlySet<Permission>;
  granted: GrantedLevels;
}

/**
 * For permissions that the caller is about to give to a role, or to take from one.
 * @throws HawserError forbidden `beyond_own_permissions` naming one that is not among the caller's effective ones
 */
export async function requireOwnPermissions(
  trx: Db,
  principal: UserPrincipal,
  permissions: Iterable<string>,
): Promise<void> {
  requireAmong((await rightsNow(trx, principal)).permissions, permissions);
}

/** The same for all that these roles hold. */
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
  await requireOwnPermissions(
    trx,
    principal,
    rows.map((row) => row.permission),
  );
}

/**
 * Whoever puts somebody into a group gives them its roles and its grants.
 * @throws HawserError forbidden `beyond_own_permissions` naming the first permission, or grant on what the caller may
 *   read, that the caller does not hold
 */
export async function requireOwnGroup(trx: Db, principal: UserPrincipal, groupId: string): Promise<void> {
  const permissions = await permissionsOfGroup(trx, groupId);
  await requireOwn(trx, principal, { permissions, granted: await grantedToGroup(trx, groupId) });
}

/**
 * The same for all that a user has, directly and by groups; of an inactive one what it would have. Whoever sets its
 * password, or gives its name to somebody else, can act as this user.
 */
export async function requireOwnUser(trx: Db, principal: UserPrincipal, userId: string): Promise<void> {
  const permissions = await heldPermissions(trx, userId);
  await requireOwn(trx, principal, { permissions, granted: await grantedToUser(trx, userId) });
}

/**
 * A key that lets known nodes register anew takes their place, and reads what they are given.
 * @throws HawserError forbidden `beyond_own_permissions`
 */
export async function requireOwnTakeover(trx: Db, principal: UserPrincipal): Promise<void> {
  const { permissions } = await rightsNow(trx, principal);
  if (permissions.has('nodes.delete')) return;
  throw beyond(
    'A key that allows re-registration takes nodes over: this needs nodes.delete, which you do not hold',
  );
}

/** The caller's rights as of this transaction: roles may have been taken away since the request came in. */
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
  { permissions, granted }: Holdings,
): Promise<void> {
  const rights = await rightsNow(trx, principal);
  requireAmong(rights.permissions, permissions);
  const own = await grantedToUser(trx, principal.userId);
  let unreadable: GrantKind | undefined;
  for (const { on, id } of resourcesOf(granted, own)) {
    // Whoever is given these grants uses them without the bounds of a token.
    const level = levelWith(granted, { permissions, scopes: null }, on, id);
    const held = levelWith(own, rights, on, id);
    if (level === null || reaches(held, level)) continue;
    if (held !== null) throw await beyondGrant(trx, { on, id, level });
    unreadable ??= on;
  }
  if (unreadable === undefined) return;
  throw beyond(`This would give a grant on ${OF_ANY[unreadable]} that you do not hold yourself`);
}

/**
 * All that the levels of giver and receiver can differ on. A configuration counts for its parameters too, which fall
 * back to it; so do the giver's grants on parameters, which can bound the giver below that.
 */
function* resourcesOf(granted: GrantedLevels, own: GrantedLevels): Generator<{ on: GrantKind; id: string }> {
  for (const id of granted.configuration.keys()) yield { on: 'configuration', id };
  for (const id of granted.composite.keys()) yield { on: 'composite', id };
  for (const levels of [granted.parameters, granted.configuration, own.parameters]) {
    for (const id of levels.keys()) yield { on: 'parameters', id };
  }
}

/** Names the grant, which only those may hear of who may read what it is on. */
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
 * Runs a change and undoes it if it took the last administrator away: an active user, able to sign in, who holds
 * the role Administrator directly or through a group. In a transaction, of which SQLite runs one at a time: of two
 * that would each leave the other's administrator, the second finds nobody left.
 * @throws HawserError conflict `last_administrator`
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
    .where((where) => where.or([where('id', 'in', direct), where('id', 'in', throughGroups)]))
    .limit(1)
    .executeTakeFirst();
  return anyone !== undefined;
}
