/**
 * `/login`: the pages and forms with which a person signs in by browser. They stand in the folder of `/api/v1/auth`
 * because they follow the same rules.
 */

import type { Database } from '../../db/database.ts';
import { changePassword } from '../../deeds/change-password.ts';
import { signIn, signOut } from '../../deeds/sign-in.ts';
import { seeOther } from '../../http/answer.ts';
import { parseQuery } from '../../http/query.ts';
import { type Route, route } from '../../http/route.ts';
import { ENDED_SESSION, sessionCookie } from '../../http/session-cookie.ts';
import { invalidField } from '../../lib/errors.ts';
import { type FirstPassword, findFirstPassword } from '../../security/built-ins.ts';
import { destinationOf, leadingTo } from './destination.ts';
import { failurePage, loginPage, type Purpose } from './login-page.ts';
import { ATTEMPT_PROBLEMS, type AuthOptions, ENDS_SESSION, SESSION, signedOutPage } from './routes.ts';
import { ChangePasswordForm, EmptyForm, Login, LoginPageQuery, NextQuery } from './schemas.ts';

/** What the pages lead to is decided once for all of them. */
interface PageTools extends AuthOptions {
  common: { tags: readonly string[]; showFailure: NonNullable<Route['showFailure']> };
  first: FirstSignIn;
  /** @param next as it came in the query */
  purposeOf(next: unknown): Purpose;
}

/** What is known of the first password. It is asked for until somebody has signed in, and never again afterwards. */
class FirstSignIn {
  /** As it was read last. */
  place: FirstPassword | null = null;
  #isPast = false;
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async read(): Promise<void> {
    if (this.#isPast) return;
    this.place = await findFirstPassword(this.#database.read);
    this.#isPast = this.place === null;
  }

  end(): void {
    this.#isPast = true;
    this.place = null;
  }
}

/** @param next as it came in a query */
export function purposeOfPage({ console, providers }: AuthOptions, next: unknown): Purpose {
  return {
    firstPassword: null,
    destination: console === null ? null : destinationOf(next, console),
    console,
    providers: providers.all.map(({ settings: { name, label }, signOutAddress }) => ({
      ...{ name, label, signOutAddress },
    })),
  };
}

export function loginPageRoutes(options: AuthOptions): Route[] {
  const first = new FirstSignIn(options.database);
  const purposeOf = (next: unknown) => ({ ...purposeOfPage(options, next), firstPassword: first.place });
  const common: PageTools['common'] = {
    tags: ['Sign-in page'],
    showFailure: (error, principal, query) =>
      failurePage(error, principal, purposeOf(parseQuery(query)['next'])),
  };
  const tools = { ...options, common, first, purposeOf };
  return [showRoute(tools), signInRoute(tools), changePasswordRoute(tools), signOutRoute(tools)];
}

function showRoute({ common, first, purposeOf }: PageTools): Route {
  return route({
    ...common,
    id: 'showLoginPage',
    method: 'GET',
    bound: 'shared',
    path: '/login',
    summary: 'The sign-in page: who is signed in, and the forms to change that',
    access: { kind: 'public', knowsSession: true },
    query: LoginPageQuery,
    answers: {
      200: { description: 'The page', mediaType: 'text/html', headers: { 'Cache-Control': '`no-store`' } },
    },
    async handle({ principal, query }) {
      if (principal === null) await first.read();
      const notice = query.changed === undefined ? '' : 'The password has been changed.';
      return loginPage(principal, purposeOf(query.next), { notice, signedOutOf: query.signedOut });
    },
  });
}

function signInRoute({ common, first, purposeOf, ...options }: PageTools): Route {
  return route({
    ...common,
    access: { kind: 'public' },
    id: 'submitLogin',
    method: 'POST',
    path: '/login',
    summary: 'Sign in with the form of the sign-in page',
    query: NextQuery,
    body: { kind: 'form', schema: Login },
    answers: {
      303: toPage('the session is in the cookie. Or to `next`', { 'Set-Cookie': 'The session' }),
    },
    problems: ['invalid_credentials', ...ATTEMPT_PROBLEMS],
    async handle({ body, query, facts }) {
      const { account, sessionSecret } = await signIn(options, facts.actor, body);
      first.end();
      const { destination } = purposeOf(query.next);
      const mustChange = account.require_password_change === 1;
      const target = mustChange ? leadingTo(destination, '/login') : (destination ?? '/login');
      return seeOther(target, { 'Set-Cookie': sessionCookie(sessionSecret) });
    },
  });
}

function changePasswordRoute({ common, purposeOf, ...options }: PageTools): Route {
  return route({
    ...common,
    access: SESSION,
    id: 'submitPasswordChange',
    method: 'POST',
    path: '/login/password',
    summary: 'Change the own password with the form of the sign-in page',
    query: NextQuery,
    body: { kind: 'form', schema: ChangePasswordForm },
    answers: {
      303: toPage(
        'all other sessions of the user have ended. To `next` if the user could do nothing else before',
      ),
    },
    problems: ['current_password_incorrect', ...ATTEMPT_PROBLEMS],
    async handle({ principal, query, body: { repeatedPassword, ...passwords }, facts: { actor } }) {
      if (repeatedPassword !== passwords.newPassword)
        throw invalidField('/repeatedPassword', 'The new password was not typed the same way twice');
      await changePassword(options, { principal, actor }, passwords);
      const { destination } = purposeOf(query.next);
      const isOnTheWay = principal.requirePasswordChange && destination !== null;
      return seeOther(isOnTheWay ? destination : leadingTo(destination, '/login?changed=password'));
    },
  });
}

function signOutRoute({ common, database }: PageTools): Route {
  return route({
    ...common,
    access: SESSION,
    id: 'submitLogout',
    method: 'POST',
    path: '/login/sign-out',
    summary: 'Sign out with the form of the sign-in page',
    body: { kind: 'form', schema: EmptyForm },
    answers: { 303: toPage('the session has ended on the server', ENDS_SESSION) },
    async handle({ principal, facts }) {
      await signOut(database, principal, facts.actor);
      return seeOther(signedOutPage(principal), ENDED_SESSION);
    },
  });
}

const toPage = (outcome: string, headers: Record<string, string> = {}) => ({
  description: `To the page; ${outcome}`,
  headers,
});
