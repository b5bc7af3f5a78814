/**
 * Sessions: sign-in opens one, sign-out ends one. Every refused sign-in gets the same answer after about the same time,
 * whatever the cause. Locks and attempts are counted in SQL; each server bounds for itself how many checks may wait.
 */

import {
  deleteSession,
  findAccount,
  findAccountByName,
  insertSession,
  replaceHash,
  setAttemptState,
} from '../db/accounts.ts';
import type { Database, Db } from '../db/database.ts';
import { MINUTE } from '../lib/clock.ts';
import { HawserError, unauthenticated } from '../lib/errors.ts';
import { newSecret } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { sourceOf } from '../lib/source-address.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import { SESSION_LIFETIME } from '../security/identify.ts';
import { hasImportedPasswords } from '../security/imported-passwords.ts';
import { checkPassword } from '../security/passwords.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { throttle } from '../security/throttle.ts';

const MAX_FAILURES = 5;
const LOCK_DURATION = 15 * MINUTE;

export interface SignInTools {
  database: Database;
  log: Log;
  /** Called after each attempt with the reason of its refusal, one of a few fixed texts, or null. */
  onSignIn(refusal: string | null): void;
}

type Account = NonNullable<Awaited<ReturnType<typeof findAccount>>>;

interface Credentials {
  username: string;
  password: string;
}

type Outcome = { account: Account; sessionSecret: string } | { refusal: string };

/**
 * Checks a user name and password and opens a session. Each attempt that is not throttled leaves one entry in the
 * audit trail, whether there is such a user or not.
 * @throws HawserError unauthenticated `invalid_credentials`; rate_limited beyond 30 attempts a minute, or too many at
 *   once; unavailable `overloaded` where too many attempts of others wait
 */
export async function signIn(
  tools: SignInTools,
  actor: Actor,
  credentials: Credentials,
): Promise<{ account: Account; sessionSecret: string }> {
  const { database, log, onSignIn } = tools;
  const { address, at: now } = actor;
  const source = sourceOf(address ?? '');
  await throttle(database, source, now, (trx) =>
    recordRefusal(trx, actor, undefined, 'too many attempts'),
  ).catch((error: unknown) => {
    onSignIn('too many attempts');
    throw error;
  });
  let outcome: Outcome | null = null;
  while (outcome === null) outcome = await attempt(tools, actor, { ...credentials, source });
  onSignIn('refusal' in outcome ? outcome.refusal : null);
  if ('account' in outcome) return outcome;
  log.info({ reason: outcome.refusal, address }, 'sign-in refused');
  throw unauthenticated('The user name or the password is wrong', 'invalid_credentials');
}

/**
 * Checks the password and opens the session.
 * @returns null where the password is right, but its hash from another server was replaced meanwhile by another sign-in.
 *   Then it is to be checked again, because somebody may as well have changed the password.
 */
async function attempt(
  tools: SignInTools,
  actor: Actor,
  { username, password, source }: Credentials & { source: string },
): Promise<Outcome | null> {
  const { database } = tools;
  const { at: now } = actor;
  const mayBeImported = await hasImportedPasswords(database.read);
  const found = await findAccountByName(database.read, username);
  const hash = found?.password_hash ?? null;
  const { matches, replacement } = await checkPassword(password, hash, { source, mayBeImported }).catch(
    (error: unknown) => refuseUnchecked(tools, actor, error),
  );
  const sessionSecret = newSecret();
  return database.write.transaction().execute(async (trx) => {
    // The account is read again: another attempt may have locked it meanwhile.
    const account = found && (await findAccount(trx, found.id));
    if (replacement !== null && account && account.password_hash !== hash) return null;
    const refusal = await refusalOf(trx, account, { matches, hash, now });
    if (refusal !== null || !account) {
      const reason = refusal ?? 'unknown user';
      await recordRefusal(trx, actor, account, reason);
      return { refusal: reason };
    }
    await setAttemptState(trx, account.id, { failures: 0, lockoutEnd: null });
    if (replacement !== null) await replaceHash(trx, account.id, { before: hash, after: replacement });
    const session = { secret: sessionSecret, userId: account.id, now, expiresAt: now + SESSION_LIFETIME };
    await insertSession(trx, session);
    const user = { ...actor, type: 'User' as const, id: account.id, name: account.username };
    await recordAudit(trx, user, { action: 'session.created', resourceId: account.id });
    return { account, sessionSecret };
  });
}

/** Refuses an attempt because too many wait. Its password was not checked, so nothing is counted against the account. */
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

/** Records the user name of a known account only: an unknown one may be a password typed into the wrong field. */
async function recordRefusal(
  trx: Db,
  actor: Actor,
  account: Account | undefined,
  reason: string,
): Promise<void> {
  const details = account === undefined ? { reason } : { reason, username: account.username };
  await recordAudit(trx, actor, { action: 'session.refused', resourceId: account?.id ?? null, details });
}

/** Counts a wrong password. @returns why the account may not sign in, or null when it may */
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

/**
 * Ends the session on the server, whoever still has its cookie. If two sign-outs come at once, only one is recorded.
 * @param principal a user who is signed in with a session
 */
export async function signOut(database: Database, principal: UserPrincipal, actor: Actor): Promise<void> {
  await database.write.transaction().execute(async (trx) => {
    if (!(await deleteSession(trx, principal.credentialId))) return;
    await recordAudit(trx, actor, { action: 'session.ended', resourceId: principal.userId });
  });
}
