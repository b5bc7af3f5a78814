/** Changes of a user: name, address and whether they may come in at all; the end of a lock; and the user's end. */

import type { Db } from '../../db/open.ts';
import { changedMembers } from '../../domain/changed-members.ts';
import { notFound } from '../../lib/errors.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { keepingAnAdministrator, requireOwnUser } from '../../security/delegation.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { endAccess, findAccount, setAttemptState } from '../auth/queries.ts';
import { deleteUser, saveUser, type UserRow } from './queries.ts';

export interface UserState {
  username: string;
  email: string;
  isActive: boolean;
}

/** @throws HawserError not_found */
export async function requireUser(db: Db, id: string): Promise<UserRow> {
  const row = await findAccount(db, id);
  if (!row) throw notFound('No such user');
  return row;
}

export interface Caller {
  principal: UserPrincipal;
  actor: Actor;
}

/**
 * Brings a user to this state; deactivation ends sessions and tokens. What changes nothing leaves no trace. Who lets a
 * user in again gives back all that the user has, and who renames one frees the name that others know the user by.
 * @throws HawserError not_found; forbidden `beyond_own_permissions`; conflict `name_taken` or `last_administrator`
 */
export async function changeUser(
  trx: Db,
  { principal, actor }: Caller,
  id: string,
  wanted: UserState,
): Promise<UserRow> {
  const row = await requireUser(trx, id);
  const { username, email } = row;
  const changes = changedMembers({ username, email, isActive: row.is_active === 1 }, wanted);
  if (changes === null) return row;
  const letsIn = wanted.isActive && row.is_active === 0;
  if (letsIn || wanted.username !== username) await requireOwnUser(trx, principal, id);
  await keepingAnAdministrator(trx, () => saveUser(trx, id, { ...wanted, now: actor.at }));
  if (!wanted.isActive) await endAccess(trx, id, actor.at);
  const details = { username, ...changes };
  await recordAudit(trx, actor, { action: 'user.updated', resourceId: id, details });
  return requireUser(trx, id);
}

/**
 * The name becomes free for somebody else.
 * @throws HawserError not_found; forbidden `beyond_own_permissions`; conflict `last_administrator`
 */
export async function removeUser(trx: Db, { principal, actor }: Caller, id: string): Promise<void> {
  const { username, email } = await requireUser(trx, id);
  await requireOwnUser(trx, principal, id);
  await keepingAnAdministrator(trx, () => deleteUser(trx, id));
  await recordAudit(trx, actor, { action: 'user.deleted', resourceId: id, details: { username, email } });
}

/**
 * Ends a lock and forgets the failures that count towards the next: passwords can be tried again.
 * @throws HawserError not_found; forbidden `beyond_own_permissions`
 */
export async function unlockUser(trx: Db, { principal, actor }: Caller, id: string): Promise<void> {
  const { username, lockout_end: lockoutEnd, access_failed_count: failures } = await requireUser(trx, id);
  await requireOwnUser(trx, principal, id);
  const isLocked = lockoutEnd !== null && lockoutEnd > actor.at;
  if (!isLocked && failures === 0) return;
  await setAttemptState(trx, id, { failures: 0, lockoutEnd: null });
  await recordAudit(trx, actor, { action: 'user.unlocked', resourceId: id, details: { username } });
}
