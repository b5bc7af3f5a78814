/** What is done to repositories, timed for whoever watches; this room knows no metrics. */

import { HawserError } from '../lib/errors.ts';

export type GitOperation = 'create' | 'draft' | 'publish' | 'delete' | 'read_version' | 'fetch';

/** Told of each operation how long it took, in milliseconds, and whether disk or repository failed it. */
export type OnOperation = (operation: GitOperation, milliseconds: number, hasFailed: boolean) => void;

export async function timed<T>(
  onOperation: OnOperation,
  operation: GitOperation,
  work: () => Promise<T>,
): Promise<T> {
  const start = performance.now();
  let hasFailed = false;
  try {
    return await work();
  } catch (error) {
    hasFailed = isFault(error);
    throw error;
  } finally {
    onOperation(operation, performance.now() - start, hasFailed);
  }
}

/** What a caller asked for in vain is no fault. */
function isFault(error: unknown): boolean {
  return !(error instanceof HawserError) || ['internal', 'unavailable', 'storage_full'].includes(error.kind);
}
