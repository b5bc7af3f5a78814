/**
 * What answers tell browsers: to take no content for another kind than it is named, to run nothing in it, to show it in
 * no frame, and to come by TLS the next time too. All of it is constant, since the poll pays for every header.
 */

import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

const ANYWHERE = ['X-Content-Type-Options', 'nosniff'];
/** Not for subdomains: they may be other machines. Over plain HTTP it must not be sent (RFC 6797 7.2). */
const OVER_TLS = [...ANYWHERE, 'Strict-Transport-Security', 'max-age=31536000'];

/** Names and values in turn, for every answer. */
export function securityHeaders(socket: Socket): readonly string[] {
  return (socket as Partial<TLSSocket>).encrypted === true ? OVER_TLS : ANYWHERE;
}

/** Names and values in turn, for what a browser might take for a document and that says nothing of its own. */
export const NO_DOCUMENT: readonly string[] = [
  'Content-Security-Policy',
  "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options',
  'DENY',
];
