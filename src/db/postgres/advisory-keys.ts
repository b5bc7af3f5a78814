/** The numbers of advisory locks. Locks by name get a number from the hash of their name. */

import { createHash } from 'node:crypto';

/** Transactions that change what the feed tells hold this one, so that the order of the feed is that of the commits. */
export const FEED_KEY = '4846172051';
/** Transactions that write what nodes run or reported hold this one. */
export const NOTES_KEY = '4846172052';
/** Transactions that change what lists ask of nodes hold this one, so that no two wait for each other's rows. */
export const CELLS_KEY = '4846172053';

/** The number of a lock by name: the first 64 bits of its SHA-256, as a signed integer in decimal digits. */
export function keyOfLock(name: string): string {
  return createHash('sha256').update(name).digest().readBigInt64BE(0).toString();
}
