/**
 * `/login`: the pages and forms with which a person signs in by browser. They stand in the folder of `/api/v1/auth`
 * because they follow the same rules.
 */

import { seeOther } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { sessionCookie } from '../../http/session-cookie.ts';
import { invalidField } from '../../lib/errors.ts';
import { changePassword } from './change-password.ts';
import { failurePage, loginPage } from './login-page.ts';
import { ATTEMPT_PROBLEMS, type AuthOptions, ENDS_SESSION, SESSION } from './routes.ts';
import { ChangePasswordForm, EmptyForm, Login, LoginPageQuery } from './schemas.ts';
import { ENDED_SESSION, signIn, signOut } from './sessions.ts';

const PAGE = { tags: ['Sign-in page'], showFailure: failurePage } as const;

export function loginPageRoutes(options: AuthOptions): Route[] {
  return [showRoute(), signInRoute(options), changePasswordRoute(options), signOutRoute(options)];
}

function showRoute(): Route {
  return route({
    ...PAGE,
    id: 'showLoginPage',
    method: 'GET',
    path: '/login',
    summary: 'The sign-in page: who is signed in, and the forms to change that',
    access: { kind: 'public', knowsSession: true },
    query: LoginPageQuery,
    answers: {
      200: { description: 'The page', mediaType: 'text/html', headers: { 'Cache-Control': '`no-store`' } },
    },
    handle: ({ principal, query }) =>
      loginPage(principal, query.changed === undefined ? '' : 'The password has been changed.'),
  });
}

function signInRoute(options: AuthOptions): Route {
  return route({
    ...PAGE,
    access: { kind: 'public' },
    id: 'submitLogin',
    method: 'POST',
    path: '/login',
    summary: 'Sign in with the form of the sign-in page',
    body: { kind: 'form', schema: Login },
    answers: { 303: toPage('the session is in the cookie', { 'Set-Cookie': 'The session' }) },
    problems: ['invalid_credentials', ...ATTEMPT_PROBLEMS],
    async handle({ body, facts }) {
      const { sessionSecret } = await signIn(options, facts.actor, body);
      return seeOther('/login', { 'Set-Cookie': sessionCookie(sessionSecret) });
    },
  });
}

function changePasswordRoute(options: AuthOptions): Route {
  return route({
    ...PAGE,
    access: SESSION,
    id: 'submitPasswordChange',
    method: 'POST',
    path: '/login/password',
    summary: 'Change the own password with the form of the sign-in page',
    body: { kind: 'form', schema: ChangePasswordForm },
    answers: { 303: toPage('all other sessions of the user have ended') },
    problems: ['current_password_incorrect', ...ATTEMPT_PROBLEMS],
    async handle({ principal, body: { repeatedPassword, ...passwords }, facts: { actor } }) {
      if (repeatedPassword !== passwords.newPassword)
        throw invalidField('/repeatedPassword', 'The new password was not typed the same way twice');
      await changePassword(options, { principal, actor }, passwords);
      return seeOther('/login?changed=password');
    },
  });
}

function signOutRoute({ database }: AuthOptions): Route {
  return route({
    ...PAGE,
    access: SESSION,
    id: 'submitLogout',
    method: 'POST',
    path: '/login/sign-out',
    summary: 'Sign out with the form of the sign-in page',
    body: { kind: 'form', schema: EmptyForm },
    answers: { 303: toPage('the session has ended on the server', ENDS_SESSION) },
    async handle({ principal, facts }) {
      await signOut(database, principal, facts.actor);
      return seeOther('/login', ENDED_SESSION);
    },
  });
}

const toPage = (outcome: string, headers: Record<string, string> = {}) => ({
  description: `To the page; ${outcome}`,
  headers,
});
