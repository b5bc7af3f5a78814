/** `/api/v1/auth`: sign-in, sign-out, who am I, change of password. */

import type { Database } from '../../db/open.ts';
import { json, noContent, redirect } from '../../http/answer.ts';
import { type RequestFacts, type Route, route } from '../../http/route.ts';
import { sessionCookie } from '../../http/session-cookie.ts';
import type { Log } from '../../lib/log.ts';
import { recordAudit } from '../../security/audit.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { changePassword } from './change-password.ts';
import { deleteSession, listMemberships } from './queries.ts';
import { ChangePassword, Login, Me, SignedIn } from './schemas.ts';
import { signIn } from './sign-in.ts';

const TAGS = ['Authentication'];

export interface AuthOptions {
  database: Database;
  dataDir: string;
  log: Log;
}

export function authRoutes(options: AuthOptions): Route[] {
  return [loginRoute(options), ...logoutRoutes(options), meRoute(options), changePasswordRoute(options)];
}

function loginRoute({ database, log }: AuthOptions): Route {
  return route({
    method: 'POST',
    path: '/api/v1/auth/login',
    summary: 'Sign in with user name and password',
    description: 'Answers alike for an unknown user, a wrong password, a locked and an inactive account.',
    tags: TAGS,
    access: { kind: 'public' },
    body: { kind: 'json', schema: Login },
    answers: { 200: { description: 'Signed in; the session is in the cookie', schema: SignedIn } },
    problems: ['invalid_credentials', 'rate_limited'],
    async handle({ body, facts }) {
      const { address, now, actor } = facts;
      const attempt = { ...body, address, now, actor };
      const { account, sessionSecret } = await signIn(database, log, attempt);
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
  const ended = { 'Set-Cookie': sessionCookie('', 0) };
  return [
    route({
      method: 'POST',
      path: '/api/v1/auth/logout',
      summary: 'Sign out',
      tags: TAGS,
      access,
      answers: { 204: { description: 'The session has ended on the server' } },
      async handle({ principal, facts }) {
        await endSession(database, principal, facts);
        return { ...noContent(), headers: ended };
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/auth/logout-redirect',
      summary: 'Sign out and go to the sign-in page',
      tags: TAGS,
      access,
      answers: { 302: { description: 'To /login; the session has ended on the server' } },
      async handle({ principal, facts }) {
        await endSession(database, principal, facts);
        const answer = redirect('/login');
        return { ...answer, headers: { ...answer.headers, ...ended } };
      },
    }),
  ];
}

async function endSession(database: Database, principal: UserPrincipal, facts: RequestFacts): Promise<void> {
  await database.write.transaction().execute(async (trx) => {
    // Two sign-outs at once end it once.
    if (!(await deleteSession(trx, principal.credentialId))) return;
    await recordAudit(trx, facts.actor, { action: 'session.ended', resourceId: principal.userId });
  });
}

function meRoute({ database }: AuthOptions): Route {
  return route({
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
    method: 'POST',
    path: '/api/v1/auth/change-password',
    summary: 'Change the own password',
    tags: TAGS,
    access: { kind: 'user', session: true, duringPasswordChange: true },
    body: { kind: 'json', schema: ChangePassword },
    answers: { 204: { description: 'Changed; all other sessions of the user have ended' } },
    problems: ['current_password_incorrect', 'rate_limited'],
    async handle({ principal, body, facts }) {
      await changePassword(options, principal, { ...body, now: facts.now, actor: facts.actor });
      return noContent();
    },
  });
}
