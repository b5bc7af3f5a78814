/** A user changes the own password: the old one is proven, other sessions end. */

import type { Database } from '../../db/open.ts';
import { passwordFault } from '../../domain/password-rules.ts';
import { invalid, invalidField } from '../../lib/errors.ts';
import { forgetInitialPassword } from '../../security/built-ins.ts';
import { hashPassword, verifyPassword } from '../../security/passwords.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { findAccount, setPassword } from './queries.ts';

/** @throws HawserError invalid `current_password_incorrect`, or `validation_failed` for a new one that is too weak */
export async function changePassword(
  database: Database,
  dataDir: string,
  principal: UserPrincipal,
  change: { currentPassword: string; newPassword: string; now: number },
): Promise<void> {
  const fault = passwordFault(change.newPassword, principal.username);
  if (fault !== null) throw invalidField('/newPassword', fault, 'weak_password');
  const account = await findAccount(database.read, principal.userId);
  if (!(await verifyPassword(change.currentPassword, account?.password_hash ?? null))) {
    throw invalid('current_password_incorrect', 'The current password is wrong');
  }
  const hash = await hashPassword(change.newPassword);
  await database.write.transaction().execute((trx) =>
    setPassword(trx, {
      userId: principal.userId,
      hash,
      mustChange: false,
      now: change.now,
      keepSession: principal.credentialId,
    }),
  );
  await forgetInitialPassword(dataDir);
}
