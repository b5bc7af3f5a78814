/** Nobody hands out more than they hold, and nobody takes the last administrator away (api.md sections 2 and 9). */

import type { Db } from '../db/open.ts';
import { ADMINISTRATOR_ROLE_ID } from '../domain/permissions.ts';
import { conflict, forbidden } from '../lib/errors.ts';
import { heldPermissions } from './held-permissions.ts';
import type { UserPrincipal } from './principal.ts';

/**
 * For permissions that the caller is about to give: to a role, or with a role to a user or group.
 * @throws HawserError forbidden `beyond_own_permissions` when one is not among the caller's effective ones
 */
export function requireOwn(principal: UserPrincipal, permissions: Iterable<string>): void {
  const own: ReadonlySet<string> = principal.permissions;
  for (const permission of permissions) {
    if (own.has(permission)) continue;
    throw forbidden(
      `You do not hold ${permission} yourself, so you cannot give it`,
      'beyond_own_permissions',
    );
  }
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
  requireOwn(
    principal,
    rows.map((row) => row.permission),
  );
}

/** Whoever sets somebody's password can act as them: the same for all that the user may do. */
export async function requireOwnReach(trx: Db, principal: UserPrincipal, userId: string): Promise<void> {
  requireOwn(principal, await heldPermissions(trx, userId));
}

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
