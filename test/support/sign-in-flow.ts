/** Plays the browser of somebody who signs in at a provider, without a browser and without pages. */

import { Agent, request } from 'undici';
import type { Client, Reply } from './client.ts';
import type { Hawser } from './hawser.ts';

/** By name. Several flows in one browser share one of these. */
export type Cookies = Map<string, string>;

export interface FlowOptions {
  returnTo?: string;
  /** Those of the browser, which change by what the server sets. Without them it is a new browser. */
  cookies?: Cookies;
  /** More headers on each request to the server. */
  headers?: Record<string, string>;
}

export interface SignedIn {
  /** The server's answer to the callback, whatever it is. */
  reply: Reply;
  cookies: Cookies;
  authorizeUrl: URL;
  callbackUrl: URL;
}

type Server = Pick<Hawser, 'client'>;

/** Takes any certificate, and a new connection each time, because a provider may have been stopped meanwhile. */
const TRUSTING = new Agent({ pipelining: 0, connect: { rejectUnauthorized: false } });

/**
 * Signs in from the first request to the callback.
 * @throws Error where the server does not send the browser to the provider, or the provider does not send it back
 */
export async function signInBy(
  hawser: Server,
  providerName: string,
  options: FlowOptions = {},
): Promise<SignedIn> {
  const { authorizeUrl, cookies } = await beginSignIn(hawser, providerName, options);
  const callbackUrl = await answerOfProvider(authorizeUrl);
  const reply = await finishSignIn(hawser, callbackUrl, { ...options, cookies });
  return { reply, cookies, authorizeUrl, callbackUrl };
}

/**
 * Asks the server for the way to the provider.
 * @throws Error where the server does not show it
 */
export async function beginSignIn(
  hawser: Server,
  providerName: string,
  { returnTo, cookies = new Map(), headers }: FlowOptions = {},
): Promise<{ authorizeUrl: URL; cookies: Cookies; reply: Reply }> {
  const query = returnTo === undefined ? '' : `?${new URLSearchParams({ returnTo })}`;
  const reply = await visit(hawser, `/login/oidc/${providerName}${query}`, cookies, headers);
  return { authorizeUrl: providerIn(reply), cookies, reply };
}

/**
 * The address at the provider to which the server sends the browser, by 302 or 303.
 * @throws Error where it sends the browser nowhere
 */
export function providerIn(reply: Reply): URL {
  const { location } = reply.headers;
  if (![302, 303].includes(reply.status) || typeof location !== 'string')
    throw new Error(`the way to the provider: answered ${reply.status} ${reply.text}`);
  return new URL(location);
}

/**
 * Goes to a provider that shows no page.
 * @returns where it sends the browser, which may be called at any time later
 * @throws Error where it does not send the browser back
 */
export async function answerOfProvider(authorizeUrl: URL): Promise<URL> {
  const { statusCode, headers, body } = await request(authorizeUrl, { dispatcher: TRUSTING });
  const said = await body.text();
  if (typeof headers['location'] !== 'string') throw new Error(`the provider answered ${statusCode} ${said}`);
  return new URL(headers['location']);
}

/** Comes back to the server, whose public URL need not be the one at which it listens in a test. */
export function finishSignIn(
  hawser: Server,
  callbackUrl: URL,
  { cookies = new Map(), headers }: Pick<FlowOptions, 'cookies' | 'headers'> = {},
): Promise<Reply> {
  return visit(hawser, `${callbackUrl.pathname}${callbackUrl.search}`, cookies, headers);
}

/** A client that sends the cookies as they are now. */
export function clientWith(hawser: Server, cookies: Cookies): Client {
  return hawser.client().with(cookieHeader(cookies));
}

/** Does with a reply's cookies what a browser does: keeps them, and forgets those whose time is over. */
export function keepCookies(cookies: Cookies, { headers }: Pick<Reply, 'headers'>): void {
  for (const line of [headers['set-cookie'] ?? []].flat()) {
    const [, name = '', value = ''] = /^([^=;]+)=([^;]*)/.exec(line) ?? [];
    if (isOver(line)) cookies.delete(name);
    else cookies.set(name, value);
  }
}

async function visit(
  hawser: Server,
  path: string,
  cookies: Cookies,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const reply = await clientWith(hawser, cookies).get(path, { Accept: 'text/html', ...headers });
  keepCookies(cookies, reply);
  return reply;
}

function cookieHeader(cookies: Cookies): Record<string, string> {
  const pairs = [...cookies].map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? {} : { Cookie: pairs.join('; ') };
}

function isOver(line: string): boolean {
  const maxAge = /;\s*max-age=(-?\d+)/i.exec(line)?.[1];
  if (maxAge !== undefined) return Number(maxAge) <= 0;
  const expires = /;\s*expires=([^;]+)/i.exec(line)?.[1];
  return expires !== undefined && Date.parse(expires) <= Date.now();
}
