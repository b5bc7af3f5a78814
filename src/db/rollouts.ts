/** Writes what is known of the nodes of a rollout, and its last counts, which every server shows. */

import { type RawBuilder, sql } from 'kysely';
import type { RolloutCounts, RolloutRecord } from '../domain/rollout.ts';
import type { CountedNode, RolloutNode } from '../domain/rollout-counts.ts';
import { MINUTE } from '../lib/clock.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import { type RolledOut, toReport } from './read-rollouts.ts';
import type { RolloutKey, RolloutNodesTable } from './rollout-tables.ts';

export interface LastCounts {
  /** Epoch milliseconds. */
  evaluatedAt: number;
  /** Of each step those of the nodes that it adds; none of a step that was not open. */
  counts: readonly RolloutCounts[];
  /** Reports up to this number need not be looked at again; null before the first look. */
  lastReport: number | null;
}

/**
 * A node that is to be noted: when it said first that it has taken what it is offered, in epoch milliseconds, null where it has
 * not; the place of the step that offers it, null where none does; and what must be in the manifest that a report is of: the version
 * (1, or else 0), and so many of the files.
 */
export type ToNote = readonly [
  nodeId: string,
  takenAt: number | null,
  step: number | null,
  version: number,
  files: number,
];

/** A rollout, by its key. */
type Keyed = Pick<RolledOut, 'kind' | 'id' | 'key'>;

/** What is known of a node by its reports. */
export type Noted = Pick<CountedNode, 'statusBefore' | 'report'>;

type NotedRow = Pick<RolloutNodesTable, 'node_id' | 'status_before' | 'operation' | 'status'> & {
  has_set: number;
};

/** The last evaluation of a rollout; null before the first one. */
export async function readRolloutCounts(
  db: Db,
  { kind, id, key }: Keyed,
): Promise<(LastCounts & { faults: RolloutNode[] }) | null> {
  const row = await db
    .selectFrom('rollout_counts')
    .select(['evaluated_at', 'counts', 'last_report', 'faults'])
    .where('kind', '=', kind)
    .where('resource_id', '=', id)
    .where('version', '=', key)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { evaluated_at: evaluatedAt, last_report: lastReport } = row;
  const counts: unknown = JSON.parse(row.counts);
  // A leader of the release before counts the nodes of all steps together.
  const faults = JSON.parse(row.faults) as RolloutNode[];
  return { evaluatedAt, counts: Array.isArray(counts) ? counts : [], lastReport, faults };
}

/** What the last evaluation has found of the open step; null before the first one, and when the rollout has ended. */
export async function latestCounts(
  db: Db,
  owner: Omit<Keyed, 'key'>,
  record: RolloutRecord,
): Promise<RolloutCounts | null> {
  return countsOfStep(record, await readRolloutCounts(db, { ...owner, key: record.key }));
}

/** The same, of an evaluation that was read. */
export function countsOfStep(
  { state, step, steps }: RolloutRecord,
  last: LastCounts | null,
): RolloutCounts | null {
  if (state !== 'Running' && state !== 'Paused') return null;
  // An older one does not know the nodes to which the step opened the version.
  const isOfStep = last !== null && last.evaluatedAt >= Date.parse(steps[step]?.startedAt ?? '');
  return (isOfStep && last.counts[step]) || null;
}

/** Nothing is written where the configuration or composite was deleted meanwhile. */
export async function saveRolloutCounts(
  db: Db,
  { kind, id, key }: Keyed,
  { evaluatedAt, counts, lastReport }: LastCounts,
): Promise<void> {
  await sql`insert into rollout_counts (kind, resource_id, version, evaluated_at, counts, last_report)
    select ${kind}, id, ${key}, cast(${evaluatedAt} as bigint), ${JSON.stringify(counts)},
      cast(${lastReport} as bigint)
    from ${sql.table(kind)} where id = ${id}
    on conflict (kind, resource_id, version) do update
      set evaluated_at = excluded.evaluated_at, counts = excluded.counts, last_report = excluded.last_report`.execute(
    db,
  );
}

/**
 * Notes nodes, and looks at the reports of those that have taken the version. What a node was before is kept as it was seen
 * first, and the last report since then as it is seen now; of a node in Remediate a Set without errors is passed over, as it
 * says nothing. Nodes that were deleted are skipped. The counts must have been saved before.
 * @param began when the rollout began, in epoch milliseconds; nothing is older of what nodes reported of the version
 * @returns what is known now of those of which something else was known before, by their ids
 */
export async function noteNodes(
  db: Db,
  rolledOut: RolledOut,
  nodes: readonly ToNote[],
  { began, now }: { began: number; now: number },
): Promise<Map<string, Noted>> {
  const { kind, id, key } = rolledOut;
  const isSince = (report: string) => reportsOf(db, rolledOut, report);
  // A report from the future was sent before the clock was set back, and is not the last one.
  const latest = now + MINUTE;
  const { rows } = await sql<NotedRow>`with taken as (
      select n.id, n.configuration_mode as mode, cast(given.value ->> 1 as bigint) as taken_at,
        cast(given.value ->> 2 as integer) as step, cast(given.value ->> 3 as integer) as version,
        cast(given.value ->> 4 as integer) as files
      from ${engineOf(db).rows(nodes)} given join nodes n on n.id = given.value ->> 0
      where exists (select 1 from rollout_counts
        where kind = ${kind} and resource_id = ${id} and version = ${key})),
    found as (
      select t.id, t.taken_at, t.step, t.version, t.files,
        (select b.seq from reports b where t.taken_at is not null and b.node_id = t.id and b.operation in ('Test', 'Set')
          and not (${isSince('b')}) order by b.timestamp desc, b.seq desc limit 1) as before_seq,
        (select l.seq from reports l where t.taken_at is not null and l.node_id = t.id
          and (l.operation = 'Test' or l.operation = 'Set' and (l.had_errors = 1 or t.mode is distinct from 'Remediate'))
          and l.timestamp <= ${latest} and l.timestamp >= case when t.taken_at < ${began} then t.taken_at else ${began} end
          and ${isSince('l')} order by l.timestamp desc, l.seq desc limit 1) as last_seq
      from taken t)
    insert into rollout_nodes
      (kind, resource_id, version, node_id, step, status_before, taken_at, report_seq, operation, status, has_set)
    select ${kind}, ${id}, ${key}, t.id, t.step,
      case when t.taken_at is not null then coalesce(${statusIn('b')}, 'Unknown') end, t.taken_at,
      case when ${statusIn('l')} <> 'Compliant' then l.seq end, l.operation,
      case when l.seq is not null then ${statusIn('l')} end,
      case when l.operation = 'Test' and l.in_desired_state = 0 and (
        select 1 from reports s where s.node_id = t.id and s.operation = 'Set' and s.seq < l.seq
          and s.timestamp >= case when t.taken_at < ${began} then t.taken_at else ${began} end
          and ${isSince('s')}
          order by s.timestamp, s.seq limit 1) is not null then 1 else 0 end
    from found t left join reports b on b.seq = t.before_seq left join reports l on l.seq = t.last_seq
    where true
    on conflict (kind, resource_id, version, node_id) do update
      set step = excluded.step, ${sql.join(ofReport.map((name) => sql`${sql.ref(name)} = ${reported(name)}`))},
        taken_at = coalesce(rollout_nodes.taken_at, excluded.taken_at),
        status_before = coalesce(rollout_nodes.status_before, excluded.status_before)
      where (rollout_nodes.step, ${sql.join(ofReport.map((name) => sql.ref(`rollout_nodes.${name}`)))})
          is distinct from (excluded.step, ${sql.join(ofReport.map(reported))})
        or rollout_nodes.taken_at is null and excluded.taken_at is not null
    returning node_id, status_before, operation, status, has_set`.execute(db);
  return new Map(
    rows.map(({ node_id, status_before: statusBefore, operation, status, has_set }) => [
      node_id,
      { statusBefore, report: toReport(operation, status, has_set) },
    ]),
  );
}

const ofReport = ['operation', 'status', 'has_set', 'report_seq'] as const;

/** One that has taken it and now has something else keeps what it said. */
const reported = (name: (typeof ofReport)[number]) =>
  sql`case when excluded.taken_at is null then ${sql.ref(`rollout_nodes.${name}`)}
    else ${sql.ref(`excluded.${name}`)} end`;

/** Whether a report is of what rolls out: by the checksum that it names, or by its time where nothing is known of that. */
function reportsOf(db: Db, rolledOut: RolledOut, report: string): RawBuilder<unknown> {
  const { name, version, tags } = rolledOut;
  const seq = sql.ref(`${report}.seq`);
  const holdsVersion = version === null ? sql`true` : holding(db, { ...rolledOut, version });
  const files = sql`(select count(*) from manifest_files f where f.checksum = m.checksum
    and f.configuration_name = ${name} and ${engineOf(db).isOneOf('f.tag', tags)})`;
  const holds =
    tags.length === 0 ? holdsVersion : sql`(t.version = 0 or ${holdsVersion}) and ${files} >= t.files`;
  return sql`coalesce((select case when exists (select 1 from manifests m where m.checksum = c.checksum and ${holds})
      then 1 else 0 end from report_checksums c where c.report_seq = ${seq}),
    case when ${sql.ref(`${report}.timestamp`)} >= t.taken_at then 1 else 0 end) = 1`;
}

/** Whether a manifest holds the version: it is that of it, or one of a composite with it. */
function holding(
  db: Db,
  { kind, name, version }: Pick<RolledOut, 'kind' | 'name'> & { version: string },
): RawBuilder<unknown> {
  const own = sql`m.configuration_name = ${name} and m.version = ${version}
    and m.is_composite = ${kind === 'composites' ? 1 : 0}`;
  // The parts are written by `recordOf` of resolve/manifest-record.ts, in this order of members.
  const part = `{"configurationName":${JSON.stringify(name)},"version":${JSON.stringify(version)},`;
  const isIn = engineOf(db).placeIn(sql`m.content`, part);
  return kind === 'composites' ? sql`(${own})` : sql`(${own} or m.is_composite = 1 and ${isIn} > 0)`;
}

/** As `judgeReport` has it. */
const statusIn = (report: 'b' | 'l') =>
  sql.raw(`case when ${report}.had_errors = 1 then 'Error' when ${report}.in_desired_state = 1 then 'Compliant'
    when ${report}.in_desired_state = 0 then 'NonCompliant' else 'Unknown' end`);

/** Keeps for which nodes a rollout has halted or paused, in place of those before. */
export async function saveFaults(
  db: Db,
  { kind, id, key }: Keyed,
  nodes: readonly RolloutNode[],
): Promise<void> {
  const faults = JSON.stringify(nodes);
  await db
    .updateTable('rollout_counts')
    .set({ faults })
    .where('kind', '=', kind)
    .where('resource_id', '=', id)
    .where('version', '=', key)
    .execute();
}

/** Of which rollouts something is kept, of all configurations and composites. */
export function listKeptRollouts(db: Db): Promise<RolloutKey[]> {
  return db.selectFrom('rollout_counts').select(['kind', 'resource_id', 'version']).execute();
}

/**
 * Deletes some of what is known of the nodes of a rollout.
 * @returns whether nothing of it is left
 */
export async function removeTakers(db: Db, key: RolloutKey, atMost: number): Promise<boolean> {
  const { numAffectedRows } = await sql`delete from rollout_nodes where ${isOf(key)} and node_id in (
    select node_id from rollout_nodes where ${isOf(key)} order by node_id limit ${atMost})`.execute(db);
  return Number(numAffectedRows ?? 0) < atMost;
}

/** Deletes the last counts of a rollout, and with them what is left of its nodes. */
export async function removeRolloutCounts(db: Db, key: RolloutKey): Promise<void> {
  await sql`delete from rollout_counts where ${isOf(key)}`.execute(db);
}

const isOf = ({ kind, resource_id, version }: RolloutKey) =>
  sql`kind = ${kind} and resource_id = ${resource_id} and version = ${version}`;
