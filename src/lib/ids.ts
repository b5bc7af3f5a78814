/** Identifiers: random UUIDs in lower case, and secrets that name a session, a token or a key. */

import { randomBytes, randomUUID } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function newId(): string {
  return randomUUID();
}

/** Whether the text is a UUID in the canonical lower-case form that Hawser gives out (RFC 9562). */
export function isId(text: string): boolean {
  return UUID.test(text);
}

/** A secret of 256 random bits as 43 characters of base64url, behind an optional prefix. */
export function newSecret(prefix = ''): string {
  return prefix + randomBytes(32).toString('base64url');
}
