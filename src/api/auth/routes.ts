/** `/api/v1/auth`: sign-in, sign-out, who am I, change of password. */

import type { Database } from '../../db/open.ts';
import { json, noContent, redirect } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { sessionCookie } from '../../http/session-cookie.ts';
import type { Log } from '../../lib/log.ts';
import { changePassword } from './change-password.ts';
import { listMemberships } from './queries.ts';
import { ChangePassword, Login, Me, SignedIn } from './schemas.ts';
import { signIn } from './sign-in.ts';
import { ENDED_SESSION, signOut } from './sign-out.ts';

const TAGS = ['Authentication'];
const ENDS_SESSION = { 'Set-Cookie': 'Makes the browser forget the session' };

export interface AuthOptions {
  database: Database;
  dataDir: string;
  log: Log;
  /** Told of each sign-in why it was refused; null when it was not. */
  onSignIn(refusal: string | null): void;
}

export function authRoutes(options: AuthOptions): Route[] {
  return [loginRoute(options), ...logoutRoutes(options), meRoute(options), changePasswordRoute(options)];
}

function loginRoute(options: AuthOptions): Route {
  return route({
    id: 'login',
    method: 'POST',
    path: '/api/v1/auth/login',
    summary: 'Sign in with user name and password',
    description: 'Answers alike for an unknown user, a wrong password, a locked and an inactive account.',
    tags: TAGS,
    access: { kind: 'public' },
    body: { kind: 'json', schema: Login },
    answers: {
      200: {
        description: 'Signed in; the session is in the cookie',
        schema: SignedIn,
        headers: { 'Set-Cookie': 'The session' },
      },
    },
    problems: ['invalid_credentials', 'overloaded', 'rate_limited'],
    async handle({ body, facts }) {
      const { address, now, actor } = facts;
      const attempt = { ...body, address, now, actor };
      const { account, sessionSecret } = await signIn(options, attempt);
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
  const access = { kind: 'user', session: true, duringPasswordChange: true } as const;
  return [
    route({
      id: 'logout',
      method: 'POST',
      path: '/api/v1/auth/logout',
      summary: 'Sign out',
      tags: TAGS,
      access,
      answers: {
        204: {
          description: 'The session has ended on the server',
          headers: ENDS_SESSION,
        },
      },
      async handle({ principal, facts }) {
        await signOut(database, principal, facts.actor);
        return { ...noContent(), headers: ENDED_SESSION };
      },
    }),
    route({
      id: 'logoutAndRedirect',
      method: 'GET',
      path: '/api/v1/auth/logout-redirect',
      summary: 'Sign out and go to the sign-in page',
      description: 'HEAD answers the same, but for the cookie, and leaves the session open.',
      tags: TAGS,
      access,
      answers: {
        302: {
          description: 'To /login; the session has ended on the server',
          headers: ENDS_SESSION,
        },
      },
      async handle({ principal, facts }) {
        const answer = redirect('/login');
        if (facts.isHead) return answer;
        await signOut(database, principal, facts.actor);
        return { ...answer, headers: { ...answer.headers, ...ENDED_SESSION } };
      },
    }),
  ];
}

function meRoute({ database }: AuthOptions): Route {
  return route({
    id: 'getCurrentUser',
    method: 'GET',
    path: '/api/v1/auth/me',
    summary: 'Who the caller is and what the caller may do',
    tags: TAGS,
    access: { kind: 'user', anyScopes: true, duringPasswordChange: true },
    answers: { 200: { description: 'The caller', schema: Me } },
    async handle({ principal }) {
      const { userId, username, email, accountType, authMethod, requirePasswordChange } = principal;
      const { roles, groups } = await listMemberships(database.read, userId);
      const permissions = [...principal.permissions].sort();
      const who = { userId, username, email, accountType, roles, groups, permissions };
      return json({ ...who, authProvider: 'Local', authMethod, requirePasswordChange });
    },
  });
}

function changePasswordRoute(options: AuthOptions): Route {
  return route({
    id: 'changePassword',
    method: 'POST',
    path: '/api/v1/auth/change-password',
    summary: 'Change the own password',
    tags: TAGS,
    access: { kind: 'user', session: true, duringPasswordChange: true },
    body: { kind: 'json', schema: ChangePassword },
    answers: { 204: { description: 'Changed; all other sessions of the user have ended' } },
    problems: ['current_password_incorrect', 'overloaded', 'rate_limited'],
    async handle({ principal, body, facts }) {
      await changePassword(options, principal, { ...body, now: facts.now, actor: facts.actor });
      return noContent();
    },
  });
}
