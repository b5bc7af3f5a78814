/**
 * Writes and reads CSV as RFC 4180 says: lines end with CRLF, and a cell with a comma, a quote or a line break is quoted. What is
 * read may have other ends of lines.
 */

import { Pace } from '../lib/pace.ts';

/** Spreadsheets take a cell that begins with one of these for a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** @param values null is an empty cell; an object or a list is its JSON text */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(toCell).join(',')}\r\n`;
}

function toCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const plain = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** What ends a cell that is not quoted, and what must not stand in it. */
const END = /[",\r\n]|$/g;
const EMPTY_LINES = /[\r\n]*/y;
/** Characters. A line that is longer would hold up others for too long. */
const LONGEST_LINE = 64 * 1024;

/**
 * The cells of each line. Empty lines and a byte order mark are left out.
 * @param most so many lines at most are read, with pauses for others; the rest is not looked at
 * @returns `fault` as a sentence where the text is no CSV
 */
export async function readCsv(
  text: string,
  most: number,
): Promise<{ lines: string[][]; fault: string | null }> {
  const lines: string[][] = [];
  const pace = new Pace();
  let at = startOfLine(text, text.startsWith('\uFEFF') ? 1 : 0);
  while (at < text.length && lines.length < most) {
    const { cells, end, fault } = readLine(text, at);
    if (fault !== null) return { lines, fault: `Line ${lines.length + 1} ${fault}` };
    if (cells.length > 1 || cells[0] !== '') lines.push(cells);
    at = startOfLine(text, end);
    if (pace.isDue) await pace.rest();
  }
  return { lines, fault: null };
}

function startOfLine(text: string, from: number): number {
  EMPTY_LINES.lastIndex = from;
  return from + (EMPTY_LINES.exec(text)?.[0].length ?? 0);
}

function readLine(text: string, from: number): { cells: string[]; end: number; fault: string | null } {
  const cells: string[] = [];
  for (let at = from; ; at++) {
    const { cell, end } = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at);
    if (end - from > LONGEST_LINE)
      return {
        cells,
        end,
        fault: `has more than ${LONGEST_LINE} characters, or a quote in it is not closed`,
      };
    cells.push(cell);
    const sign = text[end];
    if (sign === undefined || sign === '\r' || sign === '\n') return { cells, end, fault: null };
    if (sign !== ',')
      return { cells, end, fault: 'is no CSV: a quote stands within a cell, or is not closed' };
    at = end;
  }
}

function plainCell(text: string, from: number) {
  END.lastIndex = from;
  const end = END.exec(text)?.index ?? text.length;
  return { cell: text.slice(from, end), end };
}

/** Of two quotes together the second is one of the text. @returns the place of the first quote where it is not closed */
function quotedCell(text: string, from: number) {
  let end = text.indexOf('"', from + 1);
  while (end >= 0 && text[end + 1] === '"' && end - from <= LONGEST_LINE) end = text.indexOf('"', end + 2);
  if (end < 0) return { cell: '', end: from };
  return { cell: text.slice(from + 1, end).replaceAll('""', '"'), end: end + 1 };
}
