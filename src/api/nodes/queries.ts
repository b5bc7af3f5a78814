/** Reads and writes of nodes, their certificates and assignments. */

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../db/open.ts';
import type { NodeTagsTable } from '../../db/schema.ts';
import { STALENESS_MULTIPLIER } from '../../domain/server-settings.ts';
import type { NodeFilter } from './schemas.ts';

/** What a node has reported of itself; absent members stay as they are. */
export interface ReportedSettings {
  configuration_source?: string | null;
  configuration_mode?: string | null;
  configuration_mode_interval?: string | null;
  configuration_mode_interval_ms?: number | null;
  report_compliance?: number | null;
}

export interface CertificateRow {
  thumbprint: string;
  subject: string;
  notBefore: number;
  notAfter: number;
}

export function findNodeByFqdn(db: Db, fqdn: string) {
  return db.selectFrom('nodes').select('id').where('fqdn', '=', fqdn).executeTakeFirst();
}

export function findCertificateHolder(db: Db, thumbprint: string) {
  return db
    .selectFrom('node_certificates')
    .select('node_id')
    .where('thumbprint', '=', thumbprint)
    .executeTakeFirst();
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
      configuration_source: null,
      configuration_mode: null,
      configuration_mode_interval: null,
      configuration_mode_interval_ms: null,
      report_compliance: null,
      desired_configuration_mode: null,
      desired_configuration_mode_interval: null,
      desired_report_compliance: null,
      created_at: node.now,
      ...node.settings,
    })
    .execute();
}

/** Writes only what differs from before. */
export async function updateReported(db: Db, nodeId: string, settings: ReportedSettings): Promise<void> {
  const known = await db.selectFrom('nodes').selectAll().where('id', '=', nodeId).executeTakeFirst();
  const names = Object.keys(settings) as (keyof ReportedSettings)[];
  if (names.every((name) => known?.[name] === settings[name])) return;
  await db.updateTable('nodes').set(settings).where('id', '=', nodeId).execute();
}

/** Makes this the node's only certificate. */
export async function replaceCertificates(
  db: Db,
  nodeId: string,
  certificate: CertificateRow,
  now: number,
): Promise<void> {
  await db.deleteFrom('node_certificates').where('node_id', '=', nodeId).execute();
  await db
    .insertInto('node_certificates')
    .values({
      thumbprint: certificate.thumbprint,
      node_id: nodeId,
      state: 'current',
      subject: certificate.subject,
      not_before: certificate.notBefore,
      not_after: certificate.notAfter,
      created_at: now,
    })
    .execute();
}

export interface NewAssignmentRow {
  nodeId: string;
  configurationId: string | null;
  compositeId: string | null;
  majorVersion: number | null;
  prereleaseChannel: string | null;
  now: number;
}

export async function saveAssignment(db: Db, assignment: NewAssignmentRow): Promise<void> {
  const target = {
    configuration_id: assignment.configurationId,
    composite_id: assignment.compositeId,
    major_version: assignment.majorVersion,
    prerelease_channel: assignment.prereleaseChannel,
    assigned_at: assignment.now,
  };
  await db
    .insertInto('assignments')
    .values({ node_id: assignment.nodeId, ...target })
    .onConflict((conflict) => conflict.column('node_id').doUpdateSet(target))
    .execute();
}

/** A node's name and what is assigned to it, null where nothing is; undefined when there is no such node. */
export function findAssigned(db: Db, nodeId: string) {
  return db
    .selectFrom('nodes')
    .leftJoin('assignments', 'assignments.node_id', 'nodes.id')
    .leftJoin('configurations', 'configurations.id', 'assignments.configuration_id')
    .leftJoin('composites', 'composites.id', 'assignments.composite_id')
    .select([
      'nodes.fqdn',
      'assignments.configuration_id as configurationId',
      'assignments.composite_id as compositeId',
      'assignments.major_version as majorVersion',
      'assignments.prerelease_channel as prereleaseChannel',
      (of) => of.fn.coalesce('configurations.name', 'composites.name').as('configurationName'),
    ])
    .where('nodes.id', '=', nodeId)
    .executeTakeFirst();
}

export async function deleteAssignment(db: Db, nodeId: string): Promise<void> {
  await db.deleteFrom('assignments').where('node_id', '=', nodeId).execute();
}

export async function nodeExists(db: Db, nodeId: string): Promise<boolean> {
  const row = await db.selectFrom('nodes').select('id').where('id', '=', nodeId).executeTakeFirst();
  return row !== undefined;
}

function nodeRows(db: Db) {
  return db
    .selectFrom('nodes')
    .leftJoin('node_check_ins', 'node_check_ins.node_id', 'nodes.id')
    .leftJoin('assignments', 'assignments.node_id', 'nodes.id')
    .leftJoin('configurations', 'configurations.id', 'assignments.configuration_id')
    .leftJoin('composites', 'composites.id', 'assignments.composite_id');
}

/** False while either the last check-in or the reported interval is unknown. */
function isStale(now: number) {
  const lastCheckIn = sql`(select last_check_in from node_check_ins where node_id = nodes.id)`;
  const limit = sql`${sql.ref('nodes.configuration_mode_interval_ms')} * ${STALENESS_MULTIPLIER}`;
  return sql<SqlBool>`coalesce(${now} - ${lastCheckIn} > ${limit}, false)`;
}

const nodeColumns = (now: number) =>
  [
    'nodes.id',
    'nodes.fqdn',
    'nodes.status',
    'nodes.lcm_status',
    'nodes.configuration_source',
    'nodes.configuration_mode',
    'nodes.configuration_mode_interval',
    'nodes.report_compliance',
    'nodes.desired_configuration_mode',
    'nodes.desired_configuration_mode_interval',
    'nodes.desired_report_compliance',
    'nodes.created_at',
    'node_check_ins.last_check_in',
    sql<string | null>`coalesce(configurations.name, composites.name)`.as('configuration_name'),
    isStale(now).as('is_stale'),
  ] as const;

/**
 * Nodes that match, by fqdn. Matching, counting and skipping look at `nodes` alone and join only the page that is
 * shown: at 50,000 nodes that is 1 ms instead of 50, in which no poll would be answered.
 */
export async function listNodes(db: Db, filter: z.output<typeof NodeFilter>, now: number) {
  const matching = db.selectFrom('nodes').where((where) => where.and(conditions(filter, now)));
  const { total } = await matching
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const shown = matching.select('nodes.id').orderBy('nodes.fqdn').limit(filter.take).offset(filter.skip);
  const rows = await nodeRows(db)
    .select(nodeColumns(now))
    .where('nodes.id', 'in', shown)
    .orderBy('nodes.fqdn')
    .execute();
  return { rows, total };
}

function conditions(filter: z.output<typeof NodeFilter>, now: number): RawBuilder<SqlBool>[] {
  const { fqdn, status, lcmStatus, configurationName, stale, scopeValueId } = filter;
  return [
    ...(fqdn === undefined ? [] : [containsText('nodes.fqdn', fqdn.toLowerCase())]),
    ...(status === undefined ? [] : [sql<SqlBool>`nodes.status = ${status}`]),
    ...(lcmStatus === undefined ? [] : [sql<SqlBool>`nodes.lcm_status = ${lcmStatus}`]),
    ...(configurationName === undefined ? [] : [isAssigned(configurationName)]),
    ...(stale === undefined ? [] : [stale ? isStale(now) : sql<SqlBool>`not ${isStale(now)}`]),
    ...(scopeValueId === undefined
      ? []
      : [sql<SqlBool>`nodes.id in (select node_id from node_tags where scope_value_id = ${scopeValueId})`]),
  ];
}

/** The text as it is: `%` and `_` in it mean nothing else. */
function containsText(column: string, text: string): RawBuilder<SqlBool> {
  return sql`${sql.ref(column)} like ${`%${text.replace(/[!%_]/g, '!$&')}%`} escape '!'`;
}

/** Whether a configuration or composite of this name is assigned. */
function isAssigned(name: string): RawBuilder<SqlBool> {
  return sql`nodes.id in (
    select node_id from assignments where configuration_id = (select id from configurations where name = ${name})
    union all
    select node_id from assignments where composite_id = (select id from composites where name = ${name}))`;
}

export type NodeRow = Awaited<ReturnType<typeof listNodes>>['rows'][number];

export function findNode(db: Db, nodeId: string, now: number): Promise<NodeRow | undefined> {
  return nodeRows(db).select(nodeColumns(now)).where('nodes.id', '=', nodeId).executeTakeFirst();
}

export function listCertificates(db: Db, nodeId: string) {
  return db.selectFrom('node_certificates').selectAll().where('node_id', '=', nodeId).execute();
}

/** A node's tags by precedence. */
export function listTags(db: Db, nodeId: string): Promise<NodeTagRow[]> {
  return tagRows(db).where('node_tags.node_id', '=', nodeId).orderBy('scope_types.precedence').execute();
}

export type NodeTagRow = Awaited<ReturnType<ReturnType<typeof tagRows>['execute']>>[number];

export interface TagTarget {
  nodeId: string;
  scopeValueId: string;
}

export function findTag(db: Db, { nodeId, scopeValueId }: TagTarget): Promise<NodeTagRow | undefined> {
  return tagRows(db)
    .where('node_tags.node_id', '=', nodeId)
    .where('node_tags.scope_value_id', '=', scopeValueId)
    .executeTakeFirst();
}

export async function insertTag(db: Db, tag: NodeTagsTable): Promise<void> {
  await db.insertInto('node_tags').values(tag).execute();
}

export async function deleteTag(db: Db, { nodeId, scopeValueId }: TagTarget): Promise<void> {
  await db
    .deleteFrom('node_tags')
    .where('node_id', '=', nodeId)
    .where('scope_value_id', '=', scopeValueId)
    .execute();
}

function tagRows(db: Db) {
  return db
    .selectFrom('node_tags')
    .innerJoin('scope_types', 'scope_types.id', 'node_tags.scope_type_id')
    .innerJoin('scope_values', 'scope_values.id', 'node_tags.scope_value_id')
    .select([
      'node_tags.node_id',
      'node_tags.scope_value_id',
      'node_tags.scope_type_id',
      'scope_types.name as scope_type_name',
      'scope_values.value as scope_value',
      'scope_types.precedence',
      'node_tags.assigned_at',
    ]);
}
