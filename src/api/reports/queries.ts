/** Reads and writes of single reports. */

import type { Db } from '../../db/open.ts';
import type { ReportsTable } from '../../db/schema.ts';

export type NewReportRow = Omit<ReportsTable, 'seq'>;

/** What a summary shows. */
export type ReportRow = Pick<
  ReportsTable,
  'id' | 'node_id' | 'timestamp' | 'operation' | 'in_desired_state' | 'had_errors'
> & { fqdn: string };

/** Those of the nodes that there are, with their name and status. */
export async function findReporters(
  db: Db,
  nodeIds: readonly string[],
): Promise<Map<string, { fqdn: string; status: string }>> {
  const rows = await db
    .selectFrom('nodes')
    .select(['id', 'fqdn', 'status'])
    .where('id', 'in', nodeIds)
    .execute();
  return new Map(rows.map(({ id, fqdn, status }) => [id, { fqdn, status }]));
}

export async function insertReports(db: Db, rows: readonly NewReportRow[]): Promise<void> {
  if (rows.length > 0) await db.insertInto('reports').values(rows).execute();
}

export async function setStatus(db: Db, nodeId: string, status: string): Promise<void> {
  await db.updateTable('nodes').set({ status }).where('id', '=', nodeId).execute();
}

/** Reports with their node's name. */
export function reportRows(db: Db) {
  return db
    .selectFrom('reports')
    .innerJoin('nodes', 'nodes.id', 'reports.node_id')
    .select([
      'reports.id',
      'reports.node_id',
      'nodes.fqdn',
      'reports.timestamp',
      'reports.operation',
      'reports.in_desired_state',
      'reports.had_errors',
    ]);
}

export function findReport(db: Db, id: string): Promise<(ReportRow & { result: string }) | undefined> {
  return reportRows(db).select('reports.result').where('reports.id', '=', id).executeTakeFirst();
}
