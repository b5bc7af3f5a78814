/** What became of a node, where a deed is done to many and one that is refused stops none of the others. */

import { HawserError, isRefusal, notFound } from '../lib/errors.ts';

/** Whether the node was changed, or why it was not. */
export type NodeOutcome = boolean | HawserError;

/** Whether it was changed. @throws the refusal, where the outcome is one */
export function orThrow(outcome: NodeOutcome | undefined): boolean {
  if (typeof outcome === 'boolean') return outcome;
  throw outcome ?? notFound('No such node');
}

/** @returns the refusal that the work throws; null where it throws none. @throws what is no refusal */
export async function refusalOf(work: () => Promise<unknown>): Promise<HawserError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof HawserError && isRefusal(error)) return error;
    throw error;
  }
}
