/** Conditional requests (RFC 9110 section 13): validators out, If-None-Match and If-Match in. */

import { HawserError } from '../lib/errors.ts';
import { sha256Base64 } from '../lib/hash.ts';
import type { Answer } from './answer.ts';

/** The ETag of an answer: its own, else one made from its bytes; lists and what is never cached have none. */
export function etagOf(answer: Answer): string | null {
  if (answer.etag !== undefined) return answer.etag;
  if (answer.status !== 200 || answer.body === null || answer.page !== undefined) return null;
  if (answer.headers['Cache-Control'] === 'no-store') return null;
  if (typeof answer.body !== 'string' && !Buffer.isBuffer(answer.body)) return null;
  return `"${sha256Base64(answer.body).slice(0, 27).replaceAll('+', '-').replaceAll('/', '_')}"`;
}

/** Whether the header's list names the ETag; weak ones count as equal (RFC 9110 8.8.3.2). */
export function namesValidator(header: string, etag: string): boolean {
  // The steady poll sends exactly the one validator it was given.
  if (header === etag) return true;
  if (namesAny(header)) return true;
  return header.split(',').some((entry) => entry.trim().replace(/^W\//, '') === etag);
}

/** `*`: whatever it is now, as long as it is there. */
export function namesAny(header: string): boolean {
  return header.trim() === '*';
}

/** What stands at an address now: null for nothing, else its ETag, which lists do not have. */
export type Current = { etag: string | null } | null;

/**
 * If-Match compares strongly, so a weak validator never matches.
 * @throws HawserError precondition_failed when the header does not name what is there
 */
export function requireMatch(header: string, current: Current): void {
  const names = (etag: string) => header.split(',').some((entry) => entry.trim() === etag);
  if (current !== null && (namesAny(header) || (current.etag !== null && names(current.etag)))) return;
  const message = 'The resource has changed since it was read; read it again';
  throw new HawserError('precondition_failed', 'precondition_failed', message);
}
