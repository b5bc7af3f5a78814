/** Reads and writes of nodes, their assignments and the history of their state. */

import { type Insertable, sql } from 'kysely';
import { notFound } from '../lib/errors.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import { newestFirst, type Period, within } from './history.ts';
import type { NodeTables } from './node-tables.ts';
import { endPast } from './past.ts';
import { type PageQuery, pageOf } from './rows.ts';
import { isStale, type StalenessRule } from './staleness.ts';

/** What a node has reported about itself. Absent members stay as they are. */
export interface ReportedSettings {
  configuration_source?: string | null;
  configuration_mode?: string | null;
  configuration_mode_interval?: string | null;
  configuration_mode_interval_ms?: number | null;
  report_compliance?: number | null;
}

/** What is known of a node that comes from another server. */
export type KnownNode = Partial<
  Omit<
    Insertable<NodeTables['nodes']>,
    'id' | 'fqdn' | 'number' | 'assigned_id' | 'assigned_as' | 'evidence' | 'certificate_end'
  >
>;

export function findNodeByFqdn(db: Db, fqdn: string) {
  return db.selectFrom('nodes').select('id').where('fqdn', '=', fqdn).executeTakeFirst();
}

export async function insertNode(
  db: Db,
  node: { id: string; fqdn: string; now: number; settings: ReportedSettings | KnownNode },
): Promise<void> {
  await db
    .insertInto('nodes')
    .values({
      id: node.id,
      fqdn: node.fqdn,
      status: 'Unknown',
      lcm_status: 'Unknown',
      created_at: node.now,
      ...node.settings,
    })
    .execute();
}

/** Stores what a node reports. Nothing is written where nothing has changed. */
export async function updateReported(db: Db, nodeId: string, settings: ReportedSettings): Promise<void> {
  const known = await db.selectFrom('nodes').selectAll().where('id', '=', nodeId).executeTakeFirst();
  const names = Object.keys(settings) as (keyof ReportedSettings)[];
  if (names.every((name) => known?.[name] === settings[name])) return;
  await db.updateTable('nodes').set(settings).where('id', '=', nodeId).execute();
}

/** Finds a node's name and its assignment, of which all members are null where nothing is assigned. */
export async function findAssigned(db: Db, nodeId: string) {
  return (await findAssignedOf(db, [nodeId])).get(nodeId);
}

/** The same for those of many nodes that are there, by their ids and in their order. */
export async function findAssignedOf(db: Db, nodeIds: readonly string[]) {
  const rows = await nodeRows(db)
    .select([
      'nodes.id as nodeId',
      'nodes.fqdn',
      'assignments.configuration_id as configurationId',
      'assignments.composite_id as compositeId',
      'assignments.major_version as majorVersion',
      'assignments.prerelease_channel as prereleaseChannel',
      'assignments.version',
      (of) => of.fn.coalesce('configurations.name', 'composites.name').as('configurationName'),
    ])
    .where(engineOf(db).isOneOf('nodes.id', nodeIds))
    .execute();
  return inOrder(nodeIds, new Map(rows.map(({ nodeId, ...assigned }) => [nodeId, assigned])));
}

/** The same in the order of the ids, in which entries of the audit trail are to follow each other. */
export function inOrder<T>(ids: readonly string[], found: ReadonlyMap<string, T>): Map<string, T> {
  const ordered = new Map<string, T>();
  for (const id of ids) {
    const one = found.get(id);
    if (one !== undefined) ordered.set(id, one);
  }
  return ordered;
}

/** Records that the compliance of a node has changed. An event has either a `status`, as here, or an `lcmStatus`. */
export async function recordComplianceEvent(
  trx: Db,
  event: { nodeId: string; status: string; now: number },
): Promise<void> {
  const { nodeId: node_id, status, now: timestamp } = event;
  await trx.insertInto('status_events').values({ node_id, lcm_status: null, status, timestamp }).execute();
}

/** When the LCM of a node said last that it is in error, in epoch milliseconds; null if nothing is kept of it. */
export async function lastLcmError(db: Db, nodeId: string): Promise<number | null> {
  const errors = db.selectFrom('status_events').select('timestamp').where('node_id', '=', nodeId);
  const last = newestFirst(errors.where('lcm_status', '=', 'Error'), 'id').limit(1);
  return (await last.executeTakeFirst())?.timestamp ?? null;
}

export type StatusEventRow = Awaited<ReturnType<typeof listStatusEvents>>['rows'][number];

/** Lists a node's events, newest first. @throws HawserError not_found where there is no such node */
export async function listStatusEvents(db: Db, nodeId: string, filter: Period & PageQuery) {
  await requireNode(db, nodeId);
  const events = db
    .selectFrom('status_events')
    .select(['id', 'node_id as nodeId', 'lcm_status as lcmStatus', 'status', 'timestamp'])
    .where('node_id', '=', nodeId);
  return pageOf(newestFirst(within(events, filter), 'id'), filter);
}

/** Deletes a node and all rows that refer to it; what it ran stays. @returns its name, or undefined where there is no such node */
export async function deleteNodeRow(db: Db, nodeId: string, now: number): Promise<string | undefined> {
  await endPast(db, nodeId, now);
  const row = await db.deleteFrom('nodes').where('id', '=', nodeId).returning('fqdn').executeTakeFirst();
  return row?.fqdn;
}

/** @throws HawserError not_found where there is no such node */
export async function requireNode(db: Db, nodeId: string): Promise<void> {
  const row = await db.selectFrom('nodes').select('id').where('id', '=', nodeId).executeTakeFirst();
  if (row === undefined) throw notFound('No such node');
}

/** @throws HawserError not_found where any of them is no node */
export async function requireNodes(db: Db, nodeIds: readonly string[]): Promise<void> {
  const rows = await db.selectFrom('nodes').select('id').where(engineOf(db).isOneOf('id', nodeIds)).execute();
  if (rows.length < new Set(nodeIds).size) throw notFound('No such node');
}

/** Nodes with their last check-in and the assigned configuration or composite, as far as there are any. */
function nodeRows(db: Db) {
  return db
    .selectFrom('nodes')
    .leftJoin('node_check_ins', 'node_check_ins.node_id', 'nodes.id')
    .leftJoin('assignments', 'assignments.node_id', 'nodes.id')
    .leftJoin('configurations', 'configurations.id', 'assignments.configuration_id')
    .leftJoin('composites', 'composites.id', 'assignments.composite_id');
}

/** The same with what is known of what they run, and why they are not well. */
const runningRows = (db: Db) =>
  nodeRows(db)
    .leftJoin('node_running', 'node_running.node_id', 'nodes.id')
    .leftJoin('manifests', 'manifests.checksum', 'node_running.checksum')
    .leftJoin('node_faults', 'node_faults.node_id', 'nodes.id')
    .leftJoin('node_problems', 'node_problems.node_id', 'nodes.id');

const nodeColumns = (rule: StalenessRule) =>
  [
    'nodes.id',
    'nodes.fqdn',
    sql<string | null>`coalesce(configurations.name, composites.name)`.as('configurationName'),
    'nodes.status',
    'nodes.lcm_status as lcmStatus',
    isStale(rule).as('isStale'),
    'node_check_ins.last_check_in as lastCheckIn',
    'nodes.created_at as createdAt',
    'nodes.configuration_source as configurationSource',
    'nodes.configuration_mode as configurationMode',
    'nodes.configuration_mode_interval as configurationModeInterval',
    'nodes.report_compliance as reportCompliance',
    'nodes.desired_configuration_mode as desiredConfigurationMode',
    'nodes.desired_configuration_mode_interval as desiredConfigurationModeInterval',
    'nodes.desired_report_compliance as desiredReportCompliance',
    'assignments.composite_id as compositeId',
    'assignments.major_version as majorVersion',
    'assignments.prerelease_channel as prereleaseChannel',
    'assignments.version as pinnedVersion',
    'node_running.evidence',
    'manifests.version as runningVersion',
    'manifests.configuration_name as runningName',
    'manifests.is_composite as runningIsComposite',
    'nodes.status_since as statusSince',
    'node_faults.report_id as faultReportId',
    'node_faults.timestamp as faultAt',
    'node_faults.first_fault as firstFault',
    'node_problems.code as problemCode',
    'node_problems.detail as problemDetail',
    'node_problems.since as problemSince',
  ] as const;

/** The rows of some nodes, in the order of their ids. A node that is gone is left out. */
export async function listRows(db: Db, rule: StalenessRule, ids: readonly string[]) {
  const rows = await runningRows(db)
    .select(nodeColumns(rule))
    .where(engineOf(db).isOneOf('nodes.id', ids))
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** The next nodes by fqdn after one of them. An empty name stands before the first one. */
export function listNames(db: Db, { after, limit }: { after: string; limit: number }) {
  const nodes = db.selectFrom('nodes').select(['id', 'fqdn']).where('fqdn', '>', after);
  return nodes.orderBy('fqdn').limit(limit).execute();
}

export type NodeRow = Awaited<ReturnType<typeof listRows>>[number];

export function findNode(db: Db, nodeId: string, rule: StalenessRule): Promise<NodeRow | undefined> {
  return runningRows(db).select(nodeColumns(rule)).where('nodes.id', '=', nodeId).executeTakeFirst();
}
