/** Reports: a node hands in the result of each run; people list and read them. */

import type { Database } from '../../db/database.ts';
import { requireNode } from '../../db/nodes.ts';
import { allNodeReports, allReports, findReport, listNodeReports, listReports } from '../../db/reports.ts';
import {
  type JudgedReport,
  type NotedEvidence,
  openReportWriter,
  type ReportWriter,
  takeReport,
} from '../../deeds/take-report.ts';
import { created, writtenJson } from '../../http/answer.ts';
import { RawJson, type Route, route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { notFound } from '../../lib/errors.ts';
import type { Threads } from '../../lib/threads.ts';
import { ReportSummary, toReportSummary } from '../shared/report-summaries.ts';
import { operation, permitted } from '../shared/routes.ts';
import { FloodGuard, VolumeGuard } from './intake-limits.ts';
import { type ReportTasks, reportTasks } from './report-tasks.ts';
import { NewReport, NodeReportFilter, Report, ReportFilter } from './schemas.ts';

const TAGS = ['Reports'];

export interface ReportRouteOptions {
  database: Database;
  threads: Threads<ReportTasks>;
  evidence: NotedEvidence;
  /** Called after each commit with the number of reports in it. */
  onCommit(reports: number): void;
}

/** Reports of up to this many bytes are read at once, larger ones in a thread. Ten at once must not hold up others. */
const SMALL_REPORT = 64 * 1024;

export function reportRoutes(options: ReportRouteOptions): Route[] {
  const { database, onCommit } = options;
  return [submitRoute(openReportWriter(database, onCommit), options), ...readingRoutes(database)];
}

function submitRoute(
  writer: ReportWriter,
  { threads, evidence }: Pick<ReportRouteOptions, 'threads' | 'evidence'>,
): Route {
  const floodGuard = new FloodGuard();
  const volumeGuard = new VolumeGuard();
  return route({
    id: 'submitReport',
    method: 'POST',
    path: '/api/v1/nodes/{nodeId}/reports',
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
      const uncount = volumeGuard.take(nodeId, bytes.length, now);
      try {
        const report = await readReport(threads, nodeId, bytes);
        const row = await takeReport({ writer, evidence }, { nodeId, now }, report);
        return created(`/api/v1/reports/${row.id}`, toReportSummary(row));
      } catch (error) {
        uncount();
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

function readingRoutes(database: Database): Route[] {
  const { read } = database;
  const permission = 'reports.read';
  return [
    permitted(database, TAGS, permission).list('/api/v1/nodes/{nodeId}/reports', {
      ...operation('listNodeReports', "List a node's reports, newest first"),
      description: '`from` and `to` are both inclusive.',
      params: idsInPath('nodeId'),
      query: NodeReportFilter,
      answer: { description: 'The reports that match', schema: ReportSummary },
      async rows({ params: { nodeId }, query }) {
        await requireNode(read, nodeId);
        return listNodeReports(read, nodeId, query);
      },
      async whole({ params: { nodeId }, query }) {
        await requireNode(read, nodeId);
        return allNodeReports(read, nodeId, query);
      },
      show: toReportSummary,
    }),
    listRoute(database),
    route({
      id: 'getReport',
      method: 'GET',
      path: '/api/v1/reports/{id}',
      summary: 'Read a report with its result',
      tags: TAGS,
      access: { kind: 'permission', permission, or: 'reports.read-all' },
      params: idsInPath('id'),
      answers: { 200: { description: 'The report', schema: Report } },
      async handle({ params }) {
        const row = await findReport(read, params.id);
        if (!row) throw notFound('No such report');
        // The result is not parsed and written again, which would lose digits of large numbers.
        const summary = JSON.stringify(toReportSummary(row)).slice(0, -1);
        return writtenJson(`${summary},"result":${row.result}}`);
      },
    }),
  ];
}

function listRoute(database: Database): Route {
  return permitted(database, TAGS, 'reports.read-all').list('/api/v1/reports', {
    ...operation('listReports', 'List the reports of all nodes, newest first'),
    description: '`from` and `to` are both inclusive; a `nodeId` that no node has finds nothing.',
    query: ReportFilter,
    answer: { description: 'The reports that match', schema: ReportSummary },
    rows: ({ query: { nodeId, ...filter } }) =>
      nodeId === undefined
        ? listReports(database.read, filter)
        : listNodeReports(database.read, nodeId, filter),
    whole: ({ query: { nodeId, ...filter } }) =>
      nodeId === undefined
        ? allReports(database.read, filter)
        : allNodeReports(database.read, nodeId, filter),
    show: toReportSummary,
  });
}
