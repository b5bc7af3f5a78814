/** What a filter asks of nodes beside what their cells tell: parts of names, tags, staleness, the end of certificates. */

import { type SqlBool, sql } from 'kysely';
import type { z } from 'zod';
import type { Database, Db } from '../../db/open.ts';
import { DAY } from '../../lib/clock.ts';
import type { Pace } from '../../lib/pace.ts';
import type { Met, Range, Source } from './list-slices.ts';
import type { NodeFilter } from './schemas.ts';
import { isStale, type StalenessRule } from './staleness.ts';

/** A condition on nodes, with what is known about who meets it. */
export interface Condition {
  /** How many nodes meet it. */
  count: number;
  met: Met;
  /** All nodes that meet it; absent where they are not found without going through the whole fleet. */
  source?: Source;
  /** Those who do not meet it, where they are found more quickly. */
  others?: Condition & { source: Source };
  /** Set where the source has the nodes by name. */
  byName?: Range;
}

type Filter = z.output<typeof NodeFilter>;

/** A certificate that ends within this time is expiring; one that has ended is, too. */
const EXPIRING = 30 * DAY;
/** How much is done at a time. */
export interface ListLimits {
  /** So few nodes are all read and sorted, without any thought about what would be quicker. */
  few: number;
  /** The same where the total would have to be found by going through them anyway. */
  many: number;
  /** So many nodes are found by a part of their names. Where there are more, it is quicker to go through the fleet. */
  names: number;
  /** Rows of several cells that one statement may read. This takes some milliseconds. */
  merged: number;
  /** Nodes that are looked at together. This takes a millisecond or two. */
  slice: number;
  /** Rows of an index that are counted together. This takes less than a millisecond. */
  counted: number;
}

export const LIMITS: ListLimits = {
  few: 300,
  many: 2_000,
  names: 2_000,
  merged: 5_000,
  slice: 500,
  counted: 10_000,
};

export interface ListMoment {
  rule: StalenessRule;
  pace: Pace;
  limits: ListLimits;
  /** How many nodes there are. */
  nodes: number;
}

export async function conditionsOf(
  database: Database,
  { fqdn, scopeValueId, stale, certificateExpiring }: Filter,
  moment: ListMoment,
): Promise<Condition[]> {
  const { read } = database;
  const conditions: Condition[] = [];
  if (fqdn) conditions.push(await hasName(database, fqdn, moment.limits.names));
  if (scopeValueId !== undefined) conditions.push(await isTagged(read, scopeValueId.toLowerCase()));
  if (stale !== undefined) conditions.push(orNot(stale, await isStaleNow(read, moment), moment));
  if (certificateExpiring !== undefined)
    conditions.push(orNot(certificateExpiring, await isExpiring(read, moment), moment));
  return conditions;
}

function orNot(wanted: boolean, condition: Condition & { source: Source }, { nodes }: ListMoment): Condition {
  if (wanted) return condition;
  return { count: nodes - condition.count, met: sql<SqlBool>`not ${condition.met}`, others: condition };
}

async function hasName({ nodeNames }: Database, part: string, most: number): Promise<Condition> {
  const { total, names } = await nodeNames.find(part, most);
  const met = sql<SqlBool>`instr(nodes.fqdn, ${part.toLowerCase()}) > 0`;
  return { count: total, met, ...(names && { source: { kind: 'names', values: names } }) };
}

async function isTagged(db: Db, id: string): Promise<Condition> {
  const row = await db
    .selectFrom('tag_counts')
    .select('count')
    .where('scope_value_id', '=', id)
    .executeTakeFirst();
  const byName: Range = {
    ...({ table: 'node_tags', key: null, isFalling: false } as const),
    where: sql`scope_value_id = ${id}`,
  };
  return {
    count: row?.count ?? 0,
    // By name it is found near the one before it.
    met: sql`exists (select 1 from node_tags where scope_value_id = ${id} and fqdn = nodes.fqdn)`,
    source: { kind: 'ranges', ranges: [byName] },
    byName,
  };
}

/** Counts the stale nodes among those who could be, as the shortest interval tells. */
async function isStaleNow(db: Db, moment: ListMoment): Promise<Condition & { source: Source }> {
  const { rule } = moment;
  const { now, stalenessMultiplier } = rule;
  const shortest = await db
    .selectFrom('nodes')
    .select(({ fn }) => fn.min('configuration_mode_interval_ms').as('interval'))
    .executeTakeFirst();
  const late = sql<SqlBool>`${now} - last_check_in > interval_ms * ${stalenessMultiplier}`;
  const range: Range = {
    ...({ table: 'node_check_ins', key: 'last_check_in', isFalling: false } as const),
    where:
      typeof shortest?.interval === 'number'
        ? sql`last_check_in <= ${now - shortest.interval * stalenessMultiplier} and ${late}`
        : sql`false`,
  };
  const count = await countIn(db, range, moment);
  return { count, met: isStale(rule), source: { kind: 'ranges', ranges: [range] } };
}

async function isExpiring(db: Db, moment: ListMoment): Promise<Condition & { source: Source }> {
  const end = moment.rule.now + EXPIRING;
  const range: Range = {
    ...({ table: 'nodes', key: 'certificate_end', isFalling: false } as const),
    where: sql`certificate_end <= ${end}`,
  };
  const count = await countIn(db, range, moment);
  return {
    count,
    met: sql`coalesce(nodes.certificate_end <= ${end}, false)`,
    source: { kind: 'ranges', ranges: [range] },
  };
}

/** How many rows a range has. It is counted in the index alone, in slices. */
async function countIn(db: Db, { table, where, key }: Range, { pace, limits }: ListMoment) {
  const column = sql.ref(key ?? '');
  let total = 0;
  for (let after: number | null = null; ; ) {
    const rest: Met = after === null ? where : sql`${where} and ${column} > ${after}`;
    const { rows: ends } = await sql<{ end: number }>`select ${column} as end from ${sql.table(table)}
      where ${rest} order by ${column} limit 1 offset ${limits.counted}`.execute(db);
    const end = ends[0]?.end ?? null;
    const slice: Met = end === null ? rest : sql`${rest} and ${column} <= ${end}`;
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}
      where ${slice}`.execute(db);
    total += rows[0]?.count ?? 0;
    if (end === null) return total;
    after = end;
    if (pace.isDue) await pace.rest();
  }
}

/** How many nodes are stale now, and how many have a certificate that ends within 30 days or has ended. */
export async function countByTime(db: Db, rule: StalenessRule, pace: Pace) {
  const moment = { rule, pace, limits: LIMITS, nodes: 0 };
  return {
    stale: (await isStaleNow(db, moment)).count,
    certificatesExpiring: (await isExpiring(db, moment)).count,
  };
}
