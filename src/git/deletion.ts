/**
 * Removes versions for good. First history is made to end behind what is kept, then the refs go: cut off anywhere,
 * the repository is whole, and what was not removed yet is a version as before. The objects stay until maintenance.
 */

import { conflict } from '../lib/errors.ts';
import type { GitFolder } from './lock-file.ts';
import { deleteRefs, type RefValue } from './refs.ts';
import { endHistoryAt } from './shallow.ts';

/** So few at once that the locks which a killed process leaves do not keep the next one waiting for long. */
const AT_ONCE = 20;

/**
 * @param boundaries the commits that history is to end at
 * @throws HawserError conflict `versions_changed` when another program moved one of the refs meanwhile
 */
export async function removeRefs(
  folder: GitFolder,
  boundaries: readonly string[],
  refs: readonly RefValue[],
): Promise<void> {
  await endHistoryAt(folder, boundaries);
  for (let at = 0; at < refs.length; at += AT_ONCE) {
    if (!(await deleteRefs(folder, refs.slice(at, at + AT_ONCE)))) throw versionsChanged();
  }
}

function versionsChanged(): Error {
  return conflict('versions_changed', 'A version was changed by another program meanwhile; try again.');
}
