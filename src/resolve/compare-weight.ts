/** Tells which comparisons of two contents are so quick that they need no thread. */

import type { DiffBounds } from '../domain/line-diff.ts';
import { countLines, isBinary, MAX_TEXT } from '../domain/text-lines.ts';

/** Two contents of one file. Null stands for a side on which there is none. */
export interface Compared {
  before: Uint8Array | null;
  after: Uint8Array | null;
  /** How long their difference may be looked for. Beyond that everything in the middle counts as changed. */
  bounds: DiffBounds;
}

/** Thrown instead of a result where `bounds.edits` are set and do not do. */
export class TooManyEdits extends Error {}

/** Together up to so much is compared at once. */
const QUICK = { bytes: 64 * 1024, lines: 2_000 };
/** A difference with more added and removed lines is looked for in a thread. */
export const QUICK_EDITS = 100;

/** Whether a task takes no more than a few milliseconds, as long as there are no more than `QUICK_EDITS`. */
export function isQuick(task: string, { before, after }: Pick<Compared, 'before' | 'after'>): boolean {
  const sides = [before, after].filter((bytes) => bytes !== null).map(toBuffer);
  // Such contents are only counted or looked at, and not printed.
  if (task !== 'printPatch' && sides.some((bytes) => bytes.length > MAX_TEXT.bytes || isBinary(bytes)))
    return true;
  if (task === 'countLines' && sides.length < 2) return true;
  const bytes = sides.reduce((sum, { length }) => sum + length, 0);
  if (bytes > QUICK.bytes) return false;
  return sides.reduce((sum, side) => sum + countLines(side, QUICK.lines), 0) <= QUICK.lines;
}

export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
