/** The report of an import, as people read it. */

import type { ImportReport, Refusal } from './kinds.ts';

const COLUMNS = ['kind', 'found', 'imported', 'there', 'conflicts', 'left out'] as const;

/** Whether all of the source is here. What is never carried over does not count. */
export function isAllIn({ kinds }: ImportReport): boolean {
  return kinds.every(({ conflicts, leftOut }) => conflicts.length + leftOut.length === 0);
}

/** @param isDryRun whether it says what would be done */
export function describeImport(report: ImportReport, isDryRun: boolean): string {
  const rows = report.kinds
    .filter(({ found }) => found > 0)
    .map(({ kind, found, imported, alreadyThere, conflicts, leftOut }) =>
      [kind, found, imported, alreadyThere, conflicts.length, leftOut.length].map(String),
    );
  const paragraphs = [
    `${titleOf(report, isDryRun)} ${report.source}:`,
    printTable([[...COLUMNS], ...rows]),
    ...refusals('Conflicts: here is another one, which stays', report, 'conflicts'),
    ...refusals('Left out', report, 'leftOut'),
    ...ambiguous(report),
    ...notCarried(report),
  ];
  if (report.nodesAwaiting > 0)
    paragraphs.push(
      `Nodes that have not called with their certificate yet: ${report.nodesAwaiting}. The first call of each binds it.\n`,
    );
  return paragraphs.join('\n');
}

function titleOf({ kinds }: ImportReport, isDryRun: boolean): string {
  if (isDryRun) return 'Nothing was written. An import would bring in from';
  return kinds.some(({ imported }) => imported > 0) ? 'Imported from' : 'There was nothing to import from';
}

function refusals(title: string, { kinds }: ImportReport, which: 'conflicts' | 'leftOut'): string[] {
  const lines = kinds.flatMap(({ kind, [which]: found }) =>
    found.map(({ name, reason }: Refusal) => `  ${kind}, ${name}: ${reason}\n`),
  );
  return lines.length === 0 ? [] : [`${title}:\n${lines.join('')}`];
}

function ambiguous(report: ImportReport): string[] {
  const lines = report.ambiguous.map(({ name, reason }) => `  ${name}: ${reason}\n`);
  return lines.length === 0
    ? []
    : [
        `Values that YAML readers take for different things, and nodes get as dsc reads them:\n${lines.join('')}`,
      ];
}

function notCarried(report: ImportReport): string[] {
  const lines = report.notCarried
    .filter(({ count }) => count > 0)
    .map(
      ({ kind, count, names }) =>
        `  ${kind}: ${count}${names.length === 0 ? '' : ` (${names.join(', ')})`}\n`,
    );
  return lines.length === 0 ? [] : [`Not carried over:\n${lines.join('')}`];
}

/** The first column is text, and the others are numbers. */
function printTable(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const cell = (text: string, at: number) =>
    at === 0 ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0);
  return rows.map((row) => `  ${row.map(cell).join('  ')}\n`).join('');
}
