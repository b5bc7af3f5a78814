/**
 * `/login`: what a person in a browser signs in with, through the same rules as `/api/v1/auth`. It stands here, and not
 * in a folder by its address, because of these.
 */

import { seeOther } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { sessionCookie } from '../../http/session-cookie.ts';
import { invalidField } from '../../lib/errors.ts';
import { changePassword } from './change-password.ts';
import { failurePage, loginPage } from './login-page.ts';
import type { AuthOptions } from './routes.ts';
import { ChangePasswordForm, EmptyForm, Login, LoginPageQuery } from './schemas.ts';
import { signIn } from './sign-in.ts';
import { ENDED_SESSION, signOut } from './sign-out.ts';

const PATH = '/login';
const PAGE = { tags: ['Sign-in page'], showFailure: failurePage } as const;
const SESSION = { kind: 'user', session: true, duringPasswordChange: true } as const;

export function loginPageRoutes(options: AuthOptions): Route[] {
  return [showRoute(), signInRoute(options), changePasswordRoute(options), signOutRoute(options)];
}

function showRoute(): Route {
  return route({
    ...PAGE,
    id: 'showLoginPage',
    method: 'GET',
    path: PATH,
    summary: 'The sign-in page: who is signed in, and the forms to change that',
    access: { kind: 'public', knowsSession: true },
    query: LoginPageQuery,
    answers: {
      200: {
        description: 'The page',
        mediaType: 'text/html',
        headers: { 'Cache-Control': '`no-store`' },
      },
    },
    handle: ({ principal, query }) =>
      loginPage(principal, query.changed === undefined ? '' : 'The password has been changed.'),
  });
}

function signInRoute(options: AuthOptions): Route {
  return route({
    ...PAGE,
    id: 'submitLogin',
    method: 'POST',
    path: PATH,
    summary: 'Sign in with the form of the sign-in page',
    access: { kind: 'public' },
    body: { kind: 'form', schema: Login },
    answers: {
      303: {
        description: 'To the page; the session is in the cookie',
        headers: { 'Set-Cookie': 'The session' },
      },
    },
    problems: ['invalid_credentials', 'overloaded', 'rate_limited'],
    async handle({ body, facts }) {
      const { address, now, actor } = facts;
      const { sessionSecret } = await signIn(options, { ...body, address, now, actor });
      return seeOther(PATH, { 'Set-Cookie': sessionCookie(sessionSecret) });
    },
  });
}

function changePasswordRoute(options: AuthOptions): Route {
  return route({
    ...PAGE,
    id: 'submitPasswordChange',
    method: 'POST',
    path: `${PATH}/password`,
    summary: 'Change the own password with the form of the sign-in page',
    access: SESSION,
    body: { kind: 'form', schema: ChangePasswordForm },
    answers: { 303: { description: 'To the page; all other sessions of the user have ended' } },
    problems: ['current_password_incorrect', 'overloaded', 'rate_limited'],
    async handle({ principal, body, facts }) {
      const { repeatedPassword, ...passwords } = body;
      if (repeatedPassword !== passwords.newPassword)
        throw invalidField('/repeatedPassword', 'The new password was not typed the same way twice');
      await changePassword(options, principal, { ...passwords, now: facts.now, actor: facts.actor });
      return seeOther(`${PATH}?changed=password`);
    },
  });
}

function signOutRoute({ database }: AuthOptions): Route {
  return route({
    ...PAGE,
    id: 'submitLogout',
    method: 'POST',
    path: `${PATH}/sign-out`,
    summary: 'Sign out with the form of the sign-in page',
    access: SESSION,
    body: { kind: 'form', schema: EmptyForm },
    answers: {
      303: {
        description: 'To the page; the session has ended on the server',
        headers: { 'Set-Cookie': 'Makes the browser forget the session' },
      },
    },
    async handle({ principal, facts }) {
      await signOut(database, principal, facts.actor);
      return seeOther(PATH, ENDED_SESSION);
    },
  });
}
