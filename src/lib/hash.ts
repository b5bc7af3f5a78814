/** Digests. SHA-256 throughout; SHA-1 exists only inside Git. */

import { createHash } from 'node:crypto';

/** SHA-256 as 64 lower-case hex digits. */
export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** SHA-256 as base64, the form of RFC 9530 digest fields. */
export function sha256Base64(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('base64');
}
