/**
 * Reads of reports. The cost of a list depends on its page, not on how many reports there are. The reports of one node
 * are read from an index by node. The reports of all nodes are merged from the ranges of an index, one range for each
 * outcome that the filter admits, and counted with the counts that triggers keep.
 */

import type { z } from 'zod';
import type { Db } from '../../db/open.ts';
import type { ReportChecksumsTable, ReportCountsTable, ReportsTable } from '../../db/schema.ts';
import { HOUR, MINUTE } from '../../lib/clock.ts';
import { newestFirst, newestPage, type Period, whereGiven, within } from '../crud/history.ts';
import type { Page } from '../crud/rows.ts';
import type { NodeReportFilter } from './schemas.ts';

/** What the summary of a report shows. */
export type ReportRow = Pick<
  ReportsTable,
  'id' | 'node_id' | 'timestamp' | 'operation' | 'in_desired_state' | 'had_errors'
> & {
  fqdn: string;
  /** What the node ran; null where that is not known. */
  checksum: string | null;
  source: ReportChecksumsTable['source'] | null;
};

type Filter = z.output<typeof NodeReportFilter>;
type Outcome = Pick<ReportCountsTable, 'operation' | 'in_desired_state' | 'had_errors'>;

/** `report_counts` counts by spans of these lengths, from coarse to fine, and by one span of all times. */
const REPORT_SPANS = [HOUR, MINUTE] as const;
const ALL_TIMES = 0;
/** The value of `in_desired_state` in `report_counts` for reports that do not say it. */
const NOT_SAID = -1;
/** The midnight after the last day that a time of the API can name. */
const END_OF_TIME = Date.UTC(10_000, 0);

/** Reports with the name of their node. */
function reportRows(db: Db) {
  return db
    .selectFrom('reports')
    .innerJoin('nodes', 'nodes.id', 'reports.node_id')
    .leftJoin('report_checksums', 'report_checksums.report_seq', 'reports.seq')
    .select([
      'reports.id',
      'reports.node_id',
      'nodes.fqdn',
      'reports.timestamp',
      'reports.operation',
      'reports.in_desired_state',
      'reports.had_errors',
      'report_checksums.checksum',
      'report_checksums.source',
    ]);
}

export function findReport(db: Db, id: string): Promise<(ReportRow & { result: string }) | undefined> {
  return reportRows(db).select('reports.result').where('reports.id', '=', id).executeTakeFirst();
}

/** Lists the reports of a node that match, newest first. */
export function listNodeReports(db: Db, nodeId: string, filter: Filter): Promise<Page<ReportRow>> {
  const matching = whereGiven(reportsWithin(db, filter), {
    node_id: nodeId,
    operation: filter.operation,
    in_desired_state: toFlag(filter.inDesiredState, null),
    had_errors: toFlag(filter.hadErrors, null),
  });
  return newestPage(matching, reportRows(db), filter);
}

/** Lists all reports that match, newest first. */
export async function listReports(db: Db, filter: Filter): Promise<Page<ReportRow>> {
  const found = await countOutcomes(db, filter);
  const [first, ...others] = found.map((outcome) =>
    withOutcome(db, outcome, filter).select(['seq', 'timestamp']),
  );
  if (first === undefined) return { rows: [], total: 0 };
  const merged = newestFirst(others.reduce((all, one) => all.unionAll(one), first))
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

/** Lists the outcomes that the filter admits and that at least one report has, with their counts over all times. */
function countOutcomes(db: Db, { operation, inDesiredState, hadErrors }: Filter) {
  return whereGiven(db.selectFrom('report_counts').where('span', '=', ALL_TIMES), {
    operation,
    in_desired_state: toFlag(inDesiredState, NOT_SAID),
    had_errors: toFlag(hadErrors, NOT_SAID),
  })
    .select(['operation', 'in_desired_state', 'had_errors', 'count'])
    .execute();
}

/** A range of time in epoch milliseconds, without its `end`. */
interface Range {
  start: number;
  end: number;
}

function toRange({ from = 0, to = END_OF_TIME - 1 }: Period): Range {
  return { start: from, end: to + 1 };
}

/**
 * Adds up the counts of whole hours. What is left before and after them is added from the counts of whole minutes, and
 * what is left of those is counted from the reports themselves.
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
  return whereGiven(reportsWithin(db, period), {
    operation,
    in_desired_state: in_desired_state === NOT_SAID ? null : in_desired_state,
    had_errors,
  });
}

function reportsWithin(db: Db, period: Period) {
  return within(db.selectFrom('reports'), period);
}

/** Gives a flag of a filter as its column holds it. Undefined means that the filter does not ask for the flag. */
function toFlag<N>(value: boolean | null | undefined, ofNull: N): number | N | undefined {
  if (value === undefined) return undefined;
  return value === null ? ofNull : Number(value);
}
