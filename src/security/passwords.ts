/** Password hashes by scrypt-kdf. They are slow on purpose, so few are made at once, off the event loop, in turn. */

import { availableParallelism } from 'node:os';
import * as scryptModule from 'scrypt-kdf';
import { SCRYPT_COST } from '../config.ts';
import { FairQueue } from '../lib/fair-queue.ts';

/** The types of the package declare named exports, but it has a default export with these functions. */
const scrypt = (scryptModule as unknown as { default: typeof scryptModule }).default;

/**
 * With the default cost a hash takes 32 MiB and some 250 ms of a processor; each step of the cost doubles both. OWASP
 * recommends these parameters for scrypt.
 */
const parametersOf = (cost: number) => ({ logN: cost, r: 8, p: 3 });

let currentCost = SCRYPT_COST.least;

/** Sets the cost of the hashes that this process makes from now on: the binary logarithm of scrypt's N. */
export function setPasswordCost(cost: number): void {
  currentCost = cost;
}

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
  const key = await turns.run(source, () =>
    scrypt.kdf(password.normalize('NFKC'), parametersOf(currentCost)),
  );
  return Buffer.from(key).toString('base64');
}

/**
 * Whether the password belongs to the hash, whatever the hash has cost. Without a hash (unknown user, service account)
 * one is made and forgotten, so that the time does not show whether the user exists.
 * @param source who asks, such as the network of an address; its checks wait for each other first
 * @throws HawserError rate_limited when too many checks of the source wait, unavailable `overloaded` when too many wait
 *   in all; then the password was not checked
 */
export async function verifyPassword(
  password: string,
  hash: string | null,
  source: string,
): Promise<boolean> {
  const text = password.normalize('NFKC');
  return turns.runBounded(source, async () => {
    if (hash === null) {
      await scrypt.kdf(text, parametersOf(currentCost));
      return false;
    }
    const key = Buffer.from(hash, 'base64');
    const matches = await scrypt.verify(key, text);
    // Each step doubles the work. So a hash from before the cost was raised, with one more of each cost below the
    // present one, takes as long as one of the present cost.
    for (let cost = scrypt.viewParams(key).logN; cost < currentCost; cost += 1)
      await scrypt.kdf(text, parametersOf(cost));
    return matches;
  });
}
