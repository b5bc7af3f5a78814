/** `/api/v1/auth/tokens`: personal access tokens. The token itself is shown once and stored as a hash. */

import type { Database } from '../../db/open.ts';
import { created, noContent, page } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath, Paging } from '../../http/schemas.ts';
import { DAY, toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { invalidField, notFound, unauthenticated } from '../../lib/errors.ts';
import { newId, newSecret } from '../../lib/ids.ts';
import { recordAudit } from '../../security/audit.ts';
import { TOKEN_PREFIX } from '../../security/identify.ts';
import { findAccount, findToken, insertToken, listTokens, revokeToken } from './queries.ts';
import { CreatedToken, NewToken, Token } from './schemas.ts';

const TAGS = ['Tokens'];
const PATH = '/api/v1/auth/tokens';
const DEFAULT_LIFETIME = 90 * DAY;
/** Enough to tell tokens apart, too little to help guessing one. */
const SHOWN_CHARACTERS = 12;

export function tokenRoutes(database: Database): Route[] {
  return [createRoute(database), listRoute(database), revokeRoute(database)];
}

function createRoute(database: Database): Route {
  return route({
    id: 'createToken',
    method: 'POST',
    path: PATH,
    summary: 'Create a personal access token',
    description:
      'Scopes are permissions, and `configurations.grants`, `composite-configurations.grants` and `parameters.grants` ' +
      'to use grants of the owner. One that the owner does not hold has no effect until held. A token without any can ' +
      'only call `/api/v1/auth/me`.',
    tags: TAGS,
    access: { kind: 'user', session: true },
    body: { kind: 'json', schema: NewToken },
    answers: { 201: { description: 'The token, shown this once', schema: CreatedToken } },
    async handle({ principal, body, facts }) {
      const { now } = facts;
      const expiresAt = body.expiresAt === undefined ? now + DEFAULT_LIFETIME : body.expiresAt;
      if (expiresAt !== null && expiresAt <= now) throw invalidField('/expiresAt', 'This time has passed');
      const id = newId();
      const secret = newSecret(TOKEN_PREFIX);
      const { name, scopes } = body;
      const prefix = secret.slice(0, SHOWN_CHARACTERS);
      const token = { id, userId: principal.userId, name, prefix, secret, scopes, expiresAt, now };
      await database.write.transaction().execute(async (trx) => {
        // Deactivation revokes the tokens that are there; one made just after would live on.
        if ((await findAccount(trx, principal.userId))?.is_active !== 1) {
          throw unauthenticated('The session or token is not valid');
        }
        await insertToken(trx, token);
        const details = { name, scopes, expiresAt: toOptionalTimestamp(expiresAt) };
        await recordAudit(trx, facts.actor, { action: 'token.created', resourceId: id, details });
      });
      const shown = { token: secret, tokenId: id, name, tokenPrefix: prefix, scopes };
      return created(`${PATH}/${id}`, {
        ...shown,
        expiresAt: toOptionalTimestamp(expiresAt),
        createdAt: toTimestamp(now),
      });
    },
  });
}

function listRoute(database: Database): Route {
  return route({
    id: 'listTokens',
    method: 'GET',
    path: PATH,
    summary: "List the caller's tokens, newest first",
    tags: TAGS,
    access: { kind: 'user' },
    query: Paging,
    answers: { 200: { description: 'Tokens without their secrets', schema: Token.array() } },
    async handle({ principal, query }) {
      const { rows, total } = await listTokens(database.read, principal.userId, query);
      return page(rows.map(toToken), total, query);
    },
  });
}

function revokeRoute(database: Database): Route {
  return route({
    id: 'revokeToken',
    method: 'DELETE',
    path: `${PATH}/{id}`,
    summary: "Revoke one of the caller's tokens",
    tags: TAGS,
    access: { kind: 'user', session: true },
    params: idsInPath('id'),
    answers: { 204: { description: 'Revoked; it stays listed' } },
    async handle({ principal, params, facts }) {
      await database.write.transaction().execute(async (trx) => {
        const token = await findToken(trx, principal.userId, params.id);
        if (!token) throw notFound('No such token');
        if (token.revoked_at !== null) return;
        await revokeToken(trx, token.id, facts.now);
        const details = { name: token.name };
        await recordAudit(trx, facts.actor, { action: 'token.revoked', resourceId: token.id, details });
      });
      return noContent();
    },
  });
}

type TokenRow = Awaited<ReturnType<typeof listTokens>>['rows'][number];

function toToken(row: TokenRow) {
  return {
    id: row.id,
    name: row.name,
    tokenPrefix: row.prefix,
    scopes: JSON.parse(row.scopes) as string[],
    expiresAt: toOptionalTimestamp(row.expires_at),
    lastUsedAt: toOptionalTimestamp(row.last_used_at),
    isRevoked: row.revoked_at !== null,
    createdAt: toTimestamp(row.created_at),
  };
}
