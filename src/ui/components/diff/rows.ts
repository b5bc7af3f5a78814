/** The rows of a difference, and the parts of a line that have changed. */

import { DOTS, SEALED, sealedName } from '../../sealed.ts';
import type { FileDiff } from '../../types.ts';

export type Hunk = FileDiff['hunks'][number];
export type DiffLine = Hunk['lines'][number];

/** A part of a line. Marked is what differs from the other line. */
export interface Part {
  text: string;
  isMarked: boolean;
}

/** A line with its parts. */
export interface Side {
  kind: DiffLine['kind'];
  /** Counted from 1. */
  oldNumber: number | null;
  newNumber: number | null;
  parts: Part[];
}

/** A row of the table: a hunk's beginning, one line, or two lines side by side. */
export type Row =
  | { kind: 'hunk'; text: string }
  | { kind: 'line'; line: Side }
  | { kind: 'pair'; before: Side | null; after: Side | null };

/** One line a row: the removed ones of a block before the added ones. */
export function unifiedRows(hunks: readonly Hunk[]): Row[] {
  return hunks.flatMap((hunk) => [
    headOf(hunk),
    ...blocksOf(hunk).flatMap(({ context, pairs }): Row[] => [
      ...pairs.flatMap(({ before }) => (before ? [{ kind: 'line' as const, line: before }] : [])),
      ...pairs.flatMap(({ after }) => (after ? [{ kind: 'line' as const, line: after }] : [])),
      ...context.map((line) => ({ kind: 'line' as const, line })),
    ]),
  ]);
}

/** Removed lines beside the added lines of the same block. */
export function splitRows(hunks: readonly Hunk[]): Row[] {
  return hunks.flatMap((hunk) => [
    headOf(hunk),
    ...blocksOf(hunk).flatMap(({ context, pairs }): Row[] => [
      ...pairs.map((pair) => ({ kind: 'pair' as const, ...pair })),
      ...context.map((line) => ({ kind: 'pair' as const, before: line, after: line })),
    ]),
  ]);
}

function headOf({ oldStart, oldLines, newStart, newLines }: Hunk): Row {
  return { kind: 'hunk', text: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@` };
}

interface Pair {
  before: Side | null;
  after: Side | null;
}

/** Changed lines, and the unchanged lines that follow. */
interface Block {
  pairs: Pair[];
  context: Side[];
}

function blocksOf({ lines }: Hunk): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const changed = takeWhile(lines, at, ({ kind }) => kind !== 'Context');
    at += changed.length;
    const context = takeWhile(lines, at, ({ kind }) => kind === 'Context');
    at += context.length;
    blocks.push({ pairs: pairsOf(changed), context: context.map((line) => sideOf(line)) });
  }
  return blocks;
}

function takeWhile(
  lines: readonly DiffLine[],
  start: number,
  isMeant: (line: DiffLine) => boolean,
): DiffLine[] {
  let end = start;
  for (let line = lines[end]; line !== undefined && isMeant(line); line = lines[end]) end += 1;
  return lines.slice(start, end);
}

function pairsOf(changed: readonly DiffLine[]): Pair[] {
  const removed = changed.filter(({ kind }) => kind === 'Removed');
  const added = changed.filter(({ kind }) => kind === 'Added');
  return Array.from({ length: Math.max(removed.length, added.length) }, (_, index) => {
    const [before, after] = [removed[index], added[index]];
    if (before === undefined || after === undefined) {
      return { before: before ? sideOf(before) : null, after: after ? sideOf(after) : null };
    }
    const [beforeParts, afterParts] = changedParts(before.text, after.text);
    return { before: sideOf(before, beforeParts), after: sideOf(after, afterParts) };
  });
}

function sideOf({ kind, oldNumber, newNumber, text }: DiffLine, parts?: Part[]): Side {
  return { kind, oldNumber, newNumber, parts: parts ?? [{ text, isMarked: false }] };
}

/** The parts of two lines. Marked is what lies between what both have at the beginning and at the end. */
export function changedParts(before: string, after: string): [Part[], Part[]] {
  const [one, other] = [unitsOf(before), unitsOf(after)];
  const least = Math.min(one.length, other.length);
  let start = 0;
  while (start < least && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < least - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  // Lines that share only their indentation are two lines, and a mark around all of each would say nothing.
  const shared = [...one.slice(0, start), ...one.slice(one.length - end)].join('').trim();
  if (shared === '') return [[{ text: before, isMarked: false }], [{ text: after, isMarked: false }]];
  return [partsOf(one, start, end), partsOf(other, start, end)];
}

const UNIT = new RegExp(`${SEALED.source}|.`, 'gsu');

/** The characters of a text. An encrypted one changes as a whole. */
const unitsOf = (text: string): readonly string[] => text.match(UNIT) ?? [];

function partsOf(characters: readonly string[], start: number, end: number): Part[] {
  const stop = characters.length - end;
  const parts = [
    { text: characters.slice(0, start).join(''), isMarked: false },
    { text: characters.slice(start, stop).join(''), isMarked: true },
    { text: characters.slice(stop).join(''), isMarked: false },
  ];
  return parts.filter(({ text }) => text !== '');
}

/**
 * A piece of a text: itself, or the name of what is not shown as it is, which is an encrypted text, or a character that cannot be
 * seen or turns the order of the others.
 */
export interface Piece {
  text: string;
  /** Null for what shows as it is. */
  name: string | null;
}

const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are to be shown
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

const NOT_SHOWN = new RegExp(`${SEALED.source}|${HIDDEN.source}`, 'gu');

/** Splits a text so that encrypted texts are shown by dots, and characters that cannot be seen by their names. */
export function visiblePieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: hidden, 1: keyId, index } of text.matchAll(NOT_SHOWN)) {
    if (index > end) pieces.push({ text: text.slice(end, index), name: null });
    pieces.push(keyId === undefined ? hiddenPiece(hidden) : { text: DOTS, name: sealedName(keyId) });
    end = index + hidden.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), name: null });
  return pieces;
}

function hiddenPiece(character: string): Piece {
  if (character === '\r') return { text: 'CR', name: 'carriage return' };
  const code = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  return { text: code, name: `character ${code}` };
}
