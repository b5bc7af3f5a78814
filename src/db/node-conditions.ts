/** What a filter asks of nodes beside what their cells tell: parts of names, tags, staleness, the end of certificates. */

import { type SqlBool, sql } from 'kysely';
import { DAY } from '../lib/clock.ts';
import { Pace } from '../lib/pace.ts';
import type { Database, Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import { ANY, countMet, type Met, type Range, type Source } from './node-slices.ts';
import { isStale, isStaleBy, type StalenessRule } from './staleness.ts';

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

/** What is asked of nodes. */
export interface NodeConditions {
  /** Any part of the name, in any case. */
  fqdn?: string | undefined;
  /** The ids of tags, each of which the node must have. */
  scopeValueId?: readonly string[] | undefined;
  withoutScopeTypeId?: string | undefined;
  stale?: boolean | undefined;
  certificateExpiring?: boolean | undefined;
  /** The key by which they have registered last. */
  registrationKeyId?: string | undefined;
  /** Whether their machines have not come yet. */
  awaiting?: boolean | undefined;
}

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
  slice: 250,
  counted: 10_000,
};

export interface ListMoment {
  rule: StalenessRule;
  pace: Pace;
  limits: ListLimits;
  /** How many nodes there are. */
  nodes: number;
}

/** @param caller is the one in whose turn names are read */
export async function conditionsOf(
  database: Database,
  filter: NodeConditions,
  moment: ListMoment,
  caller: string,
): Promise<Condition[]> {
  const { read } = database;
  const { fqdn, scopeValueId = [], withoutScopeTypeId, stale, certificateExpiring } = filter;
  const { registrationKeyId, awaiting } = filter;
  const conditions: Condition[] = [];
  if (fqdn) conditions.push(await hasName(database, fqdn, { most: moment.limits.names, caller }));
  for (const id of new Set(scopeValueId)) conditions.push(await isTagged(read, id));
  if (withoutScopeTypeId !== undefined)
    conditions.push(await hasNoTagOf(read, withoutScopeTypeId, moment.nodes));
  if (stale !== undefined) conditions.push(orNot(stale, await isStaleNow(read, moment), moment));
  if (registrationKeyId !== undefined) conditions.push(await hasKey(read, registrationKeyId, moment));
  if (awaiting !== undefined) conditions.push(orNot(awaiting, await isAwaiting(read, moment), moment));
  if (certificateExpiring !== undefined)
    conditions.push(orNot(certificateExpiring, await isExpiring(read, moment), moment));
  return conditions;
}

function orNot(wanted: boolean, condition: Condition & { source: Source }, { nodes }: ListMoment): Condition {
  if (wanted) return condition;
  return { count: nodes - condition.count, met: sql<SqlBool>`not ${condition.met}`, others: condition };
}

async function hasName(
  { read, nodeNames }: Database,
  part: string,
  { most, caller }: { most: number; caller: string },
): Promise<Condition> {
  const { total, names } = await nodeNames.find(part, most, caller);
  const met = sql<SqlBool>`${engineOf(read).placeIn(sql`nodes.fqdn`, part.toLowerCase())} > 0`;
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

async function hasNoTagOf(db: Db, scopeTypeId: string, nodes: number): Promise<Condition> {
  const rows = await db
    .selectFrom('tag_counts')
    .innerJoin('scope_values', 'scope_values.id', 'tag_counts.scope_value_id')
    .select('tag_counts.count')
    .where('scope_values.scope_type_id', '=', scopeTypeId)
    .execute();
  // A node has at most one tag of a type.
  const tagged = rows.reduce((sum, { count }) => sum + count, 0);
  return {
    count: nodes - tagged,
    met: sql`not exists (select 1 from node_tags where node_id = nodes.id and scope_type_id = ${scopeTypeId})`,
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
  const late = isStaleBy({ lastCheckIn: 'last_check_in', interval: 'interval_ms' }, rule);
  const range: Range = {
    ...({ table: 'node_check_ins', key: 'last_check_in', isFalling: false } as const),
    where:
      typeof shortest?.interval === 'number'
        ? sql`last_check_in <= ${Math.floor(now - shortest.interval * stalenessMultiplier)} and ${late}`
        : sql`false`,
  };
  const count = await countIn(db, range, moment);
  return { count, met: isStale(rule), source: { kind: 'ranges', ranges: [range] } };
}

/** Nodes whose certificates meet the condition, in the order of their end. */
const byCertificate = (where: Met): Range => ({
  ...({ table: 'nodes', key: 'certificate_end', isFalling: false } as const),
  where,
});

async function isExpiring(db: Db, moment: ListMoment): Promise<Condition & { source: Source }> {
  const end = moment.rule.now + EXPIRING;
  const range = byCertificate(sql`certificate_end <= ${end}`);
  const count = await countIn(db, range, moment);
  return {
    count,
    met: sql`coalesce(nodes.certificate_end <= ${end}, false)`,
    source: { kind: 'ranges', ranges: [range] },
  };
}

/** Nodes that have registered last by this key. */
const hasKey = (db: Db, keyId: string, moment: ListMoment) =>
  inIndex(
    db,
    {
      where: sql`registration_key_id = ${keyId}`,
      met: sql`coalesce(nodes.registration_key_id = ${keyId}, false)`,
    },
    moment,
  );

/** The condition is written out, because an index for a part of the rows is not found by parameters. */
const isAwaiting = (db: Db, moment: ListMoment) =>
  inIndex(db, { where: sql`is_awaiting = 1`, met: sql`nodes.is_awaiting = 1` }, moment);

/** A condition for which there is an index of nodes by name. */
async function inIndex(
  db: Db,
  { where, met }: Pick<Range, 'where'> & Pick<Condition, 'met'>,
  moment: ListMoment,
): Promise<Condition & { source: Source }> {
  const byName: Range = { ...({ table: 'nodes', key: null, isFalling: false } as const), where };
  const count = await countIn(db, byName, moment);
  return { count, met, source: { kind: 'ranges', ranges: [byName] }, byName };
}

/** How many nodes a range has. They are counted in the index alone. */
const countIn = (db: Db, range: Range, { pace, limits }: ListMoment) =>
  countMet(db, { kind: 'ranges', ranges: [range] }, [], limits.counted, pace);

/**
 * The only condition as a range by name, where so few nodes meet it that the database sorts their names in a moment. That
 * takes less time than to look at nodes one by one.
 * @param order the order that is asked for
 */
export function shortRange(
  [only, ...more]: readonly Condition[],
  order: Range,
  most: number,
): Range | undefined {
  if (only?.source?.kind !== 'ranges' || more.length > 0 || only.count > most) return undefined;
  const [range, ...others] = only.source.ranges;
  const isByName = order.table === 'nodes' && order.key === null;
  if (range === undefined || others.length > 0 || !isByName) return undefined;
  return { ...range, key: null, isFalling: order.isFalling };
}

/** Counts nodes by what is so at a moment. All of them are counted in indexes alone. */
export class TimeCounts {
  private readonly db: Db;
  private readonly moment: ListMoment;

  constructor(db: Db, rule: StalenessRule) {
    this.db = db;
    this.moment = { rule, pace: new Pace(), limits: LIMITS, nodes: 0 };
  }

  /** How many nodes are stale. */
  async stale(): Promise<number> {
    return (await isStaleNow(this.db, this.moment)).count;
  }

  /** How many nodes have a certificate that ends within 30 days or has ended. */
  async certificatesExpiring(): Promise<number> {
    return (await isExpiring(this.db, this.moment)).count;
  }

  /** How many nodes have a certificate that ends after the first time and not after the second (epoch milliseconds). */
  certificatesEnding(after: number, until: number): Promise<number> {
    const where: Met = sql`certificate_end > ${after} and certificate_end <= ${until}`;
    return countIn(this.db, byCertificate(where), this.moment);
  }
}

/** A condition whose nodes can be gone through. */
export type From = Condition & { source: Source };

/** All nodes. */
export const WHOLE: From = {
  count: Number.POSITIVE_INFINITY,
  met: ANY,
  source: { kind: 'ranges', ranges: [{ table: 'nodes', where: ANY, key: null, isFalling: false }] },
};

export const costOf = (condition: Condition | undefined) =>
  condition?.source ? condition.count : Number.POSITIVE_INFINITY;

const hasSource = (condition: Condition): condition is From => condition.source !== undefined;

/** The condition that fewest nodes meet, of those whose nodes can be gone through. */
export function fewestOf(conditions: readonly Condition[]): From | undefined {
  return conditions.filter(hasSource).sort((a, b) => a.count - b.count)[0];
}
