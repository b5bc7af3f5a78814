/**
 * Where the cursor is in a document: in which mapping, at which key, and whether a key or a value is written there. YAML
 * that is being written is seldom valid, so this goes by lines and indentation, and not by the syntax tree.
 */

import { scalarOf } from './pointer.ts';

/** Stands for an item of a list in a path. No key can be equal to it, because it is not a string. */
export const ITEM = Symbol('item');
export type Step = string | typeof ITEM;

/** The lines of a text, counted from 1. */
export interface Lines {
  line(number: number): { text: string };
}

export interface Place {
  /** The steps from the root to the mapping or list. */
  path: Step[];
  /** The key on this line; null where none is complete. */
  key: string | null;
  /** What the cursor is at. */
  at: 'key' | 'value';
  /** The column where the key or value begins. */
  column: number;
  /** What is written of it before the cursor. */
  written: string;
}

interface ParsedLine {
  /** The columns of the dashes. */
  dashes: number[];
  /** The column where the content begins. */
  column: number;
  key: string | null;
  /** The column behind the colon and the blanks; 0 where there is no key. */
  valueColumn: number;
  isEmpty: boolean;
}

const DASHES = /^ *(?:- +|-$)*/;
const KEY = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s:#{}[\],&*!|>'"%@`][^#]*?) *:(?: +|$)/;

function parseLine(text: string): ParsedLine {
  const start = DASHES.exec(text)?.[0] ?? '';
  const rest = text.slice(start.length);
  const key = KEY.exec(rest);
  return {
    dashes: [...start.matchAll(/-/g)].map(({ index }) => index),
    column: start.length,
    key: key?.[1] === undefined ? null : scalarOf(key[1]),
    valueColumn: key ? start.length + key[0].length : 0,
    isEmpty: rest === '' || rest.startsWith('#'),
  };
}

/** The place of a cursor in YAML. @param column that of the cursor, from 0 */
export function placeInYaml(lines: Lines, number: number, column: number): Place | null {
  const { text } = lines.line(number);
  const line = parseLine(text);
  if (column < line.column) return null;
  const isValue = line.key !== null && column >= line.valueColumn;
  const from = isValue ? line.valueColumn : line.column;
  return {
    path: pathAbove(lines, number, line),
    key: line.key,
    at: isValue ? 'value' : 'key',
    column: from,
    written: text.slice(from, column),
  };
}

function pathAbove(lines: Lines, number: number, { dashes, column }: ParsedLine): Step[] {
  const path: Step[] = [];
  let indent = column;
  // A list may stand in the same column as the key that it belongs to.
  let isInItem = false;
  const enterDashes = (columns: readonly number[]) => {
    for (const dash of columns.filter((each) => each < indent).reverse()) {
      path.unshift(ITEM);
      indent = dash;
      isInItem = true;
    }
  };
  enterDashes(dashes);
  for (let above = number - 1; above >= 1 && (indent > 0 || isInItem); above -= 1) {
    const line = parseLine(lines.line(above).text);
    if (line.isEmpty && line.dashes.length === 0) continue;
    const isParent = line.key !== null && (line.column < indent || (isInItem && line.column === indent));
    if (isParent && line.key !== null) {
      path.unshift(line.key);
      indent = line.column;
      isInItem = false;
    }
    // A dash further to the left than what is looked at begins the item around it.
    if (line.column <= indent) enterDashes(line.dashes);
  }
  return path;
}

/** The keys that the mapping around a line of YAML has already, as far as they are within some hundred lines. */
export function siblingKeys(lines: Lines, count: number, number: number): Set<string> {
  const keys = new Set<string>();
  const { column } = parseLine(lines.line(number).text);
  for (const step of [-1, 1]) {
    for (let at = number + step; at >= 1 && at <= count && Math.abs(at - number) < 500; at += step) {
      const line = parseLine(lines.line(at).text);
      if (line.isEmpty) continue;
      const beginsItem = line.dashes.some((dash) => dash < column);
      if (line.column < column || (beginsItem && step === 1)) break;
      if (line.column === column && line.key !== null) keys.add(line.key);
      if (beginsItem) break;
    }
  }
  return keys;
}
