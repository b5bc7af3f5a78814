/** Which roles a user holds directly: the whole set at once, and none that the caller could not give. */

import type { Db } from '../../db/open.ts';
import { invalid } from '../../lib/errors.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { keepingAnAdministrator, requireOwnRoles } from '../../security/delegation.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { requireUser } from './change.ts';
import { findRoles, giveRoles, listRolesOf, takeRoles, touchUser } from './queries.ts';

/**
 * Puts this set in place of what the user holds; the same set again leaves no trace.
 * @throws HawserError not_found; invalid at /roleIds/<index> for a role that there is not; forbidden
 *   `beyond_own_permissions` for one that is new to the user; conflict `last_administrator`
 */
export async function setRoles(
  trx: Db,
  principal: UserPrincipal,
  actor: Actor,
  { userId, roleIds }: { userId: string; roleIds: readonly string[] },
): Promise<void> {
  const { username } = await requireUser(trx, userId);
  const wanted = await findRoles(trx, roleIds);
  requireAll(roleIds, wanted);
  const held = await listRolesOf(trx, userId);
  const added = without(wanted, held);
  const removed = without(held, wanted);
  if (added.length === 0 && removed.length === 0) return;
  await requireOwnRoles(trx, principal, idsOf(added));
  await keepingAnAdministrator(trx, async () => {
    await takeRoles(trx, userId, idsOf(removed));
    await giveRoles(trx, userId, idsOf(added));
  });
  await touchUser(trx, userId, actor.at);
  const details = { username, added: namesOf(added), removed: namesOf(removed) };
  await recordAudit(trx, actor, { action: 'user.roles_changed', resourceId: userId, details });
}

interface Role {
  id: string;
  name: string;
}

const NO_SUCH_ROLE = 'No such role';
const MAX_FAULTS = 100;

function requireAll(ids: readonly string[], known: readonly Role[]): void {
  const knownIds = new Set(idsOf(known));
  const faults = ids
    .map((id, index) => ({ id, path: `/roleIds/${index}` }))
    .filter(({ id }) => !knownIds.has(id))
    .map(({ path }) => ({ path, message: NO_SUCH_ROLE, code: 'unknown_role' }));
  if (faults.length > 0) throw invalid('validation_failed', NO_SUCH_ROLE, faults.slice(0, MAX_FAULTS));
}

function without(roles: readonly Role[], others: readonly Role[]): Role[] {
  const ids = new Set(idsOf(others));
  return roles.filter((role) => !ids.has(role.id));
}

const idsOf = (roles: readonly Role[]) => roles.map((role) => role.id);
const namesOf = (roles: readonly Role[]) => roles.map((role) => role.name);
