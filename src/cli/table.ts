/** Lays out tables: columns as wide as their widest cell, and on a terminal no wider in all than it is. */

import stringWidth from 'string-width';

const GAP = 2;
/** Columns are not narrowed below this. */
const NARROWEST = 8;

/**
 * @param rows of which the first is the heading
 * @param width of the terminal; null where the lines may be as long as they are
 * @returns lines without trailing space
 */
export function layOut(rows: readonly (readonly string[])[], width: number | null): string[] {
  const natural = (rows[0] ?? []).map((_, column) => {
    return Math.max(...rows.map((row) => stringWidth(row[column] ?? '')));
  });
  const widths = width === null ? natural : narrow(natural, width);
  return rows.map((row) => {
    const cells = row.map((cell, column) => toWidth(cell, widths[column] ?? 0));
    return cells.join(' '.repeat(GAP)).trimEnd();
  });
}

/** Takes from the widest column again and again, so that short columns stay whole. */
function narrow(natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, each) => sum + each, 0) + GAP * (widths.length - 1) - width;
  while (excess > 0) {
    const widest = Math.max(...widths);
    if (widest <= NARROWEST) break;
    widths[widths.indexOf(widest)] = widest - 1;
    excess -= 1;
  }
  return widths;
}

/** Cuts a cell that is too wide, and fills one that is not wide enough. */
function toWidth(cell: string, width: number): string {
  const missing = width - stringWidth(cell);
  if (missing >= 0) return cell + ' '.repeat(missing);
  let cut = '';
  let taken = 0;
  // A cluster of code points that is drawn as one must not be cut in two.
  for (const { segment } of new Intl.Segmenter().segment(cell)) {
    const next = taken + stringWidth(segment);
    if (next > width - 1) break;
    cut += segment;
    taken = next;
  }
  return `${cut}…${' '.repeat(width - 1 - taken)}`;
}
