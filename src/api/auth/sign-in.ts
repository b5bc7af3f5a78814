/**
 * Sign-in: one answer and about one duration for every cause of refusal. Lock and throttle are counted in SQL; how many
 * checks may wait, each process counts for itself.
 */

import type { Database, Db } from '../../db/open.ts';
import { MINUTE } from '../../lib/clock.ts';
import { HawserError, unauthenticated } from '../../lib/errors.ts';
import { newSecret } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { sourceOf } from '../../lib/source-address.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { SESSION_LIFETIME } from '../../security/identify.ts';
import { verifyPassword } from '../../security/passwords.ts';
import { findAccount, findAccountByName, insertSession, setAttemptState } from './queries.ts';
import { throttle } from './throttle.ts';

const MAX_FAILURES = 5;
const LOCK_DURATION = 15 * MINUTE;

export interface SignInTools {
  database: Database;
  log: Log;
  /** Told of each attempt why it was refused, in a few fixed words; null when it was not. */
  onSignIn(refusal: string | null): void;
}

export interface SignIn {
  username: string;
  password: string;
  address: string;
  now: number;
  actor: Actor;
}

type Account = NonNullable<Awaited<ReturnType<typeof findAccount>>>;

/**
 * Checks a user name and password and opens a session. Each attempt that is not throttled leaves one entry in the
 * audit trail, whether there is such a user or not.
 * @throws HawserError unauthenticated `invalid_credentials`; rate_limited beyond 30 attempts a minute, or too many at
 *   once; unavailable `overloaded` where too many of others wait
 */
export async function signIn(
  tools: SignInTools,
  attempt: SignIn,
): Promise<{ account: Account; sessionSecret: string }> {
  const { database, log, onSignIn } = tools;
  const { address, now, actor } = attempt;
  const source = sourceOf(address);
  await throttle(database, source, now, (trx) =>
    recordRefusal(trx, actor, undefined, 'too many attempts'),
  ).catch((error: unknown) => {
    onSignIn('too many attempts');
    throw error;
  });
  const found = await findAccountByName(database.read, attempt.username);
  const matches = await verifyPassword(attempt.password, found?.password_hash ?? null, source).catch(
    (error: unknown) => refuseUnchecked(tools, actor, error),
  );
  const sessionSecret = newSecret();
  // Read again inside the transaction: another attempt may have locked the account meanwhile.
  const outcome = await database.write.transaction().execute(async (trx) => {
    const account = found && (await findAccount(trx, found.id));
    const refusal = await refusalOf(trx, account, { matches, hash: found?.password_hash ?? null, now });
    if (refusal !== null || !account) {
      const reason = refusal ?? 'unknown user';
      await recordRefusal(trx, actor, account, reason);
      return { refusal: reason };
    }
    await setAttemptState(trx, account.id, { failures: 0, lockoutEnd: null });
    await insertSession(trx, {
      secret: sessionSecret,
      userId: account.id,
      now,
      expiresAt: now + SESSION_LIFETIME,
    });
    const user = { ...actor, type: 'User' as const, id: account.id, name: account.username };
    await recordAudit(trx, user, { action: 'session.created', resourceId: account.id });
    return { account };
  });
  onSignIn(outcome.refusal ?? null);
  if (outcome.account) return { account: outcome.account, sessionSecret };
  log.info({ reason: outcome.refusal, address }, 'sign-in refused');
  throw unauthenticated('The user name or the password is wrong', 'invalid_credentials');
}

/** Too many wait. Nothing was learned of the account, so nothing is counted against it or told of it. */
async function refuseUnchecked(
  { database, onSignIn }: SignInTools,
  actor: Actor,
  error: unknown,
): Promise<never> {
  if (error instanceof HawserError) {
    onSignIn('too many at once');
    await database.write
      .transaction()
      .execute((trx) => recordRefusal(trx, actor, undefined, 'too many at once'));
  }
  throw error;
}

/** The name is told of a known account alone: what else was typed may be a password in the wrong field. */
async function recordRefusal(
  trx: Db,
  actor: Actor,
  account: Account | undefined,
  reason: string,
): Promise<void> {
  const details = account === undefined ? { reason } : { reason, username: account.username };
  await recordAudit(trx, actor, { action: 'session.refused', resourceId: account?.id ?? null, details });
}

/** Why an account may not sign in, counting a wrong password; null when it may. */
async function refusalOf(
  trx: Db,
  account: Account | undefined,
  check: { matches: boolean; hash: string | null; now: number },
): Promise<string | null> {
  if (!account) return 'unknown user';
  if (account.is_active !== 1) return 'inactive';
  if (account.lockout_end !== null && account.lockout_end > check.now) return 'locked';
  if (check.matches && account.password_hash === check.hash) return null;
  const failures = account.access_failed_count + 1;
  const locks = failures >= MAX_FAILURES;
  await setAttemptState(trx, account.id, {
    failures: locks ? 0 : failures,
    lockoutEnd: locks ? check.now + LOCK_DURATION : null,
  });
  return locks ? 'wrong password, now locked' : 'wrong password';
}
