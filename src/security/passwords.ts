/** Password hashes by scrypt-kdf: slow on purpose, off the event loop, and no more at once than cores. */

import { availableParallelism } from 'node:os';
import * as scryptModule from 'scrypt-kdf';
import { Semaphore } from '../lib/keyed-mutex.ts';

/** The package's types declare named exports; what it has is a default export with these functions. */
const scrypt = (scryptModule as unknown as { default: typeof scryptModule }).default;

/** 32 MiB and some 60 ms a hash (OWASP's scrypt advice: N=2^15, r=8, p=3 or N=2^17, p=1; p kept low for logins). */
const PARAMETERS = { logN: 15, r: 8, p: 3 };

const slots = new Semaphore(availableParallelism());

/** A hash with its salt and parameters, as base64. */
export async function hashPassword(password: string): Promise<string> {
  const key = await slots.run(() => scrypt.kdf(password.normalize('NFKC'), PARAMETERS));
  return Buffer.from(key).toString('base64');
}

let decoy: Promise<string> | undefined;

/**
 * Whether the password belongs to the hash. Without a hash (unknown user, service account) the same work is
 * done against a decoy, so that the time tells nothing.
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  // Waited for in every case, or the first unknown user after a start would take twice as long as a known one.
  decoy ??= hashPassword('a decoy that no password equals, made once per process');
  const fallback = await decoy;
  const key = Buffer.from(hash ?? fallback, 'base64');
  const matches = await slots.run(() => scrypt.verify(key, password.normalize('NFKC')));
  return matches && hash !== null;
}
