/** A new user with a password, or a new service account without one. */

import type { Database } from '../../db/open.ts';
import { passwordFault } from '../../domain/password-rules.ts';
import { invalidField } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { hashPassword } from '../../security/passwords.ts';
import { findAccountByName } from '../auth/queries.ts';
import { insertUser, nameTaken, type UserRow } from './queries.ts';

export interface UserWish {
  username: string;
  email: string;
  /** Null exactly for a service account. */
  password: string | null;
  accountType: UserRow['account_type'];
  requirePasswordChange: boolean;
}

/** @throws HawserError invalid `weak_password` at /password; conflict `name_taken` */
export async function createUser(database: Database, actor: Actor, wish: UserWish): Promise<UserRow> {
  const { username, email, password, accountType } = wish;
  const fault = password === null ? null : passwordFault(password, username);
  if (fault !== null) throw invalidField('/password', fault, 'weak_password');
  // Asked here so that a name that is taken costs no hash; whoever is quicker meanwhile, the insertion finds.
  if (await findAccountByName(database.read, username)) throw nameTaken();
  const passwordHash = password === null ? null : await hashPassword(password, `user ${actor.id}`);
  const mustChange = accountType === 'User' && wish.requirePasswordChange;
  return database.write.transaction().execute(async (trx) => {
    const account = { id: newId(), username, email, accountType, passwordHash, mustChange, now: actor.at };
    const row = await insertUser(trx, account);
    const details = { username, email, accountType };
    await recordAudit(trx, actor, { action: 'user.created', resourceId: row.id, details });
    return row;
  });
}
