/** Translates the error of a system call into one that a caller may see: the disk is full, or cannot be used now. */

import { HawserError, RETRY_AFTER_FAULT } from './errors.ts';

/** The disk has no room, or no more room for this user. */
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** Faults that pass by themselves, or that can be repaired while the server runs. */
const PASSING = new Set([
  ...['EIO', 'EROFS', 'EFBIG', 'ENODEV', 'ENXIO', 'ESTALE', 'ETIMEDOUT', 'EHOSTDOWN', 'EBUSY', 'EAGAIN'],
  ...['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'],
]);

/**
 * @param cause may contain paths, so it is only logged
 * @returns null for an errno that says nothing about a disk's state, such as ENOENT
 */
export function diskFault(errno: string | undefined, cause: unknown): HawserError | null {
  if (errno === undefined) return null;
  if (FULL.has(errno)) return diskFull(cause);
  return PASSING.has(errno) ? unavailableFor('The disk cannot be used at the moment', cause) : null;
}

export function diskFull(cause: unknown): HawserError {
  return new HawserError('storage_full', 'insufficient_storage', 'The disk is full', { cause });
}

/** The error for a fault that may be over soon. */
export function unavailableFor(message: string, cause: unknown): HawserError {
  return new HawserError('unavailable', 'unavailable', message, { cause, retryAfter: RETRY_AFTER_FAULT });
}
