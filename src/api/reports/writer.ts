/** Stores reports: the row, the node's status and the event of its change, in one commit with reports of other nodes. */

import { CompiledQuery, sql } from 'kysely';
import { GroupCommit } from '../../db/group-commit.ts';
import type { Database, Db } from '../../db/open.ts';
import type { ReportsTable } from '../../db/schema.ts';
import type { NodeStatus } from '../../domain/report-verdict.ts';
import { type HawserError, unauthenticated } from '../../lib/errors.ts';
import { recordStatusEvent } from '../nodes/queries.ts';
import type { ReportRow } from './queries.ts';

export interface ReceivedReport {
  row: Omit<ReportsTable, 'seq'>;
  /** The node's status from now on. Null keeps the status that it has. */
  nodeStatus: NodeStatus | null;
}

export type ReportWriter = GroupCommit<ReceivedReport, ReportRow>;

/** @param onCommit is called after each commit with the number of reports in it */
export function openReportWriter(database: Database, onCommit?: (reports: number) => void): ReportWriter {
  return new GroupCommit<ReceivedReport, ReportRow>(database.writeNow, {
    write: writeReports,
    sizeOf: ({ row }) => row.result.length,
    ...(onCommit ? { onCommit } : {}),
  });
}

interface Reporter {
  id: string;
  fqdn: string;
  status: string;
}

/** One statement for each row, always the same, is prepared once. A statement for all rows would be compiled each time. */
const INSERT = `insert into reports (id, node_id, timestamp, operation, in_desired_state, had_errors, result)
  values (?, ?, ?, ?, ?, ?, ?)`;

function insertionOf(row: ReceivedReport['row']): CompiledQuery {
  const { id, node_id, timestamp, operation, in_desired_state, had_errors, result } = row;
  return CompiledQuery.raw(INSERT, [id, node_id, timestamp, operation, in_desired_state, had_errors, result]);
}

/** @returns for each report its row, or the error of one whose node was deleted after the request was let in */
export async function writeReports(
  trx: Db,
  reports: readonly ReceivedReport[],
): Promise<(ReportRow | HawserError)[]> {
  const nodeIds = [...new Set(reports.map(({ row }) => row.node_id))];
  const { rows: nodes } = await sql<Reporter>`select id, fqdn, status from nodes
    where id in (select value from json_each(${JSON.stringify(nodeIds)}))`.execute(trx);
  const reporters = new Map(nodes.map((node) => [node.id, node]));
  const accepted = reports.filter(({ row }) => reporters.has(row.node_id));
  for (const { row } of accepted) await trx.executeQuery(insertionOf(row));
  const statuses = new Map<string, string>();
  for (const { row, nodeStatus: status } of accepted) {
    const nodeId = row.node_id;
    const before = statuses.get(nodeId) ?? reporters.get(nodeId)?.status;
    if (status === null || status === before) continue;
    statuses.set(nodeId, status);
    await recordStatusEvent(trx, { nodeId, lcmStatus: null, status, now: row.timestamp });
  }
  for (const [nodeId, status] of statuses)
    await trx.updateTable('nodes').set({ status }).where('id', '=', nodeId).execute();
  return reports.map(({ row }) => {
    const reporter = reporters.get(row.node_id);
    return reporter ? { ...row, fqdn: reporter.fqdn } : nodeDeleted();
  });
}

const nodeDeleted = () => unauthenticated('No node is registered with this certificate');
