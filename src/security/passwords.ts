/** Password hashes by scrypt-kdf: slow on purpose, off the event loop, few at once, and made in turn. */

import { availableParallelism } from 'node:os';
import * as scryptModule from 'scrypt-kdf';
import { FairQueue } from '../lib/fair-queue.ts';

/** The package's types declare named exports; what it has is a default export with these functions. */
const scrypt = (scryptModule as unknown as { default: typeof scryptModule }).default;

/** 32 MiB and some 250 ms of a processor for a hash (OWASP's scrypt advice: N=2^15, r=8, p=3 or N=2^17, p=1; p kept low for logins). */
const PARAMETERS = { logN: 15, r: 8, p: 3 };

/** Hashing runs on libuv's pool of four threads; one of them stays free for the disk, whoever is signing in. */
const turns = new FairQueue({
  slots: Math.min(availableParallelism(), 3),
  // Strangers may ask for any number of checks. With two processors, as many as may wait take some five seconds.
  waiting: 32,
  waitingPerCaller: 4,
});

/**
 * A hash with its salt and parameters, as base64. It waits its turn, however many wait.
 * @param source who asks: those who sign in hold up nobody who makes users, nor the other way round
 */
export async function hashPassword(password: string, source = 'this server'): Promise<string> {
  const key = await turns.run(source, () => scrypt.kdf(password.normalize('NFKC'), PARAMETERS));
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
 * done against a decoy, in the same turn, so that the time tells nothing.
 * @param source who asks, such as the network that an address is of: its checks wait for each other first
 * @throws HawserError rate_limited, unavailable `overloaded` when too many checks wait, of the source or of all; then
 *   the password was not looked at
 */
export async function verifyPassword(
  password: string,
  hash: string | null,
  source: string,
): Promise<boolean> {
  const key = Buffer.from(hash ?? DECOY, 'base64');
  const matches = await turns.runBounded(source, () => scrypt.verify(key, password.normalize('NFKC')));
  return matches && hash !== null;
}
