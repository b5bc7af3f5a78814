/** Finds the credential of a request: a token, else a session cookie, else a certificate. */

import type { IncomingMessage } from 'node:http';
import { unknownCertificate } from '../db/node-lookup.ts';
import { type Awaitable, andThen } from '../lib/awaitable.ts';
import { forbidden, HawserError, notFound, unauthenticated } from '../lib/errors.ts';
import { isSameDigest, sha256Hex } from '../lib/hash.ts';
import type { PresentedCertificate } from '../security/certificates.ts';
import type { Identifier } from '../security/identify.ts';
import type { NodePrincipal, Principal } from '../security/principal.ts';
import type { Client, Distrust } from './client.ts';
import { clientOf } from './connections.ts';
import { sessionSecret } from './session-cookie.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

interface Circumstances {
  requestId: string;
  /** The time in epoch milliseconds. */
  now: number;
  /** The node in the path, or an empty text. An announced certificate counts only in its own node's path. */
  nodeId: string;
  /** Whether a token may also come as the password of HTTP Basic, with any user name. */
  takesBasic: boolean;
}

/**
 * @returns null when the request carries no credential at all
 * @throws HawserError unauthenticated for a bad one; forbidden `cross_site_request` for a session used from
 *   another site
 */
export function authenticate(
  identifier: Identifier,
  request: IncomingMessage,
  circumstances: Circumstances,
): Awaitable<Principal | null> {
  const { now, takesBasic } = circumstances;
  const { authorization, cookie } = request.headers;
  if (authorization !== undefined) {
    const token = (takesBasic ? basicPassword(authorization) : null) ?? bearerToken(authorization);
    return identifier.token(token, now);
  }
  const session = cookie === undefined ? null : sessionSecret(cookie);
  if (session !== null) return fromThisSite(request, identifier.session(session, now, isUse(request)));
  const client = clientOf(request);
  const { peer } = client;
  if (peer === null) return null;
  const known = identifier.node(peer, now);
  // Each poll comes this way, so it makes no closure.
  if (known !== null && !(known instanceof Promise)) return trusted(known, client);
  return andThen(known, (node) =>
    node === null ? newcomer(identifier, client, peer, circumstances) : trusted(node, client),
  );
}

/** @throws HawserError unauthenticated */
function trusted(node: NodePrincipal, client: Client): NodePrincipal {
  requireTrust(client);
  return node;
}

/** A certificate that was not the current one of a node. One that was announced or is awaited becomes the current one. */
function newcomer(
  identifier: Identifier,
  client: Client,
  peer: PresentedCertificate,
  { requestId, now, nodeId }: Circumstances,
): Awaitable<NodePrincipal> {
  // This comes first, because to verify a certificate behind a proxy is work.
  return andThen(identifier.hasAnnounced(peer, nodeId), (isAnnounced) => {
    if (!isAnnounced) return unannounced(identifier, client, peer, { requestId, now });
    requireTrust(client);
    return identifier.announcedNode(peer, { nodeId, requestId, address: client.address, now });
  });
}

function unannounced(
  identifier: Identifier,
  client: Client,
  peer: PresentedCertificate,
  { requestId, now }: Pick<Circumstances, 'requestId' | 'now'>,
): Awaitable<NodePrincipal> {
  return andThen(identifier.mayBeAwaited(peer), (isAwaited) => {
    if (!isAwaited) return andThen(identifier.node(peer, now), (node) => admitted(node, client));
    requireTrust(client);
    return identifier.awaitedNode(peer, { requestId, address: client.address, now });
  });
}

/** Another call of the node may have made the certificate current after it was looked for, and ended the announcement. */
function admitted(node: NodePrincipal | null, client: Client): NodePrincipal {
  if (node === null) throw unknownCertificate();
  return trusted(node, client);
}

/** Call this for the certificate of a node alone: nobody with another certificate may learn anything of the authorities. */
function requireTrust({ distrust }: Client): void {
  if (distrust !== null) throw distrusted(distrust);
}

function distrusted(distrust: Distrust): HawserError {
  switch (distrust) {
    case 'certificate_revoked':
      return unauthenticated('The authority of the certificate has revoked it', 'certificate_revoked');
    case 'crl_expired':
      return unauthenticated(
        'The revocation list that the server has of the authority of the certificate is out of date',
        'crl_expired',
      );
    case 'certificate_untrusted':
      return unauthenticated(
        'The certificate is of no authority that the server accepts',
        'certificate_untrusted',
      );
    case 'connected_before':
      return unauthenticated('The authorities of the server have changed since the handshake; connect anew');
  }
}

async function fromThisSite(request: IncomingMessage, principal: Promise<Principal>): Promise<Principal> {
  const known = await principal;
  refuseCrossSite(request);
  return known;
}

/**
 * Whether a person is behind the request. An open page that only looks whether something has changed says so, or else
 * nobody would ever be signed out while it stays open.
 */
function isUse({ headers }: IncomingMessage): boolean {
  return headers['x-hawser-poll'] !== '1';
}

/** Who is signed in, for routes that are open to everybody. A session that has ended counts as none. */
export async function sessionHolder(
  identifier: Identifier,
  request: IncomingMessage,
  now: number,
): Promise<Principal | null> {
  const session = sessionSecret(request.headers.cookie ?? '');
  if (session === null) return null;
  try {
    return await identifier.session(session, now, isUse(request));
  } catch (error) {
    if (error instanceof HawserError && error.kind === 'unauthenticated') return null;
    throw error;
  }
}

/**
 * Guards routes that are open to everybody. A session cookie still marks a browser, and a form on another site must not
 * sign its user in or out.
 */
export function refuseCrossSiteSession(request: IncomingMessage): void {
  const { authorization, cookie } = request.headers;
  if (authorization !== undefined || cookie === undefined || sessionSecret(cookie) === null) return;
  refuseCrossSite(request);
}

/**
 * Lets only the metrics token in. No session, personal access token or certificate counts.
 * @param expected SHA-256 of the token in hexadecimal; null where none is configured
 * @throws HawserError not_found where none is configured; unauthenticated for none or another
 */
export function requireMetricsToken(request: IncomingMessage, expected: string | null): void {
  if (expected === null) throw notFound('Nothing has this address');
  const { authorization } = request.headers;
  if (authorization === undefined) throw unauthenticated('Send the metrics token: Bearer <token>');
  if (!isSameDigest(sha256Hex(bearerToken(authorization)), expected))
    throw unauthenticated('This is not the metrics token');
}

function bearerToken(authorization: string): string {
  const match = /^Bearer +([\x21-\x7e]{1,512})$/i.exec(authorization);
  if (!match?.[1]) throw unauthenticated('The Authorization header must be: Bearer <token>');
  return match[1];
}

/** The password of HTTP Basic (RFC 7617), or null for another scheme. Neither it nor the user name holds a colon. */
function basicPassword(authorization: string): string | null {
  const credentials = /^Basic +([A-Za-z0-9+/]{1,2048}={0,2})$/i.exec(authorization)?.[1];
  if (credentials === undefined) return null;
  const text = Buffer.from(credentials, 'base64').toString('utf8');
  const password = text.slice(text.indexOf(':') + 1);
  if (!text.includes(':') || !/^[\x21-\x7e]{1,512}$/.test(password)) {
    throw unauthenticated('The password must be a personal access token');
  }
  return password;
}

/**
 * A browser tells where a request comes from. Without either header the caller is no browser.
 * @throws HawserError forbidden `cross_site_request`
 */
export function refuseCrossSite(request: IncomingMessage): void {
  if (SAFE_METHODS.has(request.method ?? 'GET')) return;
  const site = request.headers['sec-fetch-site'];
  const { origin, host } = request.headers;
  const sameOrigin =
    site === undefined
      ? origin === undefined || (host !== undefined && origin === `https://${host}`)
      : site === 'same-origin' || site === 'none';
  if (!sameOrigin)
    throw forbidden(
      'Forms, and requests with a session, must come from this site; scripts send a token',
      'cross_site_request',
    );
}
