/**
 * Makes hashes of passwords so cheap that they take no time worth mentioning, in the process that loads this file before
 * the server's code. Only the tests have this file, so no setting of a server in use leads to it.
 */

import crypto, { type BinaryLike, type ScryptOptions } from 'node:crypto';
import { pathToFileURL } from 'node:url';

/** The environment of a server in a process of its own, with cheap hashes. */
export const CHEAP_HASHES = { NODE_OPTIONS: `--import=${pathToFileURL(import.meta.filename)}` };
/** The same, for tests in which a hash must take as long as it does for users. */
export const REAL_HASHES = { NODE_OPTIONS: '' };

type Done = Parameters<typeof crypto.scrypt>[4];

let isCheap = true;

/** For tests of this process in which a hash must take as long as it does for users; to be turned back afterwards. */
export function makeHashesCheap(wish: boolean): void {
  isCheap = wish;
}

const { scrypt } = crypto;
// A hash does not say that it is cheap. It fits its password in processes that load this file, and in no other.
crypto.scrypt = (password: BinaryLike, salt: BinaryLike, length: number, options: unknown, done?: Done) =>
  scrypt(password, salt, length, { ...(options as ScryptOptions), ...(isCheap && { N: 2 }) }, done as Done);
