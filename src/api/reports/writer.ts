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

/**
 * So many rows are inserted by one statement, and those that are left by a statement each. Both are prepared once. A
 * statement for any number of rows would be prepared each time, which takes longer than to run it.
 */
const ROWS_AT_ONCE = 16;

async function insertReports(trx: Db, rows: readonly ReceivedReport['row'][]): Promise<void> {
  for (let at = 0; at < rows.length; ) {
    const count = rows.length - at < ROWS_AT_ONCE ? 1 : ROWS_AT_ONCE;
    await trx.executeQuery(insertionOf(rows.slice(at, at + count)));
    at += count;
  }
}

/** It is not made by the query builder, which takes some 20 µs for each row. */
function insertionOf(rows: readonly ReceivedReport['row'][]): CompiledQuery {
  const places = Array(rows.length).fill('(?, ?, ?, ?, ?, ?, ?)').join(', ');
  const values = rows.flatMap((row) => [
    ...[row.id, row.node_id, row.timestamp, row.operation],
    ...[row.in_desired_state, row.had_errors, row.result],
  ]);
  const columns = 'id, node_id, timestamp, operation, in_desired_state, had_errors, result';
  return CompiledQuery.raw(`insert into reports (${columns}) values ${places}`, values);
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
  for (const [nodeId, status] of statuses)
    await trx.updateTable('nodes').set({ status }).where('id', '=', nodeId).execute();
  return reports.map(({ row }) => {
    const reporter = reporters.get(row.node_id);
    return reporter ? { ...row, fqdn: reporter.fqdn } : nodeDeleted();
  });
}

const nodeDeleted = () => unauthenticated('No node is registered with this certificate');
