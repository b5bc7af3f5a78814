/** What a failed system call says of a disk, in words that a caller may see: full, or not to be had at the moment. */

import { HawserError } from './errors.ts';

/** No room, or no more of it for this user. */
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** Faults that pass by themselves, or that somebody can mend while the server goes on. */
const PASSING = new Set([
  ...['EIO', 'EROFS', 'EFBIG', 'ENODEV', 'ENXIO', 'ESTALE', 'ETIMEDOUT', 'EHOSTDOWN', 'EBUSY', 'EAGAIN'],
  ...['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'],
]);

/** Seconds: long enough for somebody to see to it, short enough that nobody waits for nothing. */
export const DISK_RETRY_AFTER = 5;

/**
 * @param cause holds paths, and is for the log alone
 * @returns null for an errno that says nothing of a disk's state, such as ENOENT
 */
export function diskFault(errno: string | undefined, cause: unknown): HawserError | null {
  if (errno === undefined) return null;
  if (FULL.has(errno)) {
    return new HawserError('storage_full', 'insufficient_storage', 'The disk is full', { cause });
  }
  if (!PASSING.has(errno)) return null;
  const options = { cause, retryAfter: DISK_RETRY_AFTER };
  return new HawserError('unavailable', 'unavailable', 'The disk cannot be used at the moment', options);
}
