/** Takes in reports: the row, the node's status and the event of its change, in one commit with their neighbours. */

import { GroupCommit } from '../../db/group-commit.ts';
import type { Database, Db } from '../../db/open.ts';
import type { NodeStatus } from '../../domain/report-verdict.ts';
import { type HawserError, unauthenticated } from '../../lib/errors.ts';
import { recordStatusEvent } from '../nodes/queries.ts';
import { findReporters, insertReports, type NewReportRow, type ReportRow, setStatus } from './queries.ts';

export interface ReceivedReport {
  row: NewReportRow;
  /** What the node's status is from now on; null: as before. */
  nodeStatus: NodeStatus | null;
}

export type ReportWriter = GroupCommit<ReceivedReport, ReportRow>;

/** @param onCommit told of each commit how many reports shared it */
export function openReportWriter(database: Database, onCommit?: (reports: number) => void): ReportWriter {
  return new GroupCommit<ReceivedReport, ReportRow>(database.writeNow, {
    write: writeReports,
    sizeOf: ({ row }) => row.result.length,
    ...(onCommit ? { onCommit } : {}),
  });
}

/** @returns for each report its row, or the refusal of one whose node is gone since it was let in */
export async function writeReports(
  trx: Db,
  reports: readonly ReceivedReport[],
): Promise<(ReportRow | HawserError)[]> {
  const reporters = await findReporters(trx, [...new Set(reports.map(({ row }) => row.node_id))]);
  const accepted = reports.filter(({ row }) => reporters.has(row.node_id));
  await insertReports(
    trx,
    accepted.map(({ row }) => row),
  );
  const statuses = new Map<string, string>();
  for (const { row, nodeStatus: status } of accepted) {
    const nodeId = row.node_id;
    const before = statuses.get(nodeId) ?? reporters.get(nodeId)?.status;
    if (status === null || status === before) continue;
    statuses.set(nodeId, status);
    await recordStatusEvent(trx, { nodeId, lcmStatus: null, status, now: row.timestamp });
  }
  for (const [nodeId, status] of statuses) await setStatus(trx, nodeId, status);
  return reports.map(({ row }) => {
    const reporter = reporters.get(row.node_id);
    return reporter ? { ...row, fqdn: reporter.fqdn } : gone();
  });
}

const gone = () => unauthenticated('No node is registered with this certificate');
