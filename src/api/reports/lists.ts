/**
 * Lists of reports. What they cost depends on the page, not on how many reports there are: a node's are read from an
 * index of its own; everybody's are merged from the ranges of an index, one for each outcome that the filter admits,
 * and counted by the counts that the database keeps.
 */

import type { z } from 'zod';
import type { Db } from '../../db/open.ts';
import type { ReportCountsTable } from '../../db/schema.ts';
import { HOUR, MINUTE } from '../../lib/clock.ts';
import { type ReportRow, reportRows } from './queries.ts';
import type { NodeReportFilter } from './schemas.ts';

type Filter = z.output<typeof NodeReportFilter>;
type Period = Pick<Filter, 'from' | 'to'>;
type Outcome = Pick<ReportCountsTable, 'operation' | 'in_desired_state' | 'had_errors'>;

interface Page {
  rows: ReportRow[];
  total: number;
}

/** What `report_counts` counts by, coarse to fine, and beside them by all times together. */
const REPORT_SPANS = [HOUR, MINUTE] as const;
const ALL_TIMES = 0;
/** Midnight after the last day that the contract's form of a time can write. */
const END_OF_TIME = Date.UTC(10_000, 0);

/** A node's reports that match, newest first. */
export async function listNodeReports(db: Db, nodeId: string, filter: Filter): Promise<Page> {
  const { operation, inDesiredState, hadErrors } = filter;
  let matching = within(db, filter).where('node_id', '=', nodeId);
  if (operation !== undefined) matching = matching.where('operation', '=', operation);
  if (inDesiredState !== undefined)
    matching = matching.where('in_desired_state', 'is', toFlag(inDesiredState));
  if (hadErrors !== undefined) matching = matching.where('had_errors', '=', Number(hadErrors));
  const { total } = await matching
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const shown = matching
    .select('seq')
    .orderBy('timestamp', 'desc')
    .orderBy('seq', 'desc')
    .limit(filter.take)
    .offset(filter.skip);
  return { rows: await newestFirst(reportRows(db).where('reports.seq', 'in', shown)).execute(), total };
}

/** All reports that match, newest first. */
export async function listReports(db: Db, filter: Filter): Promise<Page> {
  const found = await countOutcomes(db, filter);
  const [first, ...others] = found.map((outcome) =>
    withOutcome(db, outcome, filter).select(['seq', 'timestamp']),
  );
  if (first === undefined) return { rows: [], total: 0 };
  const merged = others
    .reduce((all, one) => all.unionAll(one), first)
    .orderBy('timestamp', 'desc')
    .orderBy('seq', 'desc')
    .limit(filter.take)
    .offset(filter.skip);
  const shown = db.selectFrom(merged.as('shown')).select('shown.seq');
  const rows = await newestFirst(reportRows(db).where('reports.seq', 'in', shown)).execute();
  const total =
    filter.from === undefined && filter.to === undefined
      ? found.reduce((sum, { count }) => sum + count, 0)
      : await countWithin(db, found, toRange(filter));
  return { rows, total };
}

/** The outcomes that the filter admits and that there are any reports of, each with its count over all times. */
function countOutcomes(db: Db, { operation, inDesiredState, hadErrors }: Filter) {
  let counts = db.selectFrom('report_counts').where('span', '=', ALL_TIMES);
  if (operation !== undefined) counts = counts.where('operation', '=', operation);
  if (inDesiredState !== undefined)
    counts = counts.where('in_desired_state', '=', toFlag(inDesiredState) ?? -1);
  if (hadErrors !== undefined) counts = counts.where('had_errors', '=', Number(hadErrors));
  return counts.select(['operation', 'in_desired_state', 'had_errors', 'count']).execute();
}

/** Milliseconds from the epoch; the end is no more part of it. */
interface Range {
  start: number;
  end: number;
}

function toRange({ from = 0, to = END_OF_TIME - 1 }: Period): Range {
  return { start: from, end: to + 1 };
}

/**
 * The counts of whole spans, of the hours first; what is left before and after them by the minutes, and what is left
 * of those by the reports themselves.
 */
async function countWithin(
  db: Db,
  outcomes: readonly Outcome[],
  { start, end }: Range,
  [span, ...finer]: readonly number[] = REPORT_SPANS,
): Promise<number> {
  if (start >= end) return 0;
  if (span === undefined) return countEach(db, outcomes, { from: start, to: end - 1 });
  const [first, last] = [Math.ceil(start / span), Math.floor(end / span)];
  if (first >= last) return countWithin(db, outcomes, { start, end }, finer);
  const before = { start, end: first * span };
  const after = { start: last * span, end };
  return (
    (await countPeriods(db, outcomes, { span, first, last })) +
    (await countWithin(db, outcomes, before, finer)) +
    (await countWithin(db, outcomes, after, finer))
  );
}

async function countPeriods(
  db: Db,
  outcomes: readonly Outcome[],
  { span, first, last }: { span: number; first: number; last: number },
): Promise<number> {
  const { count } = await db
    .selectFrom('report_counts')
    .select((of) => of.fn.sum<number | null>('count').as('count'))
    .where('span', '=', span)
    .where('period', '>=', first)
    .where('period', '<', last)
    .where((where) => where.or(outcomes.map((outcome) => where.and({ ...outcomeOf(outcome) }))))
    .executeTakeFirstOrThrow();
  return count ?? 0;
}

async function countEach(db: Db, outcomes: readonly Outcome[], period: Period): Promise<number> {
  const [first, ...others] = outcomes.map((outcome) =>
    withOutcome(db, outcome, period).select((of) => of.fn.countAll<number>().as('count')),
  );
  if (first === undefined) return 0;
  const counts = await others.reduce((all, one) => all.unionAll(one), first).execute();
  return counts.reduce((sum, { count }) => sum + count, 0);
}

function outcomeOf({ operation, in_desired_state, had_errors }: Outcome): Outcome {
  return { operation, in_desired_state, had_errors };
}

function withOutcome(db: Db, { operation, in_desired_state, had_errors }: Outcome, period: Period) {
  return within(db, period)
    .where('operation', '=', operation)
    .where('in_desired_state', 'is', in_desired_state === -1 ? null : in_desired_state)
    .where('had_errors', '=', had_errors);
}

function within(db: Db, { from, to }: Period) {
  let reports = db.selectFrom('reports');
  if (from !== undefined) reports = reports.where('timestamp', '>=', from);
  if (to !== undefined) reports = reports.where('timestamp', '<=', to);
  return reports;
}

function newestFirst(rows: ReturnType<typeof reportRows>) {
  return rows.orderBy('reports.timestamp', 'desc').orderBy('reports.seq', 'desc');
}

function toFlag(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}
