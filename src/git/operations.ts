/** Measures how long operations on repositories take. The metrics are kept elsewhere. */

import { HawserError } from '../lib/errors.ts';
import { addPart, countedParts } from '../lib/request-parts.ts';

export type GitOperation =
  | 'create'
  | 'draft'
  | 'publish'
  | 'withdraw'
  | 'rollout'
  | 'delete'
  | 'read_version'
  | 'fetch';

/** Called after each operation with its duration in milliseconds, and whether the disk or the repository made it fail. */
export type OnOperation = (operation: GitOperation, milliseconds: number, hasFailed: boolean) => void;

export async function timed<T>(
  onOperation: OnOperation,
  operation: GitOperation,
  work: () => Promise<T>,
): Promise<T> {
  const start = performance.now();
  const counted = countedParts();
  let hasFailed = false;
  try {
    return await work();
  } catch (error) {
    hasFailed = isFault(error);
    throw error;
  } finally {
    const milliseconds = performance.now() - start;
    onOperation(operation, milliseconds, hasFailed);
    // A transaction may have begun before the operation.
    addPart('git', Math.max(0, milliseconds - (countedParts() - counted)));
  }
}

/** Whether an error is the server's fault, and not that of the request. */
function isFault(error: unknown): boolean {
  return !(error instanceof HawserError) || ['internal', 'unavailable', 'storage_full'].includes(error.kind);
}
