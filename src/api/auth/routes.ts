/** `/api/v1/auth`: sign-in, sign-out, who am I, change of password, personal access tokens. */

import { listMemberships } from '../../db/accounts.ts';
import type { Database } from '../../db/database.ts';
import { readFreeze } from '../../db/freeze.ts';
import { changePassword } from '../../deeds/change-password.ts';
import { signIn, signOut } from '../../deeds/sign-in.ts';
import { createToken, listTokens, revokeToken, toToken } from '../../deeds/tokens.ts';
import { json, noContent, redirect } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { ENDED_SESSION, sessionCookie } from '../../http/session-cookie.ts';
import type { Log } from '../../lib/log.ts';
import type { Providers } from '../../security/openid/providers.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { shownFreeze } from '../shared/freeze.ts';
import { operation, ResourceRoutes } from '../shared/routes.ts';
import { accountTokenRoutes } from './account-tokens.ts';
import { ChangePassword, CreatedToken, Login, Me, NewToken, SignedIn, Token } from './schemas.ts';

const TAGS = ['Authentication'];
export const SESSION = { kind: 'user', session: true, duringPasswordChange: true } as const;
export const ENDS_SESSION = { 'Set-Cookie': 'Makes the browser forget the session' };
export const ATTEMPT_PROBLEMS = ['overloaded', 'rate_limited'] as const;

export interface AuthOptions {
  database: Database;
  dataDir: string;
  log: Log;
  /** Called after each sign-in with the reason of its refusal, or null. */
  onSignIn(refusal: string | null): void;
  /** The path with which the addresses of the console begin; null where the server has none. */
  console: string | null;
  providers: Providers;
}

/** The page that says so, and leads to where the provider's own session ends. */
export function signedOutPage({ authProvider }: Pick<UserPrincipal, 'authProvider'>): string {
  return authProvider === 'Local' ? '/login' : `/login?${new URLSearchParams({ signedOut: authProvider })}`;
}

export function authRoutes(options: AuthOptions): Route[] {
  return [loginRoute(options), ...logoutRoutes(options), meRoute(options), changePasswordRoute(options)];
}

function loginRoute(options: AuthOptions): Route {
  const headers = { 'Set-Cookie': 'The session' };
  return route({
    tags: TAGS,
    id: 'login',
    method: 'POST',
    path: '/api/v1/auth/login',
    summary: 'Sign in with user name and password',
    description: 'Answers alike for an unknown user, a wrong password, a locked and an inactive account.',
    access: { kind: 'public' },
    body: { kind: 'json', schema: Login },
    answers: { 200: { description: 'Signed in; the session is in the cookie', schema: SignedIn, headers } },
    problems: ['invalid_credentials', ...ATTEMPT_PROBLEMS],
    async handle({ body, facts }) {
      const { account, sessionSecret } = await signIn(options, facts.actor, body);
      const answer = json({
        userId: account.id,
        username: account.username,
        email: account.email,
        requirePasswordChange: account.require_password_change === 1,
      });
      return { ...answer, headers: { ...answer.headers, 'Set-Cookie': sessionCookie(sessionSecret) } };
    },
  });
}

function logoutRoutes({ database }: AuthOptions): Route[] {
  return [
    route({
      tags: TAGS,
      access: SESSION,
      id: 'logout',
      method: 'POST',
      path: '/api/v1/auth/logout',
      summary: 'Sign out',
      answers: { 204: { description: 'The session has ended on the server', headers: ENDS_SESSION } },
      async handle({ principal, facts }) {
        await signOut(database, principal, facts.actor);
        return { ...noContent(), headers: ENDED_SESSION };
      },
    }),
    route({
      tags: TAGS,
      access: SESSION,
      id: 'logoutAndRedirect',
      method: 'GET',
      path: '/api/v1/auth/logout-redirect',
      summary: 'Sign out and go to the sign-in page',
      description: 'HEAD answers the same, but for the cookie, and leaves the session open.',
      answers: {
        302: { description: 'To /login; the session has ended on the server', headers: ENDS_SESSION },
      },
      async handle({ principal, facts }) {
        const answer = redirect(signedOutPage(principal));
        if (facts.isHead) return answer;
        await signOut(database, principal, facts.actor);
        return { ...answer, headers: { ...answer.headers, ...ENDED_SESSION } };
      },
    }),
  ];
}

function meRoute({ database }: AuthOptions): Route {
  const access = { kind: 'user', anyScopes: true, duringPasswordChange: true } as const;
  return new ResourceRoutes(database, { tags: TAGS, access }).get('/api/v1/auth/me', {
    ...operation('getCurrentUser', 'Who the caller is and what the caller may do'),
    answer: { description: 'The caller', schema: Me },
    async handle({ principal, facts }) {
      const { userId, username, email, accountType } = principal;
      const { authProvider, authMethod, requirePasswordChange } = principal;
      const { roles, groups } = await listMemberships(database.read, userId);
      const permissions = [...principal.permissions].sort();
      const who = { userId, username, email, accountType, roles, groups, permissions };
      const found = await readFreeze(database.read, facts.now);
      const freeze = found && shownFreeze(found);
      return { ...who, authProvider, authMethod, requirePasswordChange, freeze };
    },
  });
}

function changePasswordRoute(options: AuthOptions): Route {
  const common = { tags: TAGS, access: SESSION };
  return new ResourceRoutes(options.database, common).act('/api/v1/auth/change-password', {
    ...operation('changePassword', 'Change the own password'),
    method: 'POST',
    body: { kind: 'json', schema: ChangePassword },
    answer: { description: 'Changed; all other sessions of the user have ended' },
    problems: ['current_password_incorrect', ...ATTEMPT_PROBLEMS],
    handle: ({ caller, body }) => changePassword(options, caller, body),
  });
}

/** The routes for the caller's own tokens, and for those of service accounts. */
export function tokenRoutes(database: Database): Route[] {
  const tags = ['Tokens'];
  const readers = new ResourceRoutes(database, { tags, access: { kind: 'user' } });
  const tokens = new ResourceRoutes(database, { tags, access: { kind: 'user', session: true } });
  return [
    tokens.create('/api/v1/auth/tokens', {
      ...operation('createToken', 'Create a personal access token'),
      description:
        'Scopes are permissions, and `configurations.grants`, `composite-configurations.grants` and `parameters.grants` ' +
        'to use grants of the owner. One that the owner does not hold has no effect until held. A token without any can ' +
        'only call `/api/v1/auth/me`.',
      body: { kind: 'json', schema: NewToken },
      answer: { description: 'The token, shown this once', schema: CreatedToken },
      change: (trx, { caller, body }) => createToken(trx, caller, body),
      key: ({ tokenId }) => tokenId,
    }),
    readers.list('/api/v1/auth/tokens', {
      ...operation('listTokens', "List the caller's tokens, newest first"),
      answer: { description: 'Tokens without their secrets', schema: Token },
      rows: ({ principal, query }) => listTokens(database.read, principal.userId, query),
      show: toToken,
    }),
    tokens.delete('/api/v1/auth/tokens/{id}', {
      ...operation('revokeToken', "Revoke one of the caller's tokens"),
      params: idsInPath('id'),
      answer: { description: 'Revoked; it stays listed' },
      change: (trx, { caller, principal, params }) => revokeToken(trx, caller.actor, principal, params.id),
    }),
    ...accountTokenRoutes(database),
  ];
}
