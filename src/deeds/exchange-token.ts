/** Exchanges the token of a job for one of a service account that takes such tokens. */

import { findAccountByName } from '../db/accounts.ts';
import type { Database, Db } from '../db/database.ts';
import { useToken } from '../db/used-tokens.ts';
import { DAY, MINUTE } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { sourceOf } from '../lib/source-address.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import { type JobClaims, JobTokenFault, type JobTokens } from '../security/openid/job-tokens.ts';
import { throttle } from '../security/throttle.ts';
import { federationsOf } from './federate.ts';
import { insertToken } from './tokens.ts';

export interface ExchangeTools {
  database: Database;
  log: Log;
  /** Null where no issuer is configured. */
  jobTokens: JobTokens | null;
}

/** A token of a service account. */
export interface ExchangedToken {
  token: string;
  /** Milliseconds. */
  lifetime: number;
  scopes: readonly string[];
}

/**
 * @param accountName the service account
 * @throws JobTokenFault, which only the log and the audit trail may tell
 */
export async function exchangeToken(
  { database, jobTokens }: ExchangeTools,
  actor: Actor,
  { jobToken, accountName }: { jobToken: string; accountName: string },
): Promise<ExchangedToken> {
  const claims = await requireIssuers(jobTokens).read(jobToken, actor.at);
  return database.write.transaction().execute(async (trx) => {
    const account = await findAccountByName(trx, accountName);
    if (account?.account_type !== 'ServiceAccount') throw new JobTokenFault('no such service account');
    if (account.is_active !== 1) throw new JobTokenFault('the service account is not active');
    const federations = await federationsOf(trx, account.id).selectAll().execute();
    const federation = federations.find(
      (one) => one.issuer === claims.iss && fits(JSON.parse(one.claims), claims),
    );
    if (federation === undefined) throw new JobTokenFault('no federation has these claims');
    const { iss: issuer, jti: id, exp: expiresAt } = claims;
    if (!(await useToken(trx, { issuer, id, expiresAt }, actor.at)))
      throw new JobTokenFault('it was used before');
    await forgetOldTokens(trx, account.id, actor.at);
    const scopes: string[] = JSON.parse(federation.scopes);
    const lifetime = federation.lifetime_minutes * MINUTE;
    const job = { ...actor, type: 'User' as const, id: account.id, name: account.username };
    const audited = {
      username: account.username,
      via: 'exchange',
      federationId: federation.id,
      subject: claims.sub,
    };
    const { token } = await insertToken(
      trx,
      job,
      { userId: account.id, federationId: federation.id, audited },
      { name: `exchange: ${claims.sub}`.slice(0, 128), scopes, expiresAt: actor.at + lifetime },
    );
    return { token, lifetime, scopes };
  });
}

/** @throws JobTokenFault where no issuer is configured */
export function requireIssuers(jobTokens: JobTokens | null): JobTokens {
  if (jobTokens === null) throw new JobTokenFault('no issuer is configured');
  return jobTokens;
}

/** Values are compared as they are: neither case nor type is made alike. */
function fits(wanted: Record<string, unknown>, claims: JobClaims): boolean {
  return Object.entries(wanted).every(
    ([name, value]) => Object.hasOwn(claims, name) && claims[name] === value,
  );
}

/** A pipeline makes many, and none is of use to anybody once it has ended. */
async function forgetOldTokens(trx: Db, userId: string, now: number): Promise<void> {
  await trx
    .deleteFrom('access_tokens')
    .where('user_id', '=', userId)
    .where('federation_id', 'is not', null)
    .where('expires_at', '<', now - DAY)
    .execute();
}

/** Notes why a token was not exchanged. @throws HawserError rate_limited beyond 30 refusals a minute from one address */
export async function noteRefusedExchange(
  { database, log }: ExchangeTools,
  actor: Actor,
  fault: JobTokenFault,
): Promise<void> {
  const { address, requestId } = actor;
  log.info({ requestId, reason: fault.message, err: fault.cause, address }, 'token exchange refused');
  await throttle(database, `exchange ${sourceOf(address ?? '')}`, actor.at);
  const details = { reason: fault.message };
  await database.write
    .transaction()
    .execute((trx) =>
      recordAudit(trx, actor, { action: 'token.exchange_refused', resourceId: null, details }),
    );
}
