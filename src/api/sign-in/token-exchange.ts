/** `/api/v1/auth/token-exchange`: jobs exchange a token of their forge for one of a service account (RFC 8693). */

import { z } from 'zod';
import {
  type ExchangeTools,
  exchangeToken,
  noteRefusedExchange,
  requireIssuers,
} from '../../deeds/exchange-token.ts';
import { json } from '../../http/answer.ts';
import { RawDocument, type Route, route } from '../../http/route.ts';
import { SECOND } from '../../lib/clock.ts';
import { HawserError } from '../../lib/errors.ts';
import type { Actor } from '../../security/audit.ts';
import { JobTokenFault } from '../../security/openid/job-tokens.ts';
import { readSecretBody } from './bodies.ts';
import { ExchangedToken } from './schemas.ts';

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
        await noteRefusedExchange(tools, actor, error);
        const message = 'The token cannot be exchanged; the log of the server has the reason';
        throw new HawserError('invalid', 'invalid_grant', message, { data: { error: 'invalid_grant' } });
      }
    },
  });
}

function readForm(body: z.output<typeof RawDocument>): z.output<typeof Request> {
  try {
    return readSecretBody(Request, body);
  } catch {
    throw new JobTokenFault('the form is not that of RFC 8693');
  }
}

async function exchange(
  tools: ExchangeTools,
  actor: Actor,
  body: z.output<typeof RawDocument>,
): Promise<z.output<typeof ExchangedToken>> {
  requireIssuers(tools.jobTokens);
  const form = readForm(body);
  if (form.grant_type !== GRANT || form.subject_token_type !== JWT)
    throw new JobTokenFault('another grant or type of token');
  const wanted = { jobToken: form.subject_token, accountName: form.client_id };
  const { token, lifetime, scopes } = await exchangeToken(tools, actor, wanted);
  return {
    access_token: token,
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: lifetime / SECOND,
    scope: scopes.join(' '),
  };
}
