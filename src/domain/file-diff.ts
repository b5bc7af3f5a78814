/** The difference of one file, line by line, as the API shows it. */

import type { ChangedFile } from './file-changes.ts';
import { hunksOf, type LineKind, linesOf, startNumber } from './hunks.ts';
import type { LineChange } from './line-diff.ts';
import type { TextLines } from './text-lines.ts';

/** Which file it is, and what happened to it. */
export type FileDiffHead = Pick<ChangedFile, 'path' | 'previousPath'> & {
  change: ChangedFile['change'] | 'Unchanged';
};

export interface ShownLine {
  kind: LineKind;
  /** Counted from 1. */
  oldNumber: number | null;
  newNumber: number | null;
  /** The line without its line break. */
  text: string;
}

export interface ShownHunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: ShownLine[];
}

/** Changes as hunks with this number of unchanged lines around them. */
export function shownHunks(
  before: TextLines,
  after: TextLines,
  changes: readonly LineChange[],
  context: number,
): ShownHunk[] {
  return hunksOf(changes, { old: before.count, next: after.count }, context).map((hunk) => ({
    oldStart: startNumber(hunk.oldStart, hunk.oldEnd),
    oldLines: hunk.oldEnd - hunk.oldStart,
    newStart: startNumber(hunk.newStart, hunk.newEnd),
    newLines: hunk.newEnd - hunk.newStart,
    lines: Array.from(linesOf(hunk), ({ kind, old, next }) => ({
      kind,
      oldNumber: old === null ? null : old + 1,
      newNumber: next === null ? null : next + 1,
      text: old === null ? after.text(next as number) : before.text(old),
    })),
  }));
}
