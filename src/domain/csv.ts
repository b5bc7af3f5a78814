/**
 * Writes and reads CSV as RFC 4180 says: lines end with CRLF, and a cell with a comma, a quote or a line break is quoted. What is
 * read may have other ends of lines.
 */

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

/**
 * The cells of each line. Empty lines and a byte order mark are left out.
 * @returns `fault` as a sentence where the text is no CSV
 */
export function readCsv(text: string): { lines: string[][]; fault: string | null } {
  const lines: string[][] = [];
  let line: string[] = [];
  for (let at = text.startsWith('\uFEFF') ? 1 : 0; ; ) {
    const { cell, end } = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at);
    line.push(cell);
    const sign = text[end];
    if (sign !== undefined && !',\r\n'.includes(sign))
      return {
        lines,
        fault: `Line ${lines.length + 1} is no CSV: a quote stands within a cell, or is not closed`,
      };
    at = text.startsWith('\r\n', end) ? end + 2 : end + 1;
    if (sign === ',') continue;
    if (line.length > 1 || line[0] !== '') lines.push(line);
    line = [];
    if (sign === undefined) return { lines, fault: null };
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
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  if (end < 0) return { cell: '', end: from };
  return { cell: text.slice(from + 1, end).replaceAll('""', '"'), end: end + 1 };
}
