/** Digests. SHA-256 is used everywhere; SHA-1 is used only inside Git. */

import { createHash, hash, timingSafeEqual } from 'node:crypto';
import { inBlocks } from './pace.ts';

/** The SHA-256 as 64 lower-case hex digits. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** The id that Git gives a file with this content. To be called for small contents alone. */
export function gitBlobId(content: Uint8Array): string {
  return createHash('sha1').update(`blob ${content.byteLength}\0`).update(content).digest('hex');
}

/** The digest of the joined parts as lower-case hex digits. Large parts are hashed in blocks. */
export async function hashInBlocks(
  algorithm: 'sha1' | 'sha256',
  ...parts: readonly Uint8Array[]
): Promise<string> {
  const digest = createHash(algorithm);
  for (const part of parts) await inBlocks(part, (block) => digest.update(block));
  return digest.digest('hex');
}

/** The SHA-256 as base64, which is the form of RFC 9530 digest fields. */
export function sha256Base64(data: string | Uint8Array): string {
  return hash('sha256', data, 'base64');
}

/** Whether two digests, in hex or base64, are the same. The time does not tell how much of them is the same. */
export function isSameDigest(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
