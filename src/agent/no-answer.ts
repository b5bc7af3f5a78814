/** Why a call has got no answer, in words for the person who reads the log. */

import { Interrupted, Unreachable } from '../client/errors.ts';
import { UNKNOWN_AUTHORITY } from '../client/network.ts';

/** A wrong signature is one of another authority with the same name. */
const FOREIGN = new Set([...UNKNOWN_AUTHORITY, 'CERT_SIGNATURE_FAILURE']);

/** Errors of the network, such as ECONNRESET. A failed handshake has other codes, or none. */
const SYSTEM_ERROR = /^E(?!RR_)[A-Z0-9]+$/;

/** Where the connection was when it failed. */
export interface Progress {
  /** Whether the server had proven who it is, so that the call may have been sent. */
  wasTrusted: boolean;
  /** Whether the connection was there, and the server had still to prove who it is. */
  wasConnected: boolean;
  /** Whether the settings name an authority. */
  hasAuthority: boolean;
}

/** @param error what Node has thrown */
export function toNoAnswer(error: NodeJS.ErrnoException, progress: Progress): Unreachable | Interrupted {
  if (error instanceof Unreachable) return error;
  const cause = { cause: error };
  // An error of several addresses has no message of its own.
  const why = error.message || error.code || 'the reason is not known';
  if (progress.wasTrusted) return new Interrupted(`The connection to the server broke off: ${why}`, cause);
  if (FOREIGN.has(error.code ?? ''))
    return new Unreachable(describeUnknown(error.code ?? '', progress.hasAuthority), cause);
  if (progress.wasConnected && !SYSTEM_ERROR.test(error.code ?? ''))
    return new Unreachable(`The server is not trusted, so nothing was sent: ${why}`, cause);
  return new Unreachable(`The server cannot be reached: ${why}`, cause);
}

/** Whether the server gave no answer to a call. */
export function isNoAnswer(error: unknown): boolean {
  return error instanceof Unreachable || error instanceof Interrupted;
}

function describeUnknown(code: string, hasAuthority: boolean): string {
  const found = hasAuthority
    ? 'The authority in caFile has not issued the certificate of the server'
    : 'No authority that this machine knows has issued the certificate of the server';
  return (
    `${found} (${code}), so nothing was sent. Give the PEM file of its authority as caFile, or as fingerprint the ` +
    "SHA-256 of the server's certificate or of its authority's"
  );
}
