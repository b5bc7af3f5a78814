/** What differs between two lists of files: which were added, removed, changed or renamed. */

import { compareBytes } from '../lib/byte-order.ts';

/** A file of one of the two lists. */
export interface ListedFile {
  path: string;
  /** Names the content: two files have the same bytes exactly if they have the same id. */
  oid: string;
  executable: boolean;
}

export type ChangeKind = 'Added' | 'Removed' | 'Modified' | 'Renamed';

/** One file on both sides. Null stands for the side on which there is no such file. */
export interface ChangedFile {
  /** The path after the change, or before it for a file that was removed. */
  path: string;
  /** The path before the change, where it was another. */
  previousPath: string | null;
  change: ChangeKind;
  before: ListedFile | null;
  after: ListedFile | null;
}

/** A path that is not the same on both sides. A path that is gone may turn out to be the old one of a renamed file. */
interface Difference {
  before: ListedFile | null;
  after: ListedFile | null;
}

/**
 * The files that differ, by the bytes of their paths. A file is renamed if its content is the same and its path is not.
 * Only a path that is gone can be the previous one of a path that is new, and they are paired in the order of paths.
 * @param before by the bytes of their paths, and so are those of `after`
 */
export function changedFiles(before: readonly ListedFile[], after: readonly ListedFile[]): ChangedFile[] {
  const differences = differencesOf(before, after);
  const gone = new Map<string, Difference[]>();
  for (const difference of differences.toReversed()) {
    const { before: file, after: kept } = difference;
    if (file === null || kept !== null) continue;
    const alike = gone.get(file.oid);
    if (alike) alike.push(difference);
    else gone.set(file.oid, [difference]);
  }
  for (const difference of differences) {
    if (difference.before !== null || difference.after === null) continue;
    const previous = gone.get(difference.after.oid)?.pop();
    if (previous === undefined) continue;
    difference.before = previous.before;
    previous.before = null;
  }
  return differences.filter((each) => each.before !== null || each.after !== null).map(toChangedFile);
}

/**
 * One file on both sides, changed or not. A renamed file is found by either of its paths. Null if neither list has it.
 * @param before by the bytes of their paths, and so are those of `after`
 */
export function findOnBothSides(
  path: string,
  before: readonly ListedFile[],
  after: readonly ListedFile[],
): (Omit<ChangedFile, 'change'> & { change: ChangeKind | 'Unchanged' }) | null {
  const changed = changedFiles(before, after);
  const file =
    changed.find((each) => each.path === path) ?? changed.find((each) => each.previousPath === path);
  if (file) return file;
  const same = after.find((each) => each.path === path);
  return same ? { path, previousPath: null, change: 'Unchanged', before: same, after: same } : null;
}

/** Walks through both lists at once, because there may be twenty thousand files. */
function differencesOf(before: readonly ListedFile[], after: readonly ListedFile[]): Difference[] {
  const differences: Difference[] = [];
  let [x, y] = [0, 0];
  while (x < before.length || y < after.length) {
    const [old = null, next = null] = [before[x], after[y]];
    const order = old === null ? 1 : next === null ? -1 : compareBytes(old.path, next.path);
    if (order <= 0) x += 1;
    if (order >= 0) y += 1;
    if (order < 0) differences.push({ before: old, after: null });
    else if (order > 0) differences.push({ before: null, after: next });
    else if (old?.oid !== next?.oid || old?.executable !== next?.executable)
      differences.push({ before: old, after: next });
  }
  return differences;
}

function toChangedFile({ before, after }: Difference): ChangedFile {
  const path = (after ?? before)?.path ?? '';
  const previousPath = before === null || before.path === path ? null : before.path;
  const change =
    before === null ? 'Added' : after === null ? 'Removed' : previousPath === null ? 'Modified' : 'Renamed';
  return { path, previousPath, change, before, after };
}
