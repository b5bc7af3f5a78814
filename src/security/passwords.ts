/** Password hashes by scrypt-kdf. They are slow on purpose, so few are made at once, off the event loop, in turn. */

import { availableParallelism } from 'node:os';
import * as scryptModule from 'scrypt-kdf';
import { FairQueue } from '../lib/fair-queue.ts';
import { fitsImportedHash, readImportedHash } from './imported-passwords.ts';

/** The types of the package declare named exports, but it has a default export with these functions. */
const scrypt = (scryptModule as unknown as { default: typeof scryptModule }).default;

/** OWASP recommends these parameters. A hash takes 32 MiB and some 250 ms of a processor. */
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

export interface PasswordCheck {
  matches: boolean;
  /** A hash of ours that is to take the place of one from another server; null where that is not so, or nothing matches. */
  replacement: string | null;
}

/**
 * Whether the password belongs to the hash, whatever the hash has cost. Without a hash (unknown user, service account)
 * one is made and forgotten, so that the time does not show whether the user exists.
 *
 * A hash from another server takes a check of its own kind and one of ours, whose result takes its place. So that the time
 * shows nothing here either, `mayBeImported` makes the checks of all others do that work too, in vain. It is to be set while
 * any user has such a hash, and afterwards a check costs what it did before. What holds then is that the work is the same
 * for an unknown user, for one of ours, and for one from there, with a right password or a
 * wrong one. What a right password writes differs by one column, which only shows to whoever knows the password.
 * @param source who asks, such as the network of an address; its checks wait for each other first
 * @throws HawserError rate_limited when too many checks of the source wait, unavailable `overloaded` when too many wait
 *   in all; then the password was not checked
 */
export async function checkPassword(
  password: string,
  hash: string | null,
  { source, mayBeImported }: { source: string; mayBeImported: boolean },
): Promise<PasswordCheck> {
  const text = password.normalize('NFKC');
  const imported = hash === null ? null : readImportedHash(hash);
  return turns.runBounded(source, async () => {
    const fits = (imported !== null || mayBeImported) && (await fitsImportedHash(password, imported));
    if (hash !== null && imported === null)
      return { matches: await scrypt.verify(Buffer.from(hash, 'base64'), text), replacement: null };
    const key = await scrypt.kdf(text, PARAMETERS);
    return { matches: fits, replacement: fits ? Buffer.from(key).toString('base64') : null };
  });
}

/** The same for whoever has proven already who they are, so that nobody learns anything from the time. */
export async function verifyPassword(
  password: string,
  hash: string | null,
  source: string,
): Promise<boolean> {
  return (await checkPassword(password, hash, { source, mayBeImported: false })).matches;
}
