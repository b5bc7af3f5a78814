/** Changes of users: of their names, of whether they may sign in, and of their passwords. */

import type { Insertable } from 'kysely';
import { endAccess, findAccountByName, setAttemptState, setPassword } from '../db/accounts.ts';
import type { Database, Db } from '../db/database.ts';
import type { UsersTable } from '../db/schema.ts';
import { changedMembers } from '../domain/changed-members.ts';
import { nameKey } from '../domain/names.ts';
import { passwordFault } from '../domain/password-rules.ts';
import { conflict, forbidden, invalidField } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import { forgetInitialPassword } from '../security/built-ins.ts';
import type { Caller } from '../security/caller.ts';
import { keepingAnAdministrator, requireOwnUser } from '../security/delegation.ts';
import { hashPassword } from '../security/passwords.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { saveUser, USERS, type UserRow, userNameTaken } from '../security/users.ts';

/** A user with a password, or a service account without one. */
export interface NewUser {
  username: string;
  email: string;
  password: string | null;
  accountType: 'User' | 'ServiceAccount';
  requirePasswordChange: boolean;
}

/** What a user is to be called, and whether the user may sign in. */
export interface UserChange {
  username: string;
  email: string;
  isActive: boolean;
}

/**
 * Creates a user with a password, or a service account without one.
 * @throws HawserError invalid `weak_password` at /password; conflict `name_taken`
 */
export async function createUser(database: Database, { actor }: Caller, user: NewUser): Promise<UserRow> {
  const { username, email, password, accountType } = user;
  const fault = password === null ? null : passwordFault(password, username);
  if (fault !== null) throw invalidField('/password', fault, 'weak_password');
  // This check saves the hash when the name is taken. When it is taken meanwhile, the insertion fails.
  if (await findAccountByName(database.read, username)) throw userNameTaken();
  const passwordHash = password === null ? null : await hashPassword(password, `user ${actor.id}`);
  const mustChange = accountType === 'User' && user.requirePasswordChange;
  return database.write.transaction().execute((trx) =>
    insertUser(trx, actor, {
      ...{ id: newId(), username, email, account_type: accountType, password_hash: passwordHash },
      ...{ is_active: 1, require_password_change: mustChange ? 1 : 0, lockout_end: null },
      created_at: actor.at,
    }),
  );
}

type NewRow = Omit<Insertable<UsersTable>, 'username_key' | 'modified_at'>;

/** Adds the user and its entry in the audit trail. @throws HawserError conflict `name_taken` */
export async function insertUser(trx: Db, actor: Actor, user: NewRow): Promise<UserRow> {
  const { username, email, account_type: accountType } = user;
  const row = await USERS.insert(trx, { ...user, username_key: nameKey(username), modified_at: actor.at });
  const details = { username, email, accountType };
  await recordAudit(trx, actor, { action: 'user.created', resourceId: row.id, details });
  return row;
}

/**
 * Brings a user to this state. Deactivation ends sessions and tokens. A change that changes nothing leaves no trace.
 * To reactivate a user gives back all that the user has, and to rename one frees the name that others know. So both
 * need all that the user holds.
 * @throws HawserError not_found; forbidden `beyond_own_permissions`; conflict `name_taken` or `last_administrator`
 */
export async function changeUser(
  trx: Db,
  { principal, actor }: Caller,
  id: string,
  wanted: UserChange,
): Promise<UserRow> {
  const row = await USERS.require(trx, id);
  const { username, email } = row;
  const changes = changedMembers({ username, email, isActive: row.is_active === 1 }, wanted);
  if (changes === null) return row;
  const letsIn = wanted.isActive && row.is_active === 0;
  if (letsIn || wanted.username !== username) await requireOwnUser(trx, principal, id);
  await keepingAnAdministrator(trx, () => saveUser(trx, id, { ...wanted, now: actor.at }));
  if (!wanted.isActive) await endAccess(trx, id, actor.at);
  const details = { username, ...changes };
  await recordAudit(trx, actor, { action: 'user.updated', resourceId: id, details });
  return USERS.require(trx, id);
}

/**
 * Deletes a user, whose name becomes free for somebody else.
 * @throws HawserError not_found; forbidden `beyond_own_permissions`; conflict `last_administrator`
 */
export async function deleteUser(trx: Db, { principal, actor }: Caller, id: string): Promise<void> {
  const { username, email } = await USERS.require(trx, id);
  await requireOwnUser(trx, principal, id);
  await keepingAnAdministrator(trx, () => USERS.delete(trx, id));
  await recordAudit(trx, actor, { action: 'user.deleted', resourceId: id, details: { username, email } });
}

/**
 * Ends a lock and forgets the failures that count towards the next one, so that passwords can be tried again.
 * @throws HawserError not_found; forbidden `beyond_own_permissions`
 */
export async function unlockUser(trx: Db, { principal, actor }: Caller, id: string): Promise<void> {
  const { username, lockout_end: lockoutEnd, access_failed_count: failures } = await USERS.require(trx, id);
  await requireOwnUser(trx, principal, id);
  const isLocked = lockoutEnd !== null && lockoutEnd > actor.at;
  if (!isLocked && failures === 0) return;
  await setAttemptState(trx, id, { failures: 0, lockoutEnd: null });
  await recordAudit(trx, actor, { action: 'user.unlocked', resourceId: id, details: { username } });
}

export interface ResetOptions {
  database: Database;
  /** The folder in which the file with the first password may be. */
  dataDir: string;
  log: Log;
}

/**
 * Sets another user's password, ends the user's sessions and lock, and makes the user change it at the next sign-in.
 * @throws HawserError not_found; conflict `service_account`; forbidden `beyond_own_permissions`, and of one's own password
 *   `session_required` or `forbidden`; invalid `weak_password` at /newPassword
 */
export async function resetPassword(
  { database, dataDir, log }: ResetOptions,
  { principal, actor }: Caller,
  userId: string,
  newPassword: string,
): Promise<void> {
  refuseOwn(principal, userId);
  const { username } = await requireResettable(database.read, principal, userId);
  const fault = passwordFault(newPassword, username);
  if (fault !== null) throw invalidField('/newPassword', fault, 'weak_password');
  const hash = await hashPassword(newPassword, `user ${principal.userId}`);
  await database.write.transaction().execute(async (trx) => {
    // While the hash was made, the user may have been deleted or been given more rights.
    await requireResettable(trx, principal, userId);
    await setPassword(trx, { userId, hash, mustChange: true, now: actor.at, keepSession: null });
    await setAttemptState(trx, userId, { failures: 0, lockoutEnd: null });
    await recordAudit(trx, actor, { action: 'password.reset', resourceId: userId, details: { username } });
  });
  // While the password of the file still works, nobody can get here: it must be changed before anything else.
  await forgetInitialPassword(dataDir).catch((error: unknown) => {
    log.error({ err: error }, 'the file with the first password could not be removed');
  });
}

/** Nobody sets their own password here: change-password asks for the old one, which a token or open session does not. */
function refuseOwn({ userId: own, authMethod }: UserPrincipal, userId: string): void {
  if (userId !== own) return;
  if (authMethod === 'Token')
    throw forbidden('A token may not set the password of its owner', 'session_required');
  throw forbidden('Your own password is changed with POST /api/v1/auth/change-password');
}

async function requireResettable(db: Db, principal: UserPrincipal, userId: string): Promise<UserRow> {
  const row = await USERS.require(db, userId);
  if (row.account_type === 'ServiceAccount') {
    throw conflict('service_account', 'A service account has no password');
  }
  await requireOwnUser(db, principal, userId);
  return row;
}
