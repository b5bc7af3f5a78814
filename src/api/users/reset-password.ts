/** Somebody else sets a user's password: it must be changed at the next sign-in, and whoever was in is out. */

import type { Database, Db } from '../../db/open.ts';
import { passwordFault } from '../../domain/password-rules.ts';
import { conflict, forbidden, invalidField } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { forgetInitialPassword } from '../../security/built-ins.ts';
import { requireOwnUser } from '../../security/delegation.ts';
import { hashPassword } from '../../security/passwords.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { setAttemptState, setPassword } from '../auth/queries.ts';
import { requireUser } from './change.ts';
import type { UserRow } from './queries.ts';

export interface ResetOptions {
  database: Database;
  /** Where the file with the first password may lie. */
  dataDir: string;
  log: Log;
}

export interface Reset {
  userId: string;
  newPassword: string;
}

/**
 * @throws HawserError not_found; conflict `service_account`; forbidden `beyond_own_permissions`, and of one's own password
 *   `session_required` or `forbidden`; invalid `weak_password` at /newPassword
 */
export async function resetPassword(
  { database, dataDir, log }: ResetOptions,
  principal: UserPrincipal,
  actor: Actor,
  { userId, newPassword }: Reset,
): Promise<void> {
  refuseOwn(principal, userId);
  const { username } = await requireResettable(database.read, principal, userId);
  const fault = passwordFault(newPassword, username);
  if (fault !== null) throw invalidField('/newPassword', fault, 'weak_password');
  const hash = await hashPassword(newPassword, `user ${principal.userId}`);
  await database.write.transaction().execute(async (trx) => {
    // The user may have gone, or have been given more, while this was hashing.
    await requireResettable(trx, principal, userId);
    await setPassword(trx, { userId, hash, mustChange: true, now: actor.at, keepSession: null });
    await setAttemptState(trx, userId, { failures: 0, lockoutEnd: null });
    await recordAudit(trx, actor, { action: 'password.reset', resourceId: userId, details: { username } });
  });
  // Whoever it was: as long as the file's password opens anything, nobody has got as far as here.
  await forgetInitialPassword(dataDir).catch((error: unknown) => {
    log.error({ err: error }, 'the file with the first password could not be removed');
  });
}

/** One's own password is changed by those who know it, with change-password: a token or an open session must not do. */
function refuseOwn({ userId: own, authMethod }: UserPrincipal, userId: string): void {
  if (userId !== own) return;
  if (authMethod === 'Token')
    throw forbidden('A token may not set the password of its owner', 'session_required');
  throw forbidden('Your own password is changed with POST /api/v1/auth/change-password');
}

async function requireResettable(db: Db, principal: UserPrincipal, userId: string): Promise<UserRow> {
  const row = await requireUser(db, userId);
  if (row.account_type === 'ServiceAccount') {
    throw conflict('service_account', 'A service account has no password');
  }
  await requireOwnUser(db, principal, userId);
  return row;
}
