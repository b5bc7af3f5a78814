/**
 * The fleet in a few numbers. They are counted when they are asked for, in a thread: with 100,000 nodes that takes some tens of
 * milliseconds.
 */

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from './database.ts';
import { endsUntil, isExpiring, nodesWithCalls } from './node-list.ts';
import { EVIDENCE, type Evidence, LCM_STATUSES, NODE_STATUSES } from './node-tables.ts';
import { type Reading, rowQuery } from './reading.ts';
import { isStale, type StalenessRule } from './staleness.ts';

/** Of how many configurations the numbers are told. */
const MOST_CONFIGURATIONS = 100;

export type FleetSummary = ReturnType<typeof readingSummary> extends Reading<infer S> ? S : never;

export function* readingSummary(db: Db, rule: StalenessRule) {
  const counts = yield* readingStatuses();
  const met = yield* readingCounts(db, {
    stale: isStale(rule),
    certificatesExpiring: isExpiring(rule),
    unassigned: sql`nodes.assigned_id is null`,
    neverCheckedIn: sql`node_check_ins.number is null`,
  });
  return {
    nodes: countOf(counts),
    byStatus: ofEach(NODE_STATUSES, (name) => countOf(counts.filter(({ status }) => status === name))),
    byLcmStatus: ofEach(LCM_STATUSES, (name) => countOf(counts.filter((each) => each.lcmStatus === name))),
    ...met,
    configurations: yield* readingConfigurations(db),
  };
}

const countOf = (rows: readonly { count: number }[]) => rows.reduce((sum, { count }) => sum + count, 0);

/** A number for each of the names. */
function ofEach<K extends string>(names: readonly K[], count: (name: K) => number): Record<K, number> {
  return Object.fromEntries(names.map((name) => [name, count(name)])) as Record<K, number>;
}

export interface StatusCount {
  status: string;
  lcmStatus: string;
  count: number;
}

/** How many nodes have each pair of statuses. */
function* readingStatuses(): Reading<StatusCount[]> {
  const counts: StatusCount[] = [];
  yield {
    sql: 'select status, lcm_status, count(*) from nodes group by 1, 2 order by 1, 2',
    take: ([status, lcmStatus, count]: [string, string, number]) => counts.push({ status, lcmStatus, count }),
  };
  return counts;
}

/** How many nodes meet each condition. All of them are asked of each node, so the fleet is gone through once. */
function* readingCounts<K extends string>(
  db: Db,
  conditions: Record<K, RawBuilder<SqlBool>>,
): Reading<Record<K, number>> {
  const names = Object.keys(conditions) as K[];
  const columns = names.map((name) => sql`count(*) filter (where ${conditions[name]})`);
  let found: readonly number[] = [];
  yield rowQuery(db, sql`select ${sql.join(columns)} from ${nodesWithCalls(db)}`, (row: number[]) => {
    found = row;
  });
  return ofEach(names, (name) => found[names.indexOf(name)] ?? 0);
}

interface ConfigurationNodes {
  name: string;
  isComposite: boolean;
  nodes: number;
  byStatus: Record<(typeof NODE_STATUSES)[number], number>;
}

/** The configurations and composites of most nodes. */
function* readingConfigurations(db: Db): Reading<ConfigurationNodes[]> {
  const found: ConfigurationNodes[] = [];
  const ofStatus = NODE_STATUSES.map((status) => sql`count(*) filter (where status = ${status})`);
  const query = sql`select coalesce(configurations.name, composites.name) as name, composites.id is not null, assigned.*
    from (select assigned_id, count(*) as nodes, ${sql.join(ofStatus)}
      from nodes where assigned_id is not null group by assigned_id) assigned
    left join configurations on configurations.id = assigned_id left join composites on composites.id = assigned_id
    order by nodes desc, 1, 2 limit ${MOST_CONFIGURATIONS}`;
  type Row = [name: string, isComposite: number | boolean, id: string, nodes: number, ...ofStatus: number[]];
  yield rowQuery(db, query, ([name, isComposite, _id, nodes, ...counts]: Row) => {
    const byStatus = ofEach(NODE_STATUSES, (status) => counts[NODE_STATUSES.indexOf(status)] ?? 0);
    found.push({ name, isComposite: Boolean(isComposite), nodes, byStatus });
  });
  return found;
}

/** Nodes by what they are. A stale node counts by its status too. */
export interface StateCounts {
  nodes: number;
  compliant: number;
  nonCompliant: number;
  error: number;
  unknown: number;
  stale: number;
}

export function* readingStateCounts(db: Db, rule: StalenessRule): Reading<StateCounts> {
  const counts = yield* readingStatuses();
  const of = (wanted: string) => countOf(counts.filter(({ status }) => status === wanted));
  return {
    nodes: countOf(counts),
    compliant: of('Compliant'),
    nonCompliant: of('NonCompliant'),
    error: of('Error'),
    unknown: of('Unknown'),
    ...(yield* readingCounts(db, { stale: isStale(rule) })),
  };
}

/** How many nodes have each pair of statuses, and of how many it is known by what evidence what they run. */
export function* readingKinds(db: Db): Reading<{ nodes: StatusCount[]; running: Record<Evidence, number> }> {
  const evidence = EVIDENCE.map((name) => [name, sql<SqlBool>`nodes.evidence = ${name}`] as const);
  const conditions = Object.fromEntries(evidence) as Record<Evidence, RawBuilder<SqlBool>>;
  return { nodes: yield* readingStatuses(), running: yield* readingCounts(db, conditions) };
}

/**
 * How many nodes are stale, and how many have a certificate that ends by each of these times and not by the one before it.
 * @param until epoch milliseconds, rising
 */
export function* readingTimes(
  db: Db,
  { rule, until }: { rule: StalenessRule; until: readonly number[] },
): Reading<{ stale: number; ending: number[] }> {
  const ends = until.map((time, at) => [`by${at}`, endsUntil(time)] as const);
  const { stale = 0, ...counts } = yield* readingCounts<string>(db, {
    stale: isStale(rule),
    ...Object.fromEntries(ends),
  });
  return { stale, ending: until.map((_, at) => (counts[`by${at}`] ?? 0) - (counts[`by${at - 1}`] ?? 0)) };
}
