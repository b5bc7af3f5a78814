/** A user changes the own password: the current one is asked for, and the user's other sessions end. */

import { findAccount, setPassword } from '../db/accounts.ts';
import type { Database, Db } from '../db/database.ts';
import { passwordFault } from '../domain/password-rules.ts';
import { invalid, invalidField } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { recordAudit } from '../security/audit.ts';
import { forgetInitialPassword } from '../security/built-ins.ts';
import type { Caller } from '../security/caller.ts';
import { hashPassword, verifyPassword } from '../security/passwords.ts';
import { throttle } from '../security/throttle.ts';

export interface PasswordChange {
  currentPassword: string;
  newPassword: string;
}

/**
 * @throws HawserError invalid `current_password_incorrect`, or `validation_failed` for a new one that is too weak
 *   or the same; rate_limited beyond 30 attempts a minute, since a stolen session must not find the password out, or
 *   too many at once; unavailable `overloaded` where too many attempts of others wait
 */
export async function changePassword(
  { database, dataDir, log }: { database: Database; dataDir: string; log: Log },
  { principal, actor }: Caller,
  { currentPassword, newPassword }: PasswordChange,
): Promise<void> {
  const { userId } = principal;
  const now = actor.at;
  const fault = passwordFault(newPassword, principal.username);
  if (fault !== null) throw invalidField('/newPassword', fault, 'weak_password');
  const proven = await requirePassword(database, { principal, actor }, currentPassword);
  if (newPassword.normalize('NFKC') === currentPassword.normalize('NFKC')) {
    throw invalidField('/newPassword', 'The new password must differ from the current one', 'same_password');
  }
  const hash = await hashPassword(newPassword, sourceOf(principal));
  await database.write.transaction().execute(async (trx) => {
    await requireUnchanged(trx, userId, proven);
    const keepSession = principal.credentialId;
    await setPassword(trx, { userId, hash, mustChange: false, now, keepSession });
    await recordAudit(trx, actor, { action: 'password.changed', resourceId: userId });
  });
  await forgetInitialPassword(dataDir).catch((error: unknown) => {
    // The password is changed all the same, and the one in the file is no longer valid.
    log.error({ err: error }, 'the file with the first password could not be removed');
  });
}

/**
 * Makes sure that the caller knows the own password, and is not only somebody with the session.
 * @returns the hash that was proven
 * @throws HawserError invalid `current_password_incorrect`; rate_limited and unavailable as `changePassword`
 */
export async function requirePassword(
  database: Database,
  { principal, actor }: Caller,
  password: string,
): Promise<string | null> {
  const source = sourceOf(principal);
  await throttle(database, source, actor.at);
  const hash = (await findAccount(database.read, principal.userId))?.password_hash ?? null;
  if (!(await verifyPassword(password, hash, source))) throw incorrect();
  return hash;
}

/** By whom attempts are counted, and whose turn it is. */
const sourceOf = ({ userId }: Caller['principal']) => `user ${userId}`;

/** Another change or a reset may have been made while this one was hashing. It must not be undone. */
async function requireUnchanged(trx: Db, userId: string, proven: string | null): Promise<void> {
  const account = await findAccount(trx, userId);
  if (account?.password_hash !== proven) throw incorrect();
}

const incorrect = () => invalid('current_password_incorrect', 'The current password is wrong');
