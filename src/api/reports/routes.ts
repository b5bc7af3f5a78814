/** Reports: a node hands in the result of each run; people list and read them. */

import type { Database } from '../../db/open.ts';
import { created, page, writtenJson } from '../../http/answer.ts';
import { RawJson, type Route, route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { notFound } from '../../lib/errors.ts';
import { newOrderedId } from '../../lib/ids.ts';
import type { Threads } from '../../lib/threads.ts';
import { nodeExists } from '../nodes/queries.ts';
import { FloodGuard } from './flood-guard.ts';
import { listNodeReports, listReports } from './lists.ts';
import { findReport, type ReportRow } from './queries.ts';
import { type JudgedReport, type ReportTasks, reportTasks } from './report-tasks.ts';
import { NewReport, NodeReportFilter, Report, ReportFilter, ReportSummary } from './schemas.ts';
import { VolumeGuard } from './volume-guard.ts';
import { openReportWriter, type ReceivedReport, type ReportWriter } from './writer.ts';

const PATH = '/api/v1/reports';
const OF_NODE = '/api/v1/nodes/{nodeId}/reports';
const TAGS = ['Reports'];

export interface ReportRouteOptions {
  database: Database;
  threads: Threads<ReportTasks>;
  /** Told of each commit how many reports shared it. */
  onCommit(reports: number): void;
}

/** Bytes of a report that is read at once; ten that come together must not hold up others for long. */
const SMALL_REPORT = 64 * 1024;

export function reportRoutes({ database, threads, onCommit }: ReportRouteOptions): Route[] {
  return [
    createRoute(openReportWriter(database, onCommit), threads),
    listOfNodeRoute(database),
    listRoute(database),
    detailRoute(database),
  ];
}

function createRoute(writer: ReportWriter, threads: Threads<ReportTasks>): Route {
  const floodGuard = new FloodGuard();
  const volumeGuard = new VolumeGuard();
  return route({
    id: 'submitReport',
    method: 'POST',
    path: OF_NODE,
    summary: 'Report the result of a run of DSC',
    description:
      'The result is kept as it comes, members that Hawser does not know too. 201 means that it survives a crash or ' +
      'power cut. A node may send 120 reports at once, and two a second from then on, and 64 MiB of them in an hour.',
    tags: TAGS,
    access: { kind: 'node:self' },
    params: idsInPath('nodeId'),
    body: { kind: 'jsonBytes', schema: RawJson, described: NewReport, limit: 'reportBytes' },
    answers: { 201: { description: 'The report, without its result', schema: ReportSummary } },
    problems: ['rate_limited'],
    logLevel: 'debug',
    admit({ node }, now, bodyBytes) {
      if (!node) return;
      volumeGuard.admit(node.nodeId, bodyBytes, now);
      floodGuard.admit(node.nodeId, now);
    },
    async handle({ node: { nodeId }, body: bytes, facts: { now } }) {
      const giveBack = volumeGuard.take(nodeId, bytes.length, now);
      try {
        const report = await readReport(threads, nodeId, bytes);
        const row = await writer.submit(toReceived(report, nodeId, now));
        return created(`${PATH}/${row.id}`, toReportSummary(row));
      } catch (error) {
        giveBack();
        throw error;
      }
    },
  });
}

/** @throws HawserError `validation_failed` */
function readReport(
  threads: Threads<ReportTasks>,
  nodeId: string,
  bytes: Buffer,
): Promise<JudgedReport> | JudgedReport {
  const isSmall = bytes.length <= SMALL_REPORT;
  return isSmall ? reportTasks.judgeReport({ bytes }) : threads.run(nodeId, 'judgeReport', { bytes });
}

function toReceived(report: JudgedReport, nodeId: string, now: number): ReceivedReport {
  const { operation, hadErrors, inDesiredState, nodeStatus, result } = report;
  return {
    row: {
      id: newOrderedId(now),
      node_id: nodeId,
      timestamp: now,
      operation,
      in_desired_state: inDesiredState === null ? null : Number(inDesiredState),
      had_errors: Number(hadErrors),
      result,
    },
    nodeStatus,
  };
}

function listOfNodeRoute(database: Database): Route {
  return route({
    id: 'listNodeReports',
    method: 'GET',
    path: OF_NODE,
    summary: "List a node's reports, newest first",
    description: '`from` and `to` are both inclusive.',
    tags: TAGS,
    access: { kind: 'permission', permission: 'reports.read' },
    params: idsInPath('nodeId'),
    query: NodeReportFilter,
    answers: { 200: { description: 'The reports that match', schema: ReportSummary.array() } },
    async handle({ params: { nodeId }, query }) {
      if (!(await nodeExists(database.read, nodeId))) throw notFound('No such node');
      const { rows, total } = await listNodeReports(database.read, nodeId, query);
      return page(rows.map(toReportSummary), total, query);
    },
  });
}

function listRoute(database: Database): Route {
  return route({
    id: 'listReports',
    method: 'GET',
    path: PATH,
    summary: 'List the reports of all nodes, newest first',
    description: '`from` and `to` are both inclusive; a `nodeId` that no node has finds nothing.',
    tags: TAGS,
    access: { kind: 'permission', permission: 'reports.read-all' },
    query: ReportFilter,
    answers: { 200: { description: 'The reports that match', schema: ReportSummary.array() } },
    async handle({ query: { nodeId, ...filter } }) {
      const { rows, total } =
        nodeId === undefined
          ? await listReports(database.read, filter)
          : await listNodeReports(database.read, nodeId, filter);
      return page(rows.map(toReportSummary), total, filter);
    },
  });
}

function detailRoute(database: Database): Route {
  return route({
    id: 'getReport',
    method: 'GET',
    path: `${PATH}/{id}`,
    summary: 'Read a report with its result',
    tags: TAGS,
    access: { kind: 'permission', permission: 'reports.read' },
    params: idsInPath('id'),
    answers: { 200: { description: 'The report', schema: Report } },
    async handle({ params }) {
      const row = await findReport(database.read, params.id);
      if (!row) throw notFound('No such report');
      // Not parsed and written again, which would lose digits of large numbers.
      const summary = JSON.stringify(toReportSummary(row)).slice(0, -1);
      return writtenJson(`${summary},"result":${row.result}}`);
    },
  });
}

function toReportSummary(row: ReportRow) {
  return {
    id: row.id,
    nodeId: row.node_id,
    nodeFqdn: row.fqdn,
    timestamp: toTimestamp(row.timestamp),
    operation: row.operation,
    inDesiredState: row.in_desired_state === null ? null : row.in_desired_state === 1,
    hadErrors: row.had_errors === 1,
  };
}
