/** Password hashes by scrypt-kdf. They are slow on purpose, so few are made at once, off the event loop, in turn. */

import { availableParallelism } from 'node:os';
import * as scryptModule from 'scrypt-kdf';
import { FairQueue } from '../lib/fair-queue.ts';

/** The types of the package declare named exports, but it has a default export with these functions. */
const scrypt = (scryptModule as unknown as { default: typeof scryptModule }).default;

/** A hash takes 32 MiB and some 250 ms of a processor. OWASP recommends these parameters for scrypt. */
const PARAMETERS = { logN: 15, r: 8, p: 3 };

/** Hashing runs on the four threads of libuv. One of them stays free for the disk. */
const turns = new FairQueue({
  slots: Math.min(availableParallelism(), 3),
  // Anybody can request checks. With two processors this many take some five seconds.
  waiting: 32,
  waitingPerCaller: 4,
});

/**
 * Makes a hash with its salt and parameters, as base64. There is no limit on how many may wait for their turn.
 * @param source who asks; sources take turns, so that sign-ins do not delay somebody who makes users
 */
export async function hashPassword(password: string, source = 'this server'): Promise<string> {
  const key = await turns.run(source, () => scrypt.kdf(password.normalize('NFKC'), PARAMETERS));
  return Buffer.from(key).toString('base64');
}

/**
 * The hash of a forgotten random text, with the parameters above. It is a constant, because the first check of an
 * unknown user after a start would take twice as long if it had to be made.
 */
export const DECOY =
  'c2NyeXB0AA8AAAAIAAAAA5+A85Zzq148gYzLxZNRfwOL4zfBwqthDRC1+Jd8NYkTzZZYXfmxbhO8m9srrgqTJGjLPQkm2HYySXlWo4GOVEJcr4U5cemqikZ/Mn6bcpcP';

/**
 * Whether the password belongs to the hash. Without a hash (unknown user, service account) the same work is done with
 * the decoy, so that the time does not show whether the user exists.
 * @param source who asks, such as the network of an address; its checks wait for each other first
 * @throws HawserError rate_limited when too many checks of the source wait, unavailable `overloaded` when too many wait
 *   in all; then the password was not checked
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
