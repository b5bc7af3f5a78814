/** Password hashes by scrypt-kdf: slow on purpose, off the event loop, and few at once. */

import { availableParallelism } from 'node:os';
import * as scryptModule from 'scrypt-kdf';
import { Semaphore } from '../lib/semaphore.ts';

/** The package's types declare named exports; what it has is a default export with these functions. */
const scrypt = (scryptModule as unknown as { default: typeof scryptModule }).default;

/** 32 MiB and some 60 ms a hash (OWASP's scrypt advice: N=2^15, r=8, p=3 or N=2^17, p=1; p kept low for logins). */
const PARAMETERS = { logN: 15, r: 8, p: 3 };

/** Hashing runs on libuv's pool of four threads; one of them stays free for the disk, whoever is signing in. */
const slots = new Semaphore(Math.min(availableParallelism(), 3));

/** A hash with its salt and parameters, as base64. */
export async function hashPassword(password: string): Promise<string> {
  const key = await slots.run(() => scrypt.kdf(password.normalize('NFKC'), PARAMETERS));
  return Buffer.from(key).toString('base64');
}

/**
 * The hash of a random text that nobody kept, with the parameters above. Written down rather than made: the
 * first unknown user after a start would otherwise take twice as long as a known one.
 */
export const DECOY =
  'c2NyeXB0AA8AAAAIAAAAA5+A85Zzq148gYzLxZNRfwOL4zfBwqthDRC1+Jd8NYkTzZZYXfmxbhO8m9srrgqTJGjLPQkm2HYySXlWo4GOVEJcr4U5cemqikZ/Mn6bcpcP';

/**
 * Whether the password belongs to the hash. Without a hash (unknown user, service account) the same work is
 * done against a decoy, so that the time tells nothing.
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const key = Buffer.from(hash ?? DECOY, 'base64');
  const matches = await slots.run(() => scrypt.verify(key, password.normalize('NFKC')));
  return matches && hash !== null;
}
