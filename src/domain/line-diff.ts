/**
 * Finds the lines in which two texts differ. The work is done by the library `diff` (Myers); see docs/decisions/0039 for
 * what is done before and after it.
 */

import { diffArrays } from 'diff';
import { commonOrder, labelled, type Pair, uniqueIn } from './line-anchors.ts';
import type { TextLines } from './text-lines.ts';

/** Lines of the one text that are replaced by lines of the other. Ends are exclusive, and one of the two may be empty. */
export interface LineChange {
  oldStart: number;
  oldEnd: number;
  newStart: number;
  newEnd: number;
}

/** How long a difference may be looked for. */
export interface DiffBounds {
  milliseconds: number;
  /** The largest number of added and removed lines, of those that both texts have. The default is any. */
  edits?: number | null;
}

/** Up to so many added and removed lines the shortest difference is found. It takes some 10 ms at most. */
const EXACT = 400;

/** Ways to find lines that are left alone, where the shortest difference would take too long. They are tried in order. */
const ANCHORS = [uniqueIn, labelled] as const;

/**
 * The changes that make the one text the other, in order. Null where the bounds do not allow to find them.
 * Equal texts have none.
 */
export function lineChanges(
  before: TextLines,
  after: TextLines,
  { milliseconds, edits = null }: DiffBounds,
): LineChange[] | null {
  if (before.count === 0 || after.count === 0) return wholeMiddle(before, after);
  const limits = { end: performance.now() + milliseconds, edits };
  const middle = middleOf(before, after);
  const known = new Map<string, number>();
  const old = idsOf(before, middle.oldStart, middle.oldEnd, known);
  const next = idsOf(after, middle.newStart, middle.newEnd, known);
  const pairs = pairsOf(old, next, limits);
  return pairs && changesBetween(pairs, middle);
}

/** One change that replaces all between what is common at the beginning and at the end. None for equal texts. */
export function wholeMiddle(before: TextLines, after: TextLines): LineChange[] {
  const middle = middleOf(before, after);
  return isEmpty(middle) ? [] : [middle];
}

/** How many lines changes add and remove. */
export function countChanged(changes: readonly LineChange[]): { additions: number; deletions: number } {
  let [additions, deletions] = [0, 0];
  for (const { oldStart, oldEnd, newStart, newEnd } of changes) {
    additions += newEnd - newStart;
    deletions += oldEnd - oldStart;
  }
  return { additions, deletions };
}

function middleOf(before: TextLines, after: TextLines): LineChange {
  const least = Math.min(before.count, after.count);
  const isSame = (one: number, other: number) => before.line(one).equals(after.line(other));
  let start = 0;
  while (start < least && isSame(start, start)) start += 1;
  let tail = 0;
  while (tail < least - start && isSame(before.count - 1 - tail, after.count - 1 - tail)) tail += 1;
  return {
    ...{ oldStart: start, oldEnd: before.count - tail },
    ...{ newStart: start, newEnd: after.count - tail },
  };
}

/** A number for each line. Equal lines have the same one. */
function idsOf(lines: TextLines, start: number, end: number, known: Map<string, number>): number[] {
  const ids: number[] = [];
  for (let at = start; at < end; at += 1) {
    const key = lines.key(at);
    let id = known.get(key);
    if (id === undefined) {
      id = known.size;
      known.set(key, id);
    }
    ids.push(id);
  }
  return ids;
}

interface Limits {
  /** When to give up, on the clock of `performance.now`. */
  end: number;
  edits: number | null;
}

/** The pairs of equal ids that a difference leaves alone, in order. Null where the limits do not allow to find them. */
function pairsOf(
  old: readonly number[],
  next: readonly number[],
  limits: Limits,
  step = 0,
): readonly Pair[] | null {
  // What is on one side only has changed in any case, and need not be looked at.
  const [a, b] = [commonWith(next, old), commonWith(old, next)];
  const found = shortest(a.ids, b.ids, limits, step) ?? split(a.ids, b.ids, limits, step);
  return found?.map(([x, y]) => [a.places[x] as number, b.places[y] as number]) ?? null;
}

function commonWith(others: readonly number[], ids: readonly number[]): { ids: number[]; places: number[] } {
  const known = new Set(others);
  const common: { ids: number[]; places: number[] } = { ids: [], places: [] };
  for (const [place, id] of ids.entries()) {
    if (!known.has(id)) continue;
    common.ids.push(id);
    common.places.push(place);
  }
  return common;
}

function shortest(old: number[], next: number[], { end, edits }: Limits, step: number): Pair[] | null {
  const timeout = end - performance.now();
  if (timeout <= 0) return null;
  const maxEditLength = edits ?? (step < ANCHORS.length ? EXACT : old.length + next.length);
  const parts = diffArrays(old, next, { timeout, maxEditLength });
  if (parts === undefined) return null;
  const pairs: Pair[] = [];
  let [x, y] = [0, 0];
  for (const { added, removed, count } of parts) {
    if (!added && !removed) for (let at = 0; at < count; at += 1) pairs.push([x + at, y + at]);
    if (!added) x += count;
    if (!removed) y += count;
  }
  return pairs;
}

/** Leaves some lines alone, and looks for the shortest difference between each two of them. */
function split(old: readonly number[], next: readonly number[], limits: Limits, step: number): Pair[] | null {
  const label = ANCHORS[step];
  if (label === undefined || limits.edits !== null || performance.now() >= limits.end) return null;
  const pairs: Pair[] = [];
  let [x, y] = [0, 0];
  const stop: Pair = [old.length, next.length];
  for (const anchor of [...commonOrder(label(old), label(next)), stop]) {
    const between = pairsOf(old.slice(x, anchor[0]), next.slice(y, anchor[1]), limits, step + 1);
    if (between === null) return null;
    for (const [i, j] of between) pairs.push([x + i, y + j]);
    if (anchor !== stop) pairs.push(anchor);
    x = anchor[0] + 1;
    y = anchor[1] + 1;
  }
  return pairs;
}

/** The lines between pairs, as changes of the whole texts. */
function changesBetween(
  pairs: readonly Pair[],
  { oldStart, oldEnd, newStart, newEnd }: LineChange,
): LineChange[] {
  const changes: LineChange[] = [];
  let [x, y] = [oldStart, newStart];
  const takeUpTo = (oldTo: number, newTo: number) => {
    const change = { oldStart: x, oldEnd: oldTo, newStart: y, newEnd: newTo };
    if (!isEmpty(change)) changes.push(change);
    x = oldTo + 1;
    y = newTo + 1;
  };
  for (const [i, j] of pairs) takeUpTo(oldStart + i, newStart + j);
  takeUpTo(oldEnd, newEnd);
  return changes;
}

function isEmpty({ oldStart, oldEnd, newStart, newEnd }: LineChange): boolean {
  return oldStart === oldEnd && newStart === newEnd;
}
