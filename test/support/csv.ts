/** Reads CSV as RFC 4180 says, and fails where a line ends with anything but CRLF. */

import { expect } from 'chai';

/** The lines with their cells, the header first. Empty cells are empty texts. */
export function parseCsv(text: string): string[][] {
  const lines: string[][] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  let line: string[] = [];
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const match = cell.exec(text);
    if (match === null) throw new Error(`not CSV: ${JSON.stringify(text.slice(at, at + 80))}`);
    line.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === ',') continue;
    lines.push(line);
    line = [];
  }
  expect(line, 'a last line without its end').to.deep.equal([]);
  return lines;
}

/** The cells of an item of a list, as the same list has them as CSV. */
export function cellsOf(item: Record<string, unknown>): string[] {
  return Object.values(item).map((value) => {
    if (value === null) return '';
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  });
}
