/** The fleet in a few numbers. All of them come from counts that triggers keep, or from short ranges of indexes. */

import { sql } from 'kysely';
import type { Db } from './database.ts';
import { TimeCounts } from './node-conditions.ts';
import { LCM_STATUSES, NODE_STATUSES } from './node-tables.ts';
import type { StalenessRule } from './staleness.ts';

/** Of how many configurations the numbers are told. */
const MOST_CONFIGURATIONS = 100;

export async function summarize(db: Db, rule: StalenessRule) {
  const counts = await db.selectFrom('node_counts').selectAll().execute();
  const { unassigned, neverCheckedIn } = await countApart(db);
  const times = new TimeCounts(db, rule);
  return {
    nodes: countOf(counts),
    byStatus: ofEach(NODE_STATUSES, (name) => countOf(counts.filter(({ status }) => status === name))),
    byLcmStatus: ofEach(LCM_STATUSES, (name) => countOf(counts.filter((each) => each.lcm_status === name))),
    unassigned,
    neverCheckedIn,
    stale: await times.stale(),
    certificatesExpiring: await times.certificatesExpiring(),
    configurations: await listConfigurations(db),
  };
}

const countOf = (rows: readonly { count: number }[]) => rows.reduce((sum, { count }) => sum + count, 0);

/** A number for each of the names. */
function ofEach<K extends string>(names: readonly K[], count: (name: K) => number): Record<K, number> {
  return Object.fromEntries(names.map((name) => [name, count(name)])) as Record<K, number>;
}

async function countApart(db: Db) {
  const { rows } = await sql<{ unassigned: number; neverCheckedIn: number }>`
    select coalesce(sum(count) filter (where target_id = ''), 0) as unassigned,
      coalesce(sum(count) filter (where has_called = 0), 0) as "neverCheckedIn"
    from node_cells`.execute(db);
  return rows[0] ?? { unassigned: 0, neverCheckedIn: 0 };
}

/** The configurations and composites of most nodes. */
async function listConfigurations(db: Db) {
  const ofStatus = (status: string) => sql`coalesce(sum(count) filter (where status = ${status}), 0)`;
  const columns = NODE_STATUSES.map((status) => sql`${ofStatus(status)} as ${sql.ref(status)}`);
  const { rows } = await sql<Record<string, number> & { name: string; isComposite: number; nodes: number }>`
    select coalesce(configurations.name, composites.name) as name, assigned.*
    from (select target_id as id, is_composite as "isComposite", sum(count) as nodes, ${sql.join(columns)}
      from node_cells where target_id > '' group by target_id, is_composite) assigned
    left join configurations on "isComposite" = 0 and configurations.id = assigned.id
    left join composites on "isComposite" = 1 and composites.id = assigned.id
    order by nodes desc, 1, "isComposite" limit ${MOST_CONFIGURATIONS}`.execute(db);
  return rows.map(({ name, isComposite, nodes, ...counts }) => ({
    name,
    isComposite: isComposite === 1,
    nodes,
    byStatus: ofEach(NODE_STATUSES, (status) => counts[status] ?? 0),
  }));
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

/** Counts the nodes by what they are. It reads the counts that triggers keep. */
export async function countStates(db: Db, rule: StalenessRule): Promise<StateCounts> {
  const counts = await db.selectFrom('node_counts').select(['status', 'count']).execute();
  const of = (...statuses: readonly string[]) =>
    counts.reduce((sum, { status, count }) => (statuses.includes(status) ? sum + count : sum), 0);
  return {
    nodes: of('Compliant', 'NonCompliant', 'Error', 'Unknown'),
    compliant: of('Compliant'),
    nonCompliant: of('NonCompliant'),
    error: of('Error'),
    unknown: of('Unknown'),
    stale: await new TimeCounts(db, rule).stale(),
  };
}
