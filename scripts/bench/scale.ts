/** Compares little data with much: alternating rounds of both sides, and their results. */

import { median, middleHalf } from './measure.ts';
import { formatRange, table, verdict } from './report.ts';

export interface ScaleRow {
  what: string;
  compared: string;
  /** Milliseconds, medians of the rounds. */
  few: number;
  many: number;
  /** The median of the ratios of the rounds. */
  ratio: number;
  /** The middle half of these ratios. */
  ratioRange: [lower: number, upper: number];
  /** Null if there is no target. */
  target: number | null;
  /** So many milliseconds with much data meet the target too; 0 where the ratio alone counts. */
  fast: number;
  met: boolean | null;
}

export type Side = 'few' | 'many';

/** The values of both sides; values at the same index are from the same round. */
export interface Compared {
  few: readonly number[];
  many: readonly number[];
}

/** Runs the rounds of both sides, and begins each round with the other side. The first rounds do not count. */
export async function inTurn(
  { rounds, warmUpRounds }: { rounds: number; warmUpRounds: number },
  run: (side: Side, counts: boolean) => Promise<void>,
): Promise<void> {
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    for (const side of sidesOf(round)) await run(side, round >= 0);
  }
}

/** Each round begins with the other side. */
export function sidesOf(round: number): readonly Side[] {
  return round % 2 === 0 ? ['few', 'many'] : ['many', 'few'];
}

export function scaleRow(
  what: string,
  compared: string,
  { few, many }: Compared,
  target: number | null,
  fast = 0,
): ScaleRow {
  const ratios = many.map((value, round) => value / (few[round] ?? Number.NaN));
  const ratio = median(ratios);
  const medians = { few: median(few), many: median(many) };
  const met = target === null ? null : ratio <= target || medians.many <= fast;
  return { what, compared, ...medians, ratio, ratioRange: middleHalf(ratios), target, fast, met };
}

/** @param sides the names of what is compared */
export function formatScale(
  title: string,
  rows: readonly ScaleRow[],
  [few, many]: readonly [string, string] = ['few', 'many'],
): string {
  const cells = rows.map((row) => [
    row.what,
    row.compared,
    row.few.toFixed(3),
    row.many.toFixed(3),
    `${row.ratio.toFixed(2)} x`,
    formatRange(row.ratioRange),
    row.target === null ? '-' : `${row.target.toFixed(2)} x${row.fast > 0 ? ` or ${row.fast} ms` : ''}`,
    row.met === null ? '' : verdict(row.met),
  ]);
  const sides = [`${few} : ${many}`, `ms ${few}`, `ms ${many}`];
  const columns = [title, ...sides, 'ratio', 'half within', 'target', ''];
  return [...table([columns, ...cells]), '', summaryOf(rows)].join('\n');
}

/** One line that says whether these targets are met. */
export function summaryOf(rows: readonly { met: boolean | null }[]): string {
  const verdicts = rows.flatMap(({ met }) => (met === null ? [] : [met]));
  const missed = verdicts.filter((met) => !met).length;
  return missed === 0
    ? `all ${verdicts.length} targets met`
    : `MISSED: ${missed} of ${verdicts.length} targets`;
}
