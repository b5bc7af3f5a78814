/** Reads and writes of nodes, their assignments and the history of their state. */

import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../db/open.ts';
import type { Schema } from '../../db/schema.ts';
import { notFound } from '../../lib/errors.ts';
import { newestFirst, within } from '../crud/history.ts';
import { countRows, pageOf } from '../crud/rows.ts';
import type { NodeFilter, StatusEventFilter } from './schemas.ts';

/** What a node has reported about itself. Absent members stay as they are. */
export interface ReportedSettings {
  configuration_source?: string | null;
  configuration_mode?: string | null;
  configuration_mode_interval?: string | null;
  configuration_mode_interval_ms?: number | null;
  report_compliance?: number | null;
}

export function findNodeByFqdn(db: Db, fqdn: string) {
  return db.selectFrom('nodes').select('id').where('fqdn', '=', fqdn).executeTakeFirst();
}

export async function insertNode(
  db: Db,
  node: { id: string; fqdn: string; now: number; settings: ReportedSettings },
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
export function findAssigned(db: Db, nodeId: string) {
  return nodeRows(db)
    .select([
      'nodes.fqdn',
      'assignments.configuration_id as configurationId',
      'assignments.composite_id as compositeId',
      'assignments.major_version as majorVersion',
      'assignments.prerelease_channel as prereleaseChannel',
      'assignments.version',
      (of) => of.fn.coalesce('configurations.name', 'composites.name').as('configurationName'),
    ])
    .where('nodes.id', '=', nodeId)
    .executeTakeFirst();
}

/** An event of the LCM has no `status`; a change of compliance has no `lcmStatus`. */
export async function recordStatusEvent(
  trx: Db,
  event: { nodeId: string; lcmStatus: string | null; status: string | null; now: number },
): Promise<void> {
  const { nodeId: node_id, lcmStatus: lcm_status, status, now: timestamp } = event;
  await trx.insertInto('status_events').values({ node_id, lcm_status, status, timestamp }).execute();
}

export type StatusEventRow = Awaited<ReturnType<typeof listStatusEvents>>['rows'][number];

/** Lists a node's events, newest first. @throws HawserError not_found where there is no such node */
export async function listStatusEvents(db: Db, nodeId: string, filter: z.output<typeof StatusEventFilter>) {
  await requireNode(db, nodeId);
  const events = db
    .selectFrom('status_events')
    .select(['id', 'node_id as nodeId', 'lcm_status as lcmStatus', 'status', 'timestamp'])
    .where('node_id', '=', nodeId);
  return pageOf(newestFirst(within(events, filter), 'id'), filter);
}

/** @returns whether there is such a node */
export async function updateLcmStatus(db: Db, nodeId: string, lcm_status: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('nodes')
    .set({ lcm_status })
    .where('id', '=', nodeId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Deletes a node and all rows that refer to it. @returns its name, or undefined where there is no such node */
export async function deleteNodeRow(db: Db, nodeId: string): Promise<string | undefined> {
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
  const rows = await db
    .selectFrom('nodes')
    .select('id')
    .where(sql<SqlBool>`id in ${idList(nodeIds)}`)
    .execute();
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

/** A node is stale when its last check-in was more than `stalenessMultiplier` of its own intervals before `now`. */
export interface StalenessRule {
  now: number;
  stalenessMultiplier: number;
}

/** The condition is false while the last check-in or the reported interval is unknown. */
export function isStale({ now, stalenessMultiplier }: StalenessRule) {
  const lastCheckIn = sql`(select last_check_in from node_check_ins where node_id = nodes.id)`;
  const limit = sql`${sql.ref('nodes.configuration_mode_interval_ms')} * ${stalenessMultiplier}`;
  return sql<SqlBool>`coalesce(${now} - ${lastCheckIn} > ${limit}, false)`;
}

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
  ] as const;

/** What nodes are asked to be, of what their tables hold. */
type Conditions = Omit<z.output<typeof NodeFilter>, 'take' | 'skip' | 'hasParameterProblems'>;

/**
 * Lists the nodes that match, by fqdn. Matching, counting and skipping read only `nodes`, and only the page is joined
 * with other tables. With 50,000 nodes this takes 1 ms instead of 50 ms, in which no poll would be answered.
 */
export async function listNodes(db: Db, filter: z.output<typeof NodeFilter>, rule: StalenessRule) {
  // Without a filter there is no condition at all. With one that is always true, SQLite would count row by row.
  const matching = conditions(filter, rule).reduce(
    (nodes, condition) => nodes.where(condition),
    db.selectFrom('nodes'),
  );
  const total = await countNodes(db, filter, matching);
  const shown = matching.select('nodes.id').orderBy('nodes.fqdn').limit(filter.take).offset(filter.skip);
  return { rows: await listRows(db, rule, sql`${shown}`), total };
}

/** The rows of some nodes by fqdn. @param ids a subquery that gives the ids */
export function listRows(db: Db, rule: StalenessRule, ids: RawBuilder<unknown>) {
  return nodeRows(db)
    .select(nodeColumns(rule))
    .where(sql<SqlBool>`nodes.id in ${ids}`)
    .orderBy('nodes.fqdn')
    .execute();
}

/** The ids of some nodes that match, by fqdn. Few should be given, because SQLite looks up each of them. */
export async function selectMatching(
  db: Db,
  ids: readonly string[],
  filter: Conditions,
  rule: StalenessRule,
): Promise<string[]> {
  const given = db
    .selectFrom('nodes')
    .select('id')
    .where(sql<SqlBool>`nodes.id in ${idList(ids)}`);
  const matching = conditions(filter, rule, MATCHED_ONE_BY_ONE).reduce(
    (nodes, condition) => nodes.where(condition),
    given,
  );
  return (await matching.orderBy('fqdn').execute()).map(({ id }) => id);
}

/** The subquery that gives these ids. */
export const idList = (ids: readonly string[]) =>
  sql<string>`(select value from json_each(${JSON.stringify(ids)}))`;

/** The next nodes by fqdn after one of them. An empty name stands before the first one. */
export function listNames(db: Db, { after, limit }: { after: string; limit: number }) {
  const nodes = db.selectFrom('nodes').select(['id', 'fqdn']).where('fqdn', '>', after);
  return nodes.orderBy('fqdn').limit(limit).execute();
}

/** Uses the counts that triggers keep where it can: counting half a fleet would hold up every poll. */
async function countNodes(
  db: Db,
  { take: _take, skip: _skip, status, lcmStatus, ...others }: z.output<typeof NodeFilter>,
  matching: SelectQueryBuilder<Schema, 'nodes', object>,
): Promise<number> {
  if (Object.values(others).some((value) => value !== undefined)) return countRows(matching);
  const counts = await db.selectFrom('node_counts').selectAll().execute();
  return counts
    .filter((each) => status === undefined || each.status === status)
    .filter((each) => lcmStatus === undefined || each.lcm_status === lcmStatus)
    .reduce((sum, { count }) => sum + count, 0);
}

function conditions(
  filter: Conditions,
  rule: StalenessRule,
  { isAssigned, isTagged } = MATCHED_AT_ONCE,
): RawBuilder<SqlBool>[] {
  const { fqdn, status, lcmStatus, configurationName, stale, scopeValueId } = filter;
  return [
    ...(fqdn === undefined ? [] : [containsText('nodes.fqdn', fqdn.toLowerCase())]),
    ...(status === undefined ? [] : [sql<SqlBool>`nodes.status = ${status}`]),
    ...(lcmStatus === undefined ? [] : [sql<SqlBool>`nodes.lcm_status = ${lcmStatus}`]),
    ...(configurationName === undefined ? [] : [isAssigned(configurationName)]),
    ...(stale === undefined ? [] : [stale ? isStale(rule) : sql<SqlBool>`not ${isStale(rule)}`]),
    ...(scopeValueId === undefined ? [] : [isTagged(scopeValueId)]),
  ];
}

/** Whether a column contains the text. `%` and `_` in the text have no special meaning. */
function containsText(column: string, text: string): RawBuilder<SqlBool> {
  return sql`${sql.ref(column)} like ${`%${text.replace(/[!%_]/g, '!$&')}%`} escape '!'`;
}

/** Conditions on other tables. `isAssigned` takes the name of a configuration or composite, `isTagged` a value's id. */
interface OtherTables {
  isAssigned(name: string): RawBuilder<SqlBool>;
  isTagged(scopeValueId: string): RawBuilder<SqlBool>;
}

const configurationOf = (name: string) => sql`(select id from configurations where name = ${name})`;
const compositeOf = (name: string) => sql`(select id from composites where name = ${name})`;

/** For all nodes in one statement. SQLite makes the set of the nodes that match once. */
const MATCHED_AT_ONCE: OtherTables = {
  isAssigned: (name) => sql<SqlBool>`nodes.id in (
    select node_id from assignments where configuration_id = ${configurationOf(name)}
    union all
    select node_id from assignments where composite_id = ${compositeOf(name)})`,
  isTagged: (id) => sql<SqlBool>`nodes.id in (select node_id from node_tags where scope_value_id = ${id})`,
};

/** For a few nodes. A `+` keeps SQLite from going through all nodes with the value for each of them. */
const MATCHED_ONE_BY_ONE: OtherTables = {
  isAssigned: (name) => sql<SqlBool>`exists (select 1 from assignments where node_id = nodes.id
    and (+configuration_id = ${configurationOf(name)} or +composite_id = ${compositeOf(name)}))`,
  isTagged: (id) =>
    sql<SqlBool>`exists (select 1 from node_tags where node_id = nodes.id and +scope_value_id = ${id})`,
};

export type NodeRow = Awaited<ReturnType<typeof listRows>>[number];

export function findNode(db: Db, nodeId: string, rule: StalenessRule): Promise<NodeRow | undefined> {
  return nodeRows(db).select(nodeColumns(rule)).where('nodes.id', '=', nodeId).executeTakeFirst();
}
