/**
 * Stores reports: the row, what the node ran, the node's status and the event of its change, in one commit with reports of
 * other nodes.
 */

import { CompiledQuery, sql } from 'kysely';
import type { Database, Db } from '../../db/database.ts';
import type { Engine } from '../../db/engine.ts';
import { engineOf } from '../../db/engine-of.ts';
import { emit } from '../../db/events.ts';
import { GroupCommit } from '../../db/group-commit.ts';
import { type NamedOutcome, noteOutcomes } from '../../db/outcomes.ts';
import { joinNotes, type RunningNote, takeNotesTurn, writeRunning } from '../../db/running.ts';
import type { ReportsTable } from '../../db/schema.ts';
import type { NodeStatus } from '../../domain/report-verdict.ts';
import { type HawserError, unauthenticated } from '../../lib/errors.ts';
import { recordComplianceEvent } from '../nodes/queries.ts';
import type { ReportRow } from './queries.ts';

export interface ReceivedReport {
  row: Omit<ReportsTable, 'seq'>;
  /** The node's status from now on. Null keeps the status that it has. */
  nodeStatus: NodeStatus | null;
  /** What the report names as run. */
  checksum: string | null;
  /** The checksum of the last bundle that went to the node whole, where that is not in the database yet. */
  servedChecksum: string | null;
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
  /** The checksum of the last bundle that went to it whole. */
  served: string | null;
}

/** @returns the number of each row, in their order */
async function insertReports(trx: Db, rows: readonly ReceivedReport['row'][]): Promise<number[]> {
  const engine = engineOf(trx);
  const numbers = new Map<string, number>();
  for (let at = 0; at < rows.length; ) {
    const count = engine.rowsAtOnce(rows.length - at);
    const inserted = await trx.executeQuery(insertionOf(engine, rows.slice(at, at + count)));
    for (const { id, seq } of inserted.rows) numbers.set(id, seq);
    at += count;
  }
  return rows.map(({ id }) => numbers.get(id) ?? 0);
}

const COLUMNS = ['id', 'node_id', 'timestamp', 'operation', 'in_desired_state', 'had_errors', 'result'];

/** It is not made by the query builder, which takes some 20 µs for each row. */
function insertionOf(
  { parameter }: Engine,
  rows: readonly ReceivedReport['row'][],
): CompiledQuery<{ id: string; seq: number }> {
  const placesFrom = (first: number) => COLUMNS.map((_name, at) => parameter(first + at)).join(', ');
  const places = rows.map((_row, at) => `(${placesFrom(at * COLUMNS.length + 1)})`).join(', ');
  const values = rows.flatMap((row) => [
    ...[row.id, row.node_id, row.timestamp, row.operation],
    ...[row.in_desired_state, row.had_errors, row.result],
  ]);
  return CompiledQuery.raw(
    `insert into reports (${COLUMNS.join(', ')}) values ${places} returning id, seq`,
    values,
  ) as CompiledQuery<{ id: string; seq: number }>;
}

type Ran = Pick<ReportRow, 'checksum' | 'source'>;

const NOTHING: Ran = { checksum: null, source: null };

/** What the node of a report ran: what the report names, else what was served to the node last. */
function ranOf({ checksum, servedChecksum }: ReceivedReport, reporter: Reporter | undefined): Ran {
  if (checksum !== null) return { checksum, source: 'Declared' };
  const served = servedChecksum ?? reporter?.served ?? null;
  return served === null ? NOTHING : { checksum: served, source: 'Served' };
}

/** Notes what the reports name, as evidence of what their nodes run. */
async function noteDeclared(trx: Db, reports: readonly ReceivedReport[]): Promise<void> {
  const notes = new Map<string, RunningNote>();
  for (const { row, checksum } of reports) {
    if (checksum === null) continue;
    const { timestamp: since } = row;
    const running = { checksum, evidence: 'Declared', since, last: since, replaces: false } as const;
    const note = { running, answered: null, served: null };
    const before = notes.get(row.node_id);
    notes.set(row.node_id, before === undefined ? note : joinNotes(before, note));
  }
  if (notes.size > 0) await writeRunning(trx, notes);
}

function namedOutcome({ row, checksum }: ReceivedReport): NamedOutcome[] {
  return checksum === null ? [] : [{ nodeId: row.node_id, checksum, hadErrors: row.had_errors === 1 }];
}

async function insertChecksums(trx: Db, rows: readonly [seq: number, ran: Ran][]): Promise<void> {
  const known = rows.filter(([, { checksum }]) => checksum !== null);
  if (known.length === 0) return;
  const values = known.map(([seq, { checksum, source }]) => [seq, checksum, source]);
  await sql`insert into report_checksums (report_seq, checksum, source)
    select cast(value ->> 0 as bigint), value ->> 1, value ->> 2
    from ${engineOf(trx).rows(values)} given`.execute(trx);
}

/** @returns for each report its row, or the error of one whose node was deleted after the request was let in */
export async function writeReports(
  trx: Db,
  reports: readonly ReceivedReport[],
): Promise<(ReportRow | HawserError)[]> {
  await takeNotesTurn(trx, () => reports.map(({ row, checksum }) => [row.node_id, checksum, null]));
  const nodeIds = [...new Set(reports.map(({ row }) => row.node_id))];
  const { rows: nodes } = await sql<Reporter>`select n.id, n.fqdn, n.status, r.served_checksum as served
    from nodes n left join node_running r on r.node_id = n.id
    where ${engineOf(trx).isOneOf('n.id', nodeIds)}`.execute(trx);
  const reporters = new Map(nodes.map((node) => [node.id, node]));
  const accepted = reports.filter(({ row }) => reporters.has(row.node_id));
  const ran = (report: ReceivedReport) => ranOf(report, reporters.get(report.row.node_id));
  const numbers = await insertReports(
    trx,
    accepted.map(({ row }) => row),
  );
  await insertChecksums(
    trx,
    accepted.map((report, at) => [numbers[at] ?? 0, ran(report)]),
  );
  await noteDeclared(trx, accepted);
  await noteOutcomes(trx, accepted.flatMap(namedOutcome));
  const statuses = new Map<string, string>();
  for (const { row, nodeStatus: status } of accepted) {
    const nodeId = row.node_id;
    const before = statuses.get(nodeId) ?? reporters.get(nodeId)?.status;
    if (status === null || status === before) continue;
    statuses.set(nodeId, status);
    await recordComplianceEvent(trx, { nodeId, status, now: row.timestamp });
    const data = { fqdn: reporters.get(nodeId)?.fqdn, before, status };
    await emit(trx, { type: 'node.status_changed', subject: `nodes/${nodeId}`, at: row.timestamp, data });
  }
  for (const [nodeId, status] of statuses)
    await trx.updateTable('nodes').set({ status }).where('id', '=', nodeId).execute();
  return reports.map((report) => {
    const reporter = reporters.get(report.row.node_id);
    return reporter ? { ...report.row, ...ran(report), fqdn: reporter.fqdn } : nodeDeleted();
  });
}

const nodeDeleted = () => unauthenticated('No node is registered with this certificate');
