/** `/api/v1/auth/token-exchange`: jobs exchange a token of their forge for one of a service account (RFC 8693). */

import { z } from 'zod';
import { findAccountByName } from '../../db/accounts.ts';
import type { Database, Db } from '../../db/database.ts';
import { insertToken } from '../../deeds/tokens.ts';
import { json } from '../../http/answer.ts';
import { RawDocument, type Route, route } from '../../http/route.ts';
import { DAY, MINUTE, SECOND } from '../../lib/clock.ts';
import { HawserError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { sourceOf } from '../../lib/source-address.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { type JobClaims, JobTokenFault, type JobTokens } from '../../security/openid/job-tokens.ts';
import { throttle } from '../../security/throttle.ts';
import { readSecretBody } from './bodies.ts';
import { federationsOf } from './federations.ts';
import { ExchangedToken } from './schemas.ts';
import { useToken } from './used-tokens.ts';

const FORM = 'application/x-www-form-urlencoded';
const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';

/** Other members are no harm (RFC 6749, 3.2), but none of them does anything. */
const Request = z.object({
  grant_type: z.string(),
  subject_token: z.string().max(16_384),
  subject_token_type: z.string(),
  client_id: z.string().max(256),
});

export interface ExchangeTools {
  database: Database;
  log: Log;
  /** Null where no issuer is configured. */
  jobTokens: JobTokens | null;
}

export function tokenExchangeRoute(tools: ExchangeTools): Route {
  return route({
    tags: ['Tokens'],
    id: 'exchangeToken',
    method: 'POST',
    path: '/api/v1/auth/token-exchange',
    summary: 'Exchange the token of a job for one of a service account',
    description:
      'The form is that of RFC 8693: `grant_type`, `subject_token`, `subject_token_type`, and the name of the service ' +
      'account as `client_id`. Whatever is wrong, the answer is the same; the log and the audit trail say what it is.',
    access: { kind: 'public' },
    body: { kind: 'document', schema: RawDocument, mediaTypes: [FORM] },
    answers: { 200: { description: 'The token, shown this once', schema: ExchangedToken } },
    problems: ['invalid_grant', 'rate_limited'],
    async handle({ body, facts: { actor } }) {
      try {
        const answer = json(await exchange(tools, actor, body));
        return { ...answer, headers: { ...answer.headers, 'Cache-Control': 'no-store' } };
      } catch (error) {
        if (!(error instanceof JobTokenFault)) throw error;
        await noteRefusal(tools, actor, error);
        const message = 'The token cannot be exchanged; the log of the server has the reason';
        throw new HawserError('invalid', 'invalid_grant', message, { data: { error: 'invalid_grant' } });
      }
    },
  });
}

async function exchange(
  { database, jobTokens }: ExchangeTools,
  actor: Actor,
  body: z.output<typeof RawDocument>,
): Promise<z.output<typeof ExchangedToken>> {
  if (jobTokens === null) throw new JobTokenFault('no issuer is configured');
  const form = readForm(body);
  if (form.grant_type !== GRANT || form.subject_token_type !== JWT)
    throw new JobTokenFault('another grant or type of token');
  const claims = await jobTokens.read(form.subject_token, actor.at);
  return database.write.transaction().execute(async (trx) => {
    const account = await findAccountByName(trx, form.client_id);
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
    return {
      access_token: token,
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: lifetime / SECOND,
      scope: scopes.join(' '),
    };
  });
}

function readForm(body: z.output<typeof RawDocument>): z.output<typeof Request> {
  try {
    return readSecretBody(Request, body);
  } catch {
    throw new JobTokenFault('the form is not that of RFC 8693');
  }
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

/** @throws HawserError rate_limited beyond 30 refusals a minute from one address */
async function noteRefusal(
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
