/** Gives an administrator another password, from outside the server and while it may run. */

import { unlink, writeFile } from 'node:fs/promises';
import { endAccess, findAccountByName, setAttemptState, setPassword } from '../db/accounts.ts';
import type { Database, DatabasePlace, Db } from '../db/database.ts';
import { openDatabase } from '../db/open.ts';
import { ADMINISTRATOR_ROLE_ID } from '../domain/permissions.ts';
import { UsageError } from '../lib/command-words.ts';
import { conflict, notFound } from '../lib/errors.ts';
import { newSecret } from '../lib/ids.ts';
import { type Actor, recordAudit, systemActor } from '../security/audit.ts';
import { forgetInitialPassword } from '../security/built-ins.ts';
import { hashPassword } from '../security/passwords.ts';
import { saveUser, USER_ROLES, type UserRow } from '../security/users.ts';
import { requirePresentForm } from './present-form.ts';

export interface PasswordReset {
  place: DatabasePlace;
  username: string;
  /** The new file for the password; null when it is to be shown. */
  passwordFile: string | null;
  /** Called once the password is in force. */
  show(password: string): void;
  now: number;
}

/**
 * Sets a random password that must be changed at the next sign-in. The user is then unlocked, active, an administrator,
 * and signed in nowhere.
 * @throws HawserError not_found; conflict `service_account`
 * @throws UsageError where the file cannot be made
 * @throws Error where the database is absent or of another release
 */
export async function resetAdminPassword(wish: PasswordReset): Promise<void> {
  const { place, username, passwordFile, show, now } = wish;
  await requirePresentForm(place);
  const password = newSecret();
  const hash = await hashPassword(password);
  const database = await openDatabase(place);
  try {
    const reset = () => resetPassword(database, username, hash, now);
    if (passwordFile !== null) await keepingFile(passwordFile, password, reset);
    else {
      await reset();
      show(password);
    }
  } finally {
    await database.close();
  }
  await forgetInitialPassword(place.dataDir);
}

/** Writes the file first, as a password must not come into force that nobody could read. Removes it if the reset fails. */
async function keepingFile(path: string, password: string, reset: () => Promise<void>): Promise<void> {
  const options = { flag: 'wx', mode: 0o600, flush: true };
  await writeFile(path, `${password}\n`, options).catch(({ code }: NodeJS.ErrnoException) => {
    const fault = code === 'EEXIST' ? 'there is a file of that name already' : `cannot be written (${code})`;
    throw new UsageError(`--password-file: ${fault}`);
  });
  try {
    await reset();
  } catch (error) {
    await unlink(path);
    throw error;
  }
}

/** @throws HawserError not_found; conflict `service_account` */
async function resetPassword(database: Database, username: string, hash: string, now: number): Promise<void> {
  const actor = systemActor(now);
  await database.write.transaction().execute(async (trx) => {
    const user = await findAccountByName(trx, username);
    if (!user) throw notFound(`there is no user "${username}"`);
    if (user.account_type === 'ServiceAccount')
      throw conflict('service_account', `"${username}" is a service account, which has no password`);
    await setPassword(trx, { userId: user.id, hash, mustChange: true, now, keepSession: null });
    await setAttemptState(trx, user.id, { failures: 0, lockoutEnd: null });
    await endAccess(trx, user.id, now);
    const details = { username: user.username, by: 'command line' };
    await recordAudit(trx, actor, { action: 'password.reset', resourceId: user.id, details });
    await activate(trx, actor, user);
    await makeAdministrator(trx, actor, user);
  });
}

async function activate(trx: Db, actor: Actor, user: UserRow): Promise<void> {
  if (user.is_active === 1) return;
  const { id, username, email } = user;
  await saveUser(trx, id, { username, email, isActive: true, now: actor.at });
  const details = { username, isActive: { from: false, to: true } };
  await recordAudit(trx, actor, { action: 'user.updated', resourceId: id, details });
}

/** Gives the role to the user directly, since a group may lose the role or the user again. */
async function makeAdministrator(trx: Db, actor: Actor, { id, username }: UserRow): Promise<void> {
  if ((await USER_ROLES.names(trx, id)).has(ADMINISTRATOR_ROLE_ID)) return;
  await USER_ROLES.add(trx, id, [ADMINISTRATOR_ROLE_ID]);
  const details = { username, added: ['Administrator'], removed: [] };
  await recordAudit(trx, actor, { action: 'user.roles_changed', resourceId: id, details });
}
