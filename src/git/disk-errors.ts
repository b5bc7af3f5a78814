/** Turns the errors of the disk and of isomorphic-git into errors that callers may see. */

import { diskFault } from '../lib/disk-faults.ts';
import { HawserError, internal } from '../lib/errors.ts';

/** The name of a failed system call's error, such as `ENOENT`; undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The value of a promise, or `absent` when it fails because a file or folder does not exist. */
export async function unlessAbsent<T, A>(work: Promise<T>, absent: A): Promise<T | A> {
  try {
    return await work;
  } catch (error) {
    if (isAbsence(error)) return absent;
    throw error;
  }
}

/** Whether a system call failed because a file or folder does not exist. */
export function isAbsence(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOENT' || errno === 'ENOTDIR';
}

/** The store's error for any error. The cause may hold paths and is only logged; the message never holds them. */
export function toStoreError(error: unknown): HawserError {
  if (error instanceof HawserError) return error;
  const fault = diskFault(errnoOf(error), error);
  return fault ?? internal('repository_io', 'A repository could not be read or written.', error);
}

export async function guardDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isFromPostgres(error) ? error : toStoreError(error);
  }
}

/** Objects and refs may be in PostgreSQL. What its errors mean is known where answers are made of them. */
function isFromPostgres(error: unknown): boolean {
  return error instanceof Error && 'severity' in error;
}

export function missingRepository(cause?: unknown): HawserError {
  return internal('repository_missing', 'The repository is not on the disk.', cause);
}

export function damagedRepository(cause?: unknown): HawserError {
  return internal('repository_damaged', 'The repository is damaged: an object is missing or broken.', cause);
}

/** Whether reading failed because an object is missing or broken. */
export function isCorruption(error: unknown): boolean {
  return error instanceof HawserError && error.code === 'repository_damaged';
}
