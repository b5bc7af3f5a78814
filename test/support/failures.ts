/** What work fails with, for tests that look at more of an error than its message. */

import { expect } from 'chai';
import { type FieldError, HawserError } from '../../src/lib/errors.ts';

/** The error that the work fails with. Fails if there is none. */
export async function failureOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

/** As `failureOf`, for a refusal. */
export async function refusalOf(work: Promise<unknown>): Promise<HawserError> {
  const error = await failureOf(work);
  if (error instanceof HawserError) return error;
  throw error;
}

/** What the work is refused with; null where it is not. */
export function refusalBy(work: () => unknown): HawserError | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof HawserError) return error;
    throw error;
  }
}

/** The faults that the work finds in its input; none where it takes it. */
export function faultsBy(work: () => unknown): FieldError[] {
  const refusal = refusalBy(work);
  if (refusal === null) return [];
  expect(refusal).to.include({ kind: 'invalid', code: 'validation_failed' });
  return refusal.data['errors'] as FieldError[];
}
