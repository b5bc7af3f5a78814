/**
 * Counts of reports by outcome in spans of time. Whole hours and whole minutes are added up from the counts that triggers
 * keep. Only what is left at the ends of a span, less than a minute each, is counted from the reports themselves.
 */

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { HOUR, MINUTE } from '../lib/clock.ts';
import { Pace } from '../lib/pace.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import type { ReportCountsTable } from './schema.ts';

export type Outcome = Pick<ReportCountsTable, 'operation' | 'in_desired_state' | 'had_errors'>;
export type CountedOutcome = Outcome & { count: number };

/** A span of time in epoch milliseconds, without its `end`. */
export interface Span {
  start: number;
  end: number;
}

/** `report_counts` counts by periods of these lengths, from coarse to fine, and by one period of all times. */
const PERIODS = [HOUR, MINUTE] as const;
export const ALL_TIMES = 0;
/** The value of `in_desired_state` in `report_counts` for reports that do not say it. */
export const NOT_SAID = -1;

/** The numbers of the periods of this length from `first` to the one before `last`. */
type Periods = [length: number, first: number, last: number];
type Ends = [start: number, end: number];

/** Reading the counts of so many periods, in every outcome, takes a millisecond or two. */
const PERIODS_AT_ONCE = 1_000;
/** A minute of a large fleet has some 7,000 reports, which take as long to count as so many periods. */
const PERIODS_PER_END = 250;

/** The counts in each span, by outcome. Outcomes that none of its reports has are left out. */
export async function countOutcomesWithin(db: Db, spans: readonly Span[]): Promise<CountedOutcome[][]> {
  const pace = new Pace();
  const counts = spans.map((): CountedOutcome[] => []);
  let due = 0;
  let parts: { index: number; periods: Periods[]; ends: Ends[] }[] = [];
  const count = async () => {
    for (const { index, ...outcome } of await countParts(db, parts)) counts[index]?.push(outcome);
    [due, parts] = [0, []];
    if (pace.isDue) await pace.rest();
  };
  for (const [index, span] of spans.entries()) {
    const part = { index, ...partsOf(span) };
    parts.push(part);
    due += part.ends.length * PERIODS_PER_END;
    for (const [, first, last] of part.periods) due += last - first;
    if (due >= PERIODS_AT_ONCE) await count();
  }
  await count();
  return counts.map(addUp);
}

/**
 * How many reports of a span have one of these outcomes. They are added up without being told apart, which takes a sixth
 * of the time.
 */
export async function countWithin(db: Db, outcomes: readonly Outcome[], span: Span): Promise<number> {
  const { periods, ends } = partsOf(span);
  const ofEnds = await countParts(db, [{ index: 0, periods: [], ends }]);
  const isCounted = (one: Outcome) => outcomes.some((other) => isSame(one, other));
  const atEnds = ofEnds.filter(isCounted).reduce((sum, { count }) => sum + count, 0);
  return atEnds + (await sumPeriods(db, outcomes, periods));
}

const isSame = (one: Outcome, other: Outcome) =>
  one.operation === other.operation &&
  one.in_desired_state === other.in_desired_state &&
  one.had_errors === other.had_errors;

async function sumPeriods(db: Db, outcomes: readonly Outcome[], periods: readonly Periods[]) {
  const { rows: tableOf } = engineOf(db);
  const given = outcomes.map((one) => [one.operation, one.in_desired_state, one.had_errors]);
  const { rows } = await sql<{ sum: number | null }>`
    select sum(count) as sum from ${tableOf(periods)} part cross join report_counts
    where span = ${numberAt(0)} and period >= ${numberAt(1)} and period < ${numberAt(2)}
      and (operation, in_desired_state, had_errors) in (
        select value ->> 0, cast(value ->> 1 as bigint), cast(value ->> 2 as bigint)
        from ${tableOf(given)} given)`.execute(db);
  return rows[0]?.sum ?? 0;
}

/** A span as whole hours, the whole minutes before and after them, and what is left. */
function partsOf({ start, end }: Span, [length, ...finer]: readonly number[] = PERIODS) {
  const parts: { periods: Periods[]; ends: Ends[] } = { periods: [], ends: [] };
  const add = (other: typeof parts) => {
    parts.periods.push(...other.periods);
    parts.ends.push(...other.ends);
  };
  if (start >= end) return parts;
  if (length === undefined) return { ...parts, ends: [[start, end] as Ends] };
  const [first, last] = [Math.ceil(start / length), Math.floor(end / length)];
  if (first >= last) return partsOf({ start, end }, finer);
  parts.periods.push([length, first, last]);
  add(partsOf({ start, end: first * length }, finer));
  add(partsOf({ start: last * length, end }, finer));
  return parts;
}

async function countParts(
  db: Db,
  parts: readonly { index: number; periods: readonly Periods[]; ends: readonly Ends[] }[],
): Promise<({ index: number } & CountedOutcome)[]> {
  const periods = parts.flatMap(({ index, periods: all }) => all.map((each) => [index, ...each]));
  const ends = parts.flatMap(({ index, ends: all }) => all.map((each) => [index, ...each]));
  return [
    ...(periods.length === 0 ? [] : await countPeriods(db, periods)),
    ...(ends.length === 0 ? [] : await countEnds(db, ends)),
  ];
}

/** A number of a row of `part`. */
const numberAt = (place: number) => sql`cast(part.value ->> ${sql.lit(place)} as bigint)`;

/** @param parts the index of each part, then its periods */
async function countPeriods(db: Db, parts: readonly (readonly number[])[]) {
  const { rows } = await sql<{ index: number } & CountedOutcome>`
    select ${numberAt(0)} as "index", operation, in_desired_state, had_errors, sum(count) as count
    from ${engineOf(db).rows(parts)} part cross join report_counts
    where span = ${numberAt(1)} and period >= ${numberAt(2)} and period < ${numberAt(3)}
    group by 1, 2, 3, 4`.execute(db);
  return rows;
}

/**
 * Counts rows of the index by outcome, whose columns come before the time. Reports that do not say their state are counted
 * apart, because both engines find those by an index only where the statement says `is null`.
 * @param parts the index of each part, then the end
 */
async function countEnds(db: Db, parts: readonly (readonly number[])[]) {
  const select = (isOfState: RawBuilder<SqlBool>) => sql`
    select ${numberAt(0)} as "index", outcome.operation, outcome.in_desired_state, outcome.had_errors,
      count(*) as count
    from ${engineOf(db).rows(parts)} part cross join report_counts as outcome cross join reports
    where outcome.span = ${ALL_TIMES} and reports.operation = outcome.operation and ${isOfState}
      and reports.had_errors = outcome.had_errors
      and timestamp >= ${numberAt(1)} and timestamp < ${numberAt(2)}
    group by 1, 2, 3, 4`;
  const { rows } = await sql<{ index: number } & CountedOutcome>`
    ${select(sql`reports.in_desired_state = outcome.in_desired_state`)} union all
    ${select(sql`reports.in_desired_state is null and outcome.in_desired_state = ${NOT_SAID}`)}`.execute(db);
  return rows;
}

/** One count for each outcome. */
function addUp(counts: readonly CountedOutcome[]): CountedOutcome[] {
  const sums = new Map<string, CountedOutcome>();
  for (const { operation, in_desired_state, had_errors, count } of counts) {
    const key = `${operation} ${in_desired_state} ${had_errors}`;
    const sum = sums.get(key) ?? { operation, in_desired_state, had_errors, count: 0 };
    sums.set(key, { ...sum, count: sum.count + count });
  }
  return [...sums.values()];
}
