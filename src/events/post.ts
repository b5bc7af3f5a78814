/**
 * Sends one request to a webhook. The name is resolved once; if all of its addresses may be called, one of these very
 * addresses is connected to, so that no second answer of the name's servers can lead elsewhere. The certificate must be for
 * the name. Redirects are not followed, no proxy is used, and what is answered is not read beyond its head.
 */

import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup as lookUp } from 'node:dns/promises';
import type { AddressSet } from '../lib/address-set.ts';
import { SECOND } from '../lib/clock.ts';
import { isPublicAddress } from './addresses.ts';
import type { Outcome } from './outbox.ts';

/** An attempt, from the look-up of the name to the head of the answer, may take so many milliseconds. */
const PATIENCE = 10 * SECOND;

export interface PostOptions {
  /** The authorities that receivers may be under, as PEM. By default they are those of Node.js and NODE_EXTRA_CA_CERTS. */
  ca?: readonly string[] | undefined;
  /** The addresses that are called though they are not public. */
  allowed: AddressSet;
  /** Gives all addresses of a name. By default the operating system is asked. */
  resolve?(name: string): Promise<LookupAddress[]>;
  /** Milliseconds. */
  patience?: number;
}

export type Post = (
  url: string,
  request: { headers: Record<string, string>; body: string; signal: AbortSignal },
) => Promise<Outcome>;

/** Makes the function that sends. It never throws. */
export function makePost(options: PostOptions): Post {
  const { resolve = (name) => lookUp(name, { all: true }), patience = PATIENCE } = options;
  return async (url, { headers, body, signal: stop }) => {
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), patience);
    const signal = AbortSignal.any([stop, over.signal]);
    try {
      const addresses = await before(signal, checkedAddresses(url, resolve, options.allowed));
      const status = await send(url, { headers, body, signal }, addresses, options);
      const isDelivered = status >= 200 && status < 300;
      return { isDelivered, status, error: isDelivered ? null : `status_${status}` };
    } catch (error) {
      return { isDelivered: false, status: null, error: signal.aborted ? 'timeout' : codeOf(error) };
    } finally {
      clearTimeout(timer);
    }
  };
}

/** @throws an error with the code `address_refused` if one of the addresses must not be called */
async function checkedAddresses(
  url: string,
  resolve: Required<PostOptions>['resolve'],
  allowed: AddressSet,
): Promise<LookupAddress[]> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  const addresses = await resolve(host);
  if (addresses.length === 0) throw fault('ENOTFOUND');
  if (!addresses.every(({ address }) => isPublicAddress(address) || allowed.has(address)))
    throw fault('address_refused');
  return addresses;
}

/** @returns the status of the answer */
async function send(
  url: string,
  { headers, body, signal }: { headers: Record<string, string>; body: string; signal: AbortSignal },
  addresses: readonly LookupAddress[],
  { ca }: PostOptions,
): Promise<number> {
  // It is loaded with the first delivery. In the build it has no other export than this.
  const { Agent, request } = (await import('undici')).default;
  const connect = {
    lookup: givenLookup(addresses),
    // Without it the environment could switch the check off (NODE_TLS_REJECT_UNAUTHORIZED).
    rejectUnauthorized: true,
    // A session is resumed without looking at the certificate again.
    maxCachedSessions: 0,
    ...(ca && { ca: [...ca] }),
  };
  const dispatcher = new Agent({ connect, pipelining: 0 });
  try {
    const answer = await request(url, { method: 'POST', headers, body, signal, dispatcher });
    answer.body.on('error', () => undefined);
    return answer.statusCode;
  } finally {
    // The connection ends, whatever else is answered.
    await dispatcher.destroy();
  }
}

type LookupCallback = (error: null, address: string | LookupAddress[], family?: number) => void;

/** In place of a look-up by the connection. An address in a URL is connected to without one. */
function givenLookup(addresses: readonly LookupAddress[]) {
  return (_name: string, { all }: LookupOptions, callback: LookupCallback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

/** Ends the wait for a look-up, which cannot be ended itself. */
async function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(fault('timeout')), { once: true });
    work.then(resolve, reject);
  });
}

const fault = (code: string) => Object.assign(new Error(code), { code });

/** Only codes are kept and shown. Messages may repeat what the receiver says. */
function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code.slice(0, 100);
  return cause === undefined ? 'failed' : codeOf(cause);
}
