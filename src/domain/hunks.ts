/** Groups changed lines with the unchanged ones around them, as `git diff -U<context>` does. */

import type { LineChange } from './line-diff.ts';

export interface Hunk {
  /** Counted from 0; ends are exclusive. */
  oldStart: number;
  oldEnd: number;
  newStart: number;
  newEnd: number;
  changes: readonly LineChange[];
}

/** How a line stands in a hunk: unchanged, only in the new text, or only in the old one. */
export type LineKind = 'Context' | 'Added' | 'Removed';

/** A line of a hunk. Its places are counted from 0, and null where the side has no such line. */
export interface HunkLine {
  kind: LineKind;
  old: number | null;
  next: number | null;
}

/**
 * @param changes in order
 * @param counts how many lines the two texts have
 * @param context how many unchanged lines are shown around a change
 */
export function hunksOf(
  changes: readonly LineChange[],
  counts: { old: number; next: number },
  context: number,
): Hunk[] {
  return groups(changes, 2 * context).map((group) => {
    const [first, last] = [group[0] as LineChange, group.at(-1) as LineChange];
    const after = Math.min(context, counts.old - last.oldEnd, counts.next - last.newEnd);
    return {
      oldStart: Math.max(0, first.oldStart - context),
      oldEnd: last.oldEnd + after,
      newStart: Math.max(0, first.newStart - context),
      newEnd: last.newEnd + after,
      changes: group,
    };
  });
}

/** Two changes with no more than so many unchanged lines between them stand in one hunk. */
function groups(changes: readonly LineChange[], between: number): LineChange[][] {
  const all: LineChange[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const change of changes) {
    if (change.oldStart - end <= between) all.at(-1)?.push(change);
    else all.push([change]);
    end = change.oldEnd;
  }
  return all;
}

/** The lines of a hunk in the order in which they are shown: what a change removes stands before what it adds. */
export function* linesOf({ oldStart, oldEnd, newStart, changes }: Hunk): Generator<HunkLine> {
  let [old, next] = [oldStart, newStart];
  for (const change of changes) {
    for (; old < change.oldStart; old += 1, next += 1) yield { kind: 'Context', old, next };
    for (; old < change.oldEnd; old += 1) yield { kind: 'Removed', old, next: null };
    for (; next < change.newEnd; next += 1) yield { kind: 'Added', old: null, next };
  }
  for (; old < oldEnd; old += 1, next += 1) yield { kind: 'Context', old, next };
}

/** The number of a hunk's first line, as unified diffs count: an empty side has that of the line before. */
export function startNumber(start: number, end: number): number {
  return start === end ? start : start + 1;
}
