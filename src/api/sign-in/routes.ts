/** `/login/oidc`: sign-in by the identity providers of the company. */

import { z } from 'zod';
import { beginFlow, type FlowFacts, takeFlow } from '../../deeds/begin-sign-in.ts';
import { requirePassword } from '../../deeds/change-password.ts';
import { endSessionsOf } from '../../deeds/end-provider-sessions.ts';
import { openSession, recordRefusal } from '../../deeds/sign-in-by-provider.ts';
import { type Answer, json, redirect, seeOther } from '../../http/answer.ts';
import { html, pageAnswer } from '../../http/html.ts';
import { NOT_FOUND } from '../../http/problem-codes.ts';
import { parseQuery } from '../../http/query.ts';
import { RawDocument, type RequestFacts, type Route, route } from '../../http/route.ts';
import { sessionCookie } from '../../http/session-cookie.ts';
import { HawserError } from '../../lib/errors.ts';
import { sourceOf } from '../../lib/source-address.ts';
import { readPerson } from '../../security/openid/person.ts';
import type { Provider } from '../../security/openid/provider.ts';
import { flowInvalid } from '../../security/openid/provider-faults.ts';
import { throttle } from '../../security/throttle.ts';
import { destinationOf } from '../auth/destination.ts';
import { failurePage } from '../auth/login-page.ts';
import { purposeOfPage } from '../auth/login-routes.ts';
import { ATTEMPT_PROBLEMS, type AuthOptions } from '../auth/routes.ts';
import { readSecretBody } from './bodies.ts';
import { browserSecret, flowCookie } from './flow-cookie.ts';
import { BeginQuery, CallbackQuery, LinkBody, ProviderName, ProviderView, SessionsEnded } from './schemas.ts';

const TAGS = ['Sign-in by identity providers'];
const FORM = 'application/x-www-form-urlencoded';
const PROVIDER = '/login/oidc/{provider}';
const FLOW_COOKIE = { 'Set-Cookie': 'What this browser needs to come back; for 10 minutes' };
const TO_PROVIDER = { description: 'To the provider', headers: FLOW_COOKIE };

interface Tools extends AuthOptions {
  common: { tags: readonly string[]; showFailure: NonNullable<Route['showFailure']> };
}

export function signInRoutes(options: AuthOptions): Route[] {
  const showFailure: Tools['common']['showFailure'] = (error, principal, query) =>
    failurePage(error, principal, purposeOfPage(options, parseQuery(query)['returnTo']), 'link');
  const tools = { ...options, common: { tags: TAGS, showFailure } };
  return [
    listRoute(options),
    beginRoute(tools),
    callbackRoute(tools),
    linkRoute(tools),
    logoutRoute(options),
  ];
}

function listRoute({ providers }: AuthOptions): Route {
  return route({
    tags: ['Authentication'],
    id: 'listIdentityProviders',
    method: 'GET',
    path: '/api/v1/auth/providers',
    summary: 'List the identity providers by which people sign in',
    access: { kind: 'public' },
    answers: { 200: { description: 'In the order of the file', schema: ProviderView.array() } },
    handle: () => json(providers.all.map(({ settings: { name, label } }) => ({ name, label }))),
  });
}

function beginRoute({ common, ...options }: Tools): Route {
  return route({
    ...common,
    id: 'beginSignIn',
    method: 'GET',
    path: PROVIDER,
    summary: 'Go to an identity provider to sign in',
    access: { kind: 'public' },
    params: ProviderName,
    query: BeginQuery,
    answers: { 302: TO_PROVIDER },
    problems: [NOT_FOUND, 'oidc_unavailable', 'rate_limited'],
    async handle({ params, query, facts }) {
      const provider = options.providers.require(params.provider);
      if (facts.isHead) return redirect('/login');
      const returnTo = options.console === null ? null : destinationOf(query.returnTo, options.console);
      const { address, cookie } = await begin(options, provider, { returnTo, link: null }, facts);
      const answer = redirect(address);
      return { ...answer, headers: { ...answer.headers, ...cookie } };
    },
  });
}

function callbackRoute({ common, ...options }: Tools): Route {
  const { database, providers, onSignIn, log } = options;
  return route({
    ...common,
    id: 'finishSignIn',
    method: 'GET',
    bound: 'shared',
    path: `${PROVIDER}/callback`,
    summary: 'Come back from an identity provider',
    description:
      'The page leads on by itself: over a redirect from another site a browser would not send the session.',
    access: { kind: 'public' },
    params: ProviderName,
    query: CallbackQuery,
    answers: {
      200: {
        description: 'Signed in; a page that goes on to where somebody wanted to go',
        mediaType: 'text/html',
        headers: { 'Set-Cookie': 'The session', 'Cache-Control': '`no-store`' },
      },
    },
    problems: [
      ...[NOT_FOUND, 'oidc_flow_invalid', 'oidc_not_allowed', 'groups_overage', 'account_name_taken'],
      ...['identity_taken', 'oidc_unavailable'],
    ],
    async handle({ params, query, facts }) {
      const provider = providers.require(params.provider);
      const { settings } = provider;
      // Whoever looks ahead at an address takes nothing from whoever follows it.
      if (facts.isHead) throw flowInvalid();
      const browser = browserSecret(facts.header('cookie'));
      const came = { browser, state: query.state, now: facts.now };
      // Anybody may come back without having gone there, so that alone writes nothing into the audit trail.
      const { flow, facts: known } = await takeFlow(database, settings.name, came);
      try {
        const person = readPerson(await provider.claimsOf(flow, facts.search), settings);
        const signIn = { settings, person, link: known.link };
        const { sessionSecret } = await openSession(database, facts.actor, signIn);
        onSignIn(null);
        return onwardPage(known.returnTo ?? options.console ?? '/login', sessionCookie(sessionSecret));
      } catch (error) {
        if (!(error instanceof HawserError)) throw error;
        onSignIn(error.code);
        // The log line of the request has the cause of the others.
        if (error.kind !== 'unavailable')
          log.info(
            { requestId: facts.requestId, provider: settings.name, reason: error.code, err: error.cause },
            'sign-in by a provider refused',
          );
        await recordRefusal(database, facts.actor, settings.name, error);
        throw error;
      }
    },
  });
}

function linkRoute({ common, ...options }: Tools): Route {
  const { database, providers } = options;
  return route({
    ...common,
    id: 'linkIdentity',
    method: 'POST',
    path: `${PROVIDER}/link`,
    summary: 'Go to an identity provider, to sign in by it from now on',
    description:
      "The next sign-in there, in this browser and within 10 minutes, becomes one of the caller's account.",
    // Not while the password must be changed: whoever set that one would keep a way in.
    access: { kind: 'user', session: true },
    params: ProviderName,
    body: { kind: 'document', schema: RawDocument, mediaTypes: [FORM, 'application/json'] },
    answers: { 303: TO_PROVIDER },
    problems: [NOT_FOUND, 'current_password_incorrect', 'oidc_unavailable', ...ATTEMPT_PROBLEMS],
    async handle({ params, body, principal, facts }) {
      const provider = providers.require(params.provider);
      const { currentPassword } = readSecretBody(LinkBody, body);
      await requirePassword(database, { principal, actor: facts.actor }, currentPassword);
      const link = { userId: principal.userId, session: principal.credentialId };
      const { address, cookie } = await begin(options, provider, { returnTo: null, link }, facts);
      return seeOther(address, cookie);
    },
  });
}

function logoutRoute({ database, providers }: AuthOptions): Route {
  return route({
    tags: TAGS,
    id: 'backchannelLogout',
    method: 'POST',
    path: `${PROVIDER}/backchannel-logout`,
    summary: 'End the sessions that a logout token names',
    access: { kind: 'public' },
    params: ProviderName,
    body: { kind: 'document', schema: RawDocument, mediaTypes: [FORM] },
    answers: {
      200: {
        description: 'They have ended',
        schema: SessionsEnded,
        headers: { 'Cache-Control': '`no-store`' },
      },
    },
    problems: [NOT_FOUND, 'oidc_flow_invalid', 'oidc_unavailable'],
    async handle({ params, body, facts }) {
      const provider = providers.require(params.provider);
      const { logout_token: token } = readSecretBody(
        z.object({ logout_token: z.string().max(16_384) }),
        body,
      );
      await endSessionsOf(database, facts.actor, provider, token);
      const answer = json({});
      return { ...answer, headers: { ...answer.headers, 'Cache-Control': 'no-store' } };
    },
  });
}

async function begin(
  { database }: AuthOptions,
  provider: Provider,
  facts: Omit<FlowFacts, 'provider'>,
  request: RequestFacts,
): Promise<{ address: string; cookie: Record<string, string> }> {
  const { now } = request;
  await throttle(database, `oidc ${sourceOf(request.address)}`, now);
  const flow = await beginFlow(
    database,
    { provider: provider.settings.name, ...facts },
    { browser: browserSecret(request.header('cookie')), now },
  );
  return { address: await provider.addressFor(flow), cookie: { 'Set-Cookie': flowCookie(flow.browser) } };
}

/** A page of ours that goes on at once, or by a click. */
function onwardPage(target: string, cookie: string): Answer {
  const page = pageAnswer({
    title: 'Hawser: signed in',
    head: html`<meta http-equiv="refresh" content="0;url=${target}">`,
    body: html`<p>You are signed in. <a href="${target}">Go on</a></p>`,
    allows: '',
  });
  return { ...page, headers: { ...page.headers, 'Cache-Control': 'no-store', 'Set-Cookie': cookie } };
}
