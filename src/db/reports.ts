/**
 * Reads of reports. The cost of a list depends on its page, not on how many reports there are. The reports of one node
 * are read from an index by node. The reports of all nodes are merged from the ranges of an index, one range for each
 * outcome that the filter admits, and counted with the counts that triggers keep.
 */

import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import {
  behind,
  newestFirst,
  newestPage,
  newestSlices,
  type Period,
  type Place,
  SLICE,
  slicesOf,
  whereGiven,
  within,
} from './history.ts';
import {
  ALL_TIMES,
  countOutcomesWithin,
  countWithin,
  NOT_SAID,
  type Outcome,
  type Span,
} from './report-counts.ts';
import type { Page, PageQuery } from './rows.ts';
import type { ReportChecksumsTable, ReportsTable } from './schema.ts';

/** What the summary of a report shows. */
export type ReportRow = Pick<
  ReportsTable,
  'id' | 'node_id' | 'timestamp' | 'operation' | 'in_desired_state' | 'had_errors'
> & {
  fqdn: string;
  /** What the node ran; null where that is not known. */
  checksum: string | null;
  source: ReportChecksumsTable['source'] | null;
  /** The names in the manifest of what it ran; null where that is gone. */
  configurationName: string | null;
  version: string | null;
  /** Null for a report without a fault, and for one that an earlier release stored. */
  outOfState: number | null;
  /** JSON: Fault. */
  firstFault: string | null;
};

/** A report with its place in the lists. */
type PlacedReport = ReportRow & Place;

/** Which reports are asked for. */
export interface ReportQuery extends PageQuery, Period {
  operation?: ReportsTable['operation'] | undefined;
  /** Null asks for those that do not say it. */
  inDesiredState?: boolean | null | undefined;
  hadErrors?: boolean | undefined;
}

/** The midnight after the last day that a time of the API can name. */
const END_OF_TIME = Date.UTC(10_000, 0);

/** Reports with the name of their node. */
function reportRows(db: Db) {
  return db
    .selectFrom('reports')
    .innerJoin('nodes', 'nodes.id', 'reports.node_id')
    .leftJoin('report_checksums', 'report_checksums.report_seq', 'reports.seq')
    .leftJoin('manifests', 'manifests.checksum', 'report_checksums.checksum')
    .leftJoin('report_faults', 'report_faults.report_seq', 'reports.seq')
    .select([
      'reports.seq',
      'reports.id',
      'reports.node_id',
      'nodes.fqdn',
      'reports.timestamp',
      'reports.operation',
      'reports.in_desired_state',
      'reports.had_errors',
      'report_checksums.checksum',
      'report_checksums.source',
      'manifests.configuration_name as configurationName',
      'manifests.version',
      'report_faults.out_of_state as outOfState',
      'report_faults.first_fault as firstFault',
    ]);
}

export function findReport(db: Db, id: string): Promise<(ReportRow & { result: string }) | undefined> {
  return reportRows(db).select('reports.result').where('reports.id', '=', id).executeTakeFirst();
}

/** The last report of a node, in the order in which they took effect. */
export function findLastReport(db: Db, nodeId: string): Promise<ReportRow | undefined> {
  const last = newestFirst(db.selectFrom('reports').select('seq').where('node_id', '=', nodeId)).limit(1);
  return reportRows(db).where('reports.seq', 'in', last).executeTakeFirst();
}

/** Lists the reports of a node that match, newest first. */
export function listNodeReports(db: Db, nodeId: string, filter: ReportQuery): Promise<Page<ReportRow>> {
  return newestPage(reportsOfNode(db, nodeId, filter), reportRows(db), filter);
}

/** All reports of a node that match, newest first, in slices. */
export function allNodeReports(db: Db, nodeId: string, filter: ReportQuery): AsyncGenerator<PlacedReport[]> {
  return newestSlices(reportsOfNode(db, nodeId, filter), reportRows(db));
}

function reportsOfNode(db: Db, nodeId: string, filter: ReportQuery) {
  return whereGiven(reportsWithin(db, filter), {
    node_id: nodeId,
    operation: filter.operation,
    in_desired_state: toFlag(filter.inDesiredState, null),
    had_errors: toFlag(filter.hadErrors, null),
  });
}

/** Lists all reports that match, newest first. */
export async function listReports(db: Db, filter: ReportQuery): Promise<Page<ReportRow>> {
  const found = await countOutcomes(db, filter);
  const rows = await readReports(db, found, filter);
  const isOpen = filter.from === undefined && filter.to === undefined;
  const { from: start = 0, to = END_OF_TIME - 1 } = filter;
  const total = isOpen
    ? found.reduce((sum, { count }) => sum + count, 0)
    : await countWithin(db, found, { start, end: to + 1 });
  return { rows, total };
}

/** All reports that match, newest first, in slices. */
export function allReports(db: Db, filter: ReportQuery): AsyncGenerator<PlacedReport[]> {
  return slicesOf(async (place) =>
    readReports(db, await countOutcomes(db, filter), { ...filter, take: SLICE, skip: 0 }, place),
  );
}

/** Reports with these outcomes, newest first, behind a place. */
async function readReports(
  db: Db,
  outcomes: readonly Outcome[],
  { take, skip, ...period }: ReportQuery,
  place?: Place,
): Promise<PlacedReport[]> {
  const [first, ...others] = outcomes.map((outcome) =>
    behind(withOutcome(db, outcome, period), place).select(['seq', 'timestamp']),
  );
  if (first === undefined) return [];
  const merged = engineOf(db)
    .merged(db, [first, ...others], (query) => newestFirst(query))
    .limit(take)
    .offset(skip);
  const shown = db.selectFrom(merged.as('shown')).select('shown.seq');
  return newestFirst(reportRows(db).where('reports.seq', 'in', shown)).execute();
}

/**
 * How many reports there are of each verdict, in each of these spans of time. Each report counts once: as an error where
 * it had errors, else by what it says of the desired state.
 */
export async function countVerdicts(db: Db, spans: readonly Span[]) {
  const counts = await countOutcomesWithin(db, spans);
  return counts.map((outcomes) => {
    const sum = (matches: (outcome: Outcome) => boolean) =>
      outcomes.filter(matches).reduce((all, { count }) => all + count, 0);
    const said = (state: number) => sum((one) => one.had_errors === 0 && one.in_desired_state === state);
    return {
      compliant: said(1),
      nonCompliant: said(0),
      unknown: said(NOT_SAID),
      errors: sum(({ had_errors }) => had_errors === 1),
    };
  });
}

/** Lists the outcomes that the filter admits and that at least one report has, with their counts over all times. */
function countOutcomes(db: Db, { operation, inDesiredState, hadErrors }: ReportQuery) {
  return whereGiven(db.selectFrom('report_counts').where('span', '=', ALL_TIMES), {
    operation,
    in_desired_state: toFlag(inDesiredState, NOT_SAID),
    had_errors: toFlag(hadErrors, NOT_SAID),
  })
    .select(['operation', 'in_desired_state', 'had_errors', 'count'])
    .execute();
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
