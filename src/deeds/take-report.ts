/**
 * Takes the reports of nodes: the row, what the node ran, what is wrong, the node's status and the event of its change are
 * written in one commit with reports of other nodes.
 */

import { CompiledQuery, sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import type { Engine } from '../db/engine.ts';
import { engineOf } from '../db/engine-of.ts';
import { emit } from '../db/events.ts';
import { GroupCommit } from '../db/group-commit.ts';
import { namesOf } from '../db/manifests.ts';
import { recordMoves } from '../db/node-events.ts';
import { NodeOrder } from '../db/node-order.ts';
import { recordComplianceEvent } from '../db/nodes.ts';
import { type NamedOutcome, noteOutcomes } from '../db/outcomes.ts';
import type { ReportRow } from '../db/reports.ts';
import { joinNotes, type RunningNote, takeNotesTurn, writeRunning } from '../db/running.ts';
import type { ReportsTable } from '../db/schema.ts';
import type { ReportFaults } from '../domain/report-faults.ts';
import type { NodeStatus, ReportOperation, Verdict } from '../domain/report-verdict.ts';
import { type HawserError, unauthenticated } from '../lib/errors.ts';
import { newOrderedId } from '../lib/ids.ts';

/** A report that was read. */
export interface JudgedReport extends Verdict {
  operation: ReportOperation;
  hadErrors: boolean;
  /** What the report names as run, in lower case. */
  checksum: string | null;
  faults: ReportFaults;
  /** The text of the member `result`. */
  result: string;
}

/** What calls of nodes have told of what they run, and what may not be written yet. */
export interface NotedEvidence {
  /** Waits until a bundle that is on its way to the node, and that it may have read whole, is sent. */
  arrived(nodeId: string): Promise<void>;
  /** Writes what is noted of a node; undefined where nothing is. */
  settle(nodeId: string): Promise<void> | undefined;
  /** The checksum of the last bundle that went to a node whole, where that is not written yet. */
  servedTo(nodeId: string): string | undefined;
}

export interface ReceivedReport {
  row: Omit<ReportsTable, 'seq'>;
  /** The node's status from now on. Null keeps the status that it has. */
  nodeStatus: NodeStatus | null;
  /** What the report names as run. */
  checksum: string | null;
  /** The checksum of the last bundle that went to the node whole, where that is not in the database yet. */
  servedChecksum: string | null;
  faults: ReportFaults;
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

/**
 * Takes a report of a node. What the report says comes after what the node's calls before it told.
 * @throws HawserError unauthenticated where the node was deleted just now
 */
export async function takeReport(
  { writer, evidence }: { writer: ReportWriter; evidence: NotedEvidence },
  { nodeId, now }: { nodeId: string; now: number },
  report: JudgedReport,
): Promise<ReportRow> {
  if (report.checksum === null) await evidence.arrived(nodeId);
  const settled = evidence.settle(nodeId);
  if (settled !== undefined) await settled;
  const servedChecksum = evidence.servedTo(nodeId) ?? null;
  return writer.submit({ ...toReceived(report, nodeId, now), servedChecksum });
}

function toReceived(
  report: JudgedReport,
  nodeId: string,
  now: number,
): Omit<ReceivedReport, 'servedChecksum'> {
  const { operation, hadErrors, inDesiredState, nodeStatus, faults, result, checksum } = report;
  return {
    ...{ checksum, faults },
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
    const running = { checksum, evidence: 'Declared', since, last: since } as const;
    const note = { running, answered: null, served: null };
    const before = notes.get(row.node_id);
    notes.set(row.node_id, before === undefined ? note : joinNotes(before, note));
  }
  if (notes.size > 0) await recordMoves(trx, await writeRunning(trx, notes));
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

/** A report without a fault has no row. */
async function insertFaults(trx: Db, numbers: readonly number[], reports: readonly ReceivedReport[]) {
  const values = reports.flatMap(({ faults: { outOfState, firstFault }, row }, at) =>
    outOfState > 0 || firstFault !== null || row.had_errors === 1
      ? [[numbers[at], outOfState, firstFault && JSON.stringify(firstFault)]]
      : [],
  );
  if (values.length === 0) return;
  await sql`insert into report_faults (report_seq, out_of_state, first_fault)
    select cast(value ->> 0 as bigint), cast(value ->> 1 as bigint), value ->> 2
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
  const order = await NodeOrder.of(trx, nodeIds);
  const accepted = reports
    .filter(({ row }) => reporters.has(row.node_id))
    .map(({ row, ...report }) => ({
      ...report,
      row: { ...row, timestamp: order.next(row.node_id, row.timestamp) },
    }));
  const numbers = await insertReports(
    trx,
    accepted.map(({ row }) => row),
  );
  const ran = accepted.map((report) => ranOf(report, reporters.get(report.row.node_id)));
  await insertChecksums(
    trx,
    ran.map((each, at) => [numbers[at] ?? 0, each]),
  );
  await insertFaults(trx, numbers, accepted);
  await noteDeclared(trx, accepted);
  await noteOutcomes(trx, accepted.flatMap(namedOutcome));
  await changeStatuses(trx, accepted, reporters);
  const names = await namesOf(trx, ran);
  const written = accepted.map(({ row, faults }, at) => ({
    ...{ ...row, ...(ran[at] ?? NOTHING), fqdn: reporters.get(row.node_id)?.fqdn ?? '' },
    ...(names.get(ran[at]?.checksum ?? '') ?? { configurationName: null, version: null }),
    outOfState: faults.outOfState,
    firstFault: faults.firstFault && JSON.stringify(faults.firstFault),
  }));
  return reports.map(({ row }) =>
    reporters.has(row.node_id) ? (written.shift() as ReportRow) : nodeDeleted(),
  );
}

/** Gives the nodes the statuses that the reports tell, with the events of changes, and what is wrong with them now. */
async function changeStatuses(
  trx: Db,
  reports: readonly ReceivedReport[],
  reporters: ReadonlyMap<string, Reporter>,
): Promise<void> {
  const statuses = new Map<string, { status: string; since: number }>();
  const faults = new Map<string, ReceivedReport>();
  const well: string[] = [];
  for (const report of reports) {
    const { row, nodeStatus: status } = report;
    const { node_id: nodeId, timestamp: since } = row;
    const before = statuses.get(nodeId)?.status ?? reporters.get(nodeId)?.status;
    if (status === 'Error' || status === 'NonCompliant') faults.set(nodeId, report);
    if (status === null || status === before) continue;
    if (status === 'Compliant' || status === 'Unknown') {
      faults.delete(nodeId);
      well.push(nodeId);
    }
    statuses.set(nodeId, { status, since });
    await recordComplianceEvent(trx, { nodeId, status, now: since });
    const data = { fqdn: reporters.get(nodeId)?.fqdn, before, status };
    await emit(trx, [{ type: 'node.status_changed', subject: `nodes/${nodeId}`, at: since, data }]);
  }
  for (const [nodeId, { status, since }] of statuses)
    await trx.updateTable('nodes').set({ status, status_since: since }).where('id', '=', nodeId).execute();
  await writeNodeFaults(trx, faults, well);
}

/** @param faults the last report of each node that is not well by it @param well nodes that are well, as far as they have no fault */
async function writeNodeFaults(
  trx: Db,
  faults: ReadonlyMap<string, ReceivedReport>,
  well: readonly string[],
): Promise<void> {
  if (well.length > 0)
    await trx.deleteFrom('node_faults').where(engineOf(trx).isOneOf('node_id', well)).execute();
  if (faults.size === 0) return;
  const values = Array.from(faults.values(), ({ row, faults: { firstFault } }) => [
    ...[row.node_id, row.id, row.timestamp],
    firstFault && JSON.stringify(firstFault),
  ]);
  await sql`insert into node_faults (node_id, report_id, timestamp, first_fault)
    select value ->> 0, value ->> 1, cast(value ->> 2 as bigint), value ->> 3
    from ${engineOf(trx).rows(values)} given where true
    on conflict (node_id) do update set report_id = excluded.report_id, timestamp = excluded.timestamp,
      first_fault = excluded.first_fault`.execute(trx);
}

const nodeDeleted = () => unauthenticated('No node is registered with this certificate');
