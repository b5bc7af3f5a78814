/** The difference of one file, line by line, as the API shows it. */

import type { ChangedFile } from './file-changes.ts';
import { hunksOf, type LineKind, linesOf, startNumber } from './hunks.ts';
import type { LineChange } from './line-diff.ts';
import type { TextLines } from './text-lines.ts';

/** Which file it is, and what happened to it. */
export type FileDiffHead = Pick<ChangedFile, 'path' | 'previousPath'> & {
  change: ChangedFile['change'] | 'Unchanged';
};

/** At most so many unchanged lines are shown around a change. */
export const MAX_CONTEXT = 100;

export interface FileDiff extends FileDiffHead {
  isBinary: boolean;
  isTooLarge: boolean;
  hunks: readonly ShownHunk[];
  endsWithoutNewline: { before: boolean; after: boolean };
}

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

/** What `shownHunks` gives with fewer unchanged lines around the changes than these hunks have. */
export function narrowHunks(hunks: readonly ShownHunk[], context: number): ShownHunk[] {
  return hunks.flatMap((hunk) => piecesOf(hunk.lines, context).map(([from, to]) => cutOut(hunk, from, to)));
}

/** The lines that stay, from each first one up to an end. */
function piecesOf(lines: readonly ShownLine[], context: number): [from: number, to: number][] {
  const pieces: [number, number][] = [];
  for (const [at, { kind }] of lines.entries()) {
    if (kind === 'Context') continue;
    const [from, to] = [Math.max(0, at - context), Math.min(lines.length, at + 1 + context)];
    const last = pieces.at(-1);
    if (last && from <= last[1]) last[1] = to;
    else pieces.push([from, to]);
  }
  return pieces;
}

function cutOut(hunk: ShownHunk, from: number, to: number): ShownHunk {
  const lines = hunk.lines.slice(from, to);
  const before = hunk.lines[from - 1];
  const [oldStart, oldLines] = sideOf(lines, 'oldNumber', before, [hunk.oldStart, hunk.oldLines]);
  const [newStart, newLines] = sideOf(lines, 'newNumber', before, [hunk.newStart, hunk.newLines]);
  return { oldStart, oldLines, newStart, newLines, lines };
}

/** A side without lines begins at the line before, as `startNumber` has it. What is before such lines is none of its own. */
function sideOf(
  lines: readonly ShownLine[],
  member: 'oldNumber' | 'newNumber',
  before: ShownLine | undefined,
  [start, length]: readonly [number, number],
): [start: number, lines: number] {
  const own = lines.filter((line) => line[member] !== null);
  const first = own[0]?.[member] ?? before?.[member] ?? (length === 0 ? start : start - 1);
  return [first, own.length];
}
