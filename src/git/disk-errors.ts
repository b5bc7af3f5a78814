/** What the disk and isomorphic-git throw, turned into errors that callers may see. */

import { diskFault } from '../lib/disk-faults.ts';
import { HawserError, internal } from '../lib/errors.ts';

/** The errno name of a failed system call, such as `ENOENT`; undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The value, or `absent` where the file or folder does not exist. */
export async function unlessAbsent<T, A>(work: Promise<T>, absent: A): Promise<T | A> {
  try {
    return await work;
  } catch (error) {
    if (isAbsence(error)) return absent;
    throw error;
  }
}

/** Whether a system call failed because there is no such file or folder. */
export function isAbsence(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOENT' || errno === 'ENOTDIR';
}

/** The cause holds paths and goes to the log only; the message never does. */
export function toStoreError(error: unknown): HawserError {
  if (error instanceof HawserError) return error;
  const fault = diskFault(errnoOf(error), error);
  return fault ?? internal('repository_io', 'A repository could not be read or written.', error);
}

export async function guardDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error);
  }
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
