/** Reports: a node hands in the result of each run; people list and read them. */

import type { Database } from '../../db/open.ts';
import { memberText } from '../../domain/json-member.ts';
import { judgeReport } from '../../domain/report-verdict.ts';
import { created, page, writtenJson } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { notFound } from '../../lib/errors.ts';
import { newOrderedId } from '../../lib/ids.ts';
import { nodeExists } from '../nodes/queries.ts';
import { FloodGuard } from './flood-guard.ts';
import { listNodeReports, listReports } from './lists.ts';
import { findReport, type ReportRow } from './queries.ts';
import { NewReport, NodeReportFilter, Report, ReportFilter, ReportSummary } from './schemas.ts';
import { openReportWriter, type ReportWriter } from './writer.ts';

const PATH = '/api/v1/reports';
const OF_NODE = '/api/v1/nodes/{nodeId}/reports';
const TAGS = ['Reports'];

export function reportRoutes(database: Database, onCommit: (reports: number) => void): Route[] {
  return [
    createRoute(openReportWriter(database, onCommit), new FloodGuard()),
    listOfNodeRoute(database),
    listRoute(database),
    detailRoute(database),
  ];
}

function createRoute(writer: ReportWriter, floodGuard: FloodGuard): Route {
  return route({
    id: 'submitReport',
    method: 'POST',
    path: OF_NODE,
    summary: 'Report the result of a run of DSC',
    description:
      'The result is kept as it comes, members that Hawser does not know too. 201 means that it survives a crash or ' +
      'power cut. A node may send 120 reports at once, and two a second from then on.',
    tags: TAGS,
    access: { kind: 'node:self' },
    params: idsInPath('nodeId'),
    body: { kind: 'json', schema: NewReport, limit: 'reportBytes' },
    answers: { 201: { description: 'The report, without its result', schema: ReportSummary } },
    problems: ['rate_limited'],
    logLevel: 'debug',
    admit({ node }, now) {
      if (node) floodGuard.admit(node.nodeId, now);
    },
    async handle({ node, body: { operation, result }, text, facts }) {
      const { inDesiredState, nodeStatus } = judgeReport(operation, result);
      const row = await writer.submit({
        row: {
          id: newOrderedId(facts.now),
          node_id: node.nodeId,
          timestamp: facts.now,
          operation,
          in_desired_state: inDesiredState === null ? null : Number(inDesiredState),
          had_errors: Number(result.hadErrors),
          result: memberText(text, 'result'),
        },
        nodeStatus,
      });
      return created(`${PATH}/${row.id}`, toReportSummary(row));
    },
  });
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
