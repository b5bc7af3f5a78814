/**
 * Goes through nodes in the order of an index, in slices, between which polls are answered. Which nodes meet a condition
 * is asked together with the slice.
 */

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Pace } from '../lib/pace.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';

export type Met = RawBuilder<SqlBool>;

/** Nodes in the order of an index, which gives their names: by the key, and those of one key by name. */
export interface Range {
  table: 'nodes' | 'node_tags' | 'node_check_ins';
  where: Met;
  /** Null where the name alone gives the order. */
  key: 'last_check_in' | 'created_at' | 'certificate_end' | null;
  /** Whether the key falls. Nodes of one key rise by name. Names fall only where they stand alone. */
  isFalling: boolean;
}

/** Where nodes come from: from indexes one after the other, or from a list of their ids or names. */
export type Source =
  | { kind: 'ranges'; ranges: readonly Range[] }
  | { kind: 'ids' | 'names'; values: readonly string[] };

/** A node that was gone through. */
export interface Visited {
  fqdn: string;
  /** The value by which the list is sorted. */
  sortKey: string | number | null;
  isMet: boolean;
}

interface Place {
  key: string | number | null;
  fqdn: string;
}

export interface Wish {
  /** What is asked of each node, whose row is `nodes`. */
  met: readonly Met[];
  /** Null where the name is it. */
  sortKey: RawBuilder<string | number | null> | null;
}

/** Always true. */
export const ANY: Met = sql<SqlBool>`true`;

/** @param size how many nodes the next slice has */
export async function* visit(
  db: Db,
  source: Source,
  wish: Wish,
  size: () => number,
): AsyncGenerator<Visited[]> {
  if (source.kind === 'ranges') {
    for (const range of source.ranges) yield* visitRange(db, range, wish, size);
    return;
  }
  const { kind, values } = source;
  const [nodes, column] = kind === 'ids' ? [sql`nodes`, sql`nodes.id`] : [byName(db), sql`nodes.fqdn`];
  for (let at = 0; at < values.length; ) {
    const slice = values.slice(at, at + size());
    at += slice.length;
    const given = engineOf(db).texts(slice);
    const { rows } = await sql<Visited>`select ${columns(wish)}
      from ${given} given cross join ${nodes} where ${column} = given.value`.execute(db);
    yield rows;
  }
}

/**
 * How many nodes of a source meet all conditions. Only numbers leave the database, so this costs less than a visit.
 * @param most how many nodes are counted at a time
 */
export async function countMet(
  db: Db,
  source: Source,
  met: readonly Met[],
  most: number,
  pace: Pace,
): Promise<number> {
  let total = 0;
  for await (const names of namesIn(db, source, most)) {
    const found =
      met.length === 0
        ? names
        : sql`${names} cross join ${byName(db)} where nodes.fqdn = names.fqdn and ${conjunction(met)}`;
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${found}`.execute(db);
    total += rows[0]?.count ?? 0;
    if (pace.isDue) await pace.rest();
  }
  return total;
}

/** The names of a source as tables, which have so many rows each, and more where many have the same key. */
async function* namesIn(db: Db, source: Source, most: number): AsyncGenerator<RawBuilder<unknown>> {
  if (source.kind !== 'ranges') {
    for (let at = 0; at < source.values.length; at += most)
      yield sql`(select value as fqdn from ${engineOf(db).texts(source.values.slice(at, at + most))} given) names`;
    return;
  }
  for (const { table, where, key } of source.ranges) {
    const column = sql.ref(key ?? 'fqdn');
    for (let after: string | number | null = null; ; ) {
      // The bounds of the slice stand first, because of several bounds SQLite goes by the first.
      const rest: Met = after === null ? where : sql`${column} > ${after} and ${where}`;
      const { rows } = await sql<{ end: string | number }>`select ${column} as end from ${sql.table(table)}
        where ${rest} order by ${column} limit 1 offset ${most}`.execute(db);
      const end: string | number | null = rows[0]?.end ?? null;
      const slice: Met = end === null ? rest : sql`${column} <= ${end} and ${rest}`;
      yield sql`(select fqdn from ${sql.table(table)} where ${slice}) names`;
      if (end === null) break;
      after = end;
    }
  }
}

async function* visitRange(db: Db, range: Range, wish: Wish, size: () => number): AsyncGenerator<Visited[]> {
  for (let place: Place | null = null; ; ) {
    const limit = Math.max(1, Math.ceil(size()));
    const found = await readSlice(db, range, wish, place, limit);
    if (found.length > 0) yield found;
    if (found.length < limit) return;
    place = found.at(-1) ?? null;
  }
}

/** The names of a page of a range, of which every node is taken. */
export async function readPage(db: Db, range: Range, { take, skip }: { take: number; skip: number }) {
  const { rows } = await sql<Place>`${sliceOf(range, range.where, take, skip)}`.execute(db);
  return rows.map(({ fqdn }) => fqdn);
}

/** The ids of the nodes with these names, in their order. Nodes that are gone are left out. */
export async function readIds(db: Db, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string; fqdn: string }>`select nodes.id, nodes.fqdn
    from ${engineOf(db).texts(names)} given cross join ${byName(db)}
    where nodes.fqdn = given.value`.execute(db);
  const ids = new Map(rows.map(({ id, fqdn }) => [fqdn, id]));
  return names.flatMap((name) => ids.get(name) ?? []);
}

/** The rows after a place. First come those of the same key, because SQLite cannot seek in two directions at once. */
async function readSlice(db: Db, range: Range, wish: Wish, place: Place | null, limit: number) {
  const { where, isFalling } = range;
  if (place === null) return readRows(db, range, wish, where, limit);
  const beyond = (column: string, value: Place[keyof Place]): Met =>
    sql`${sql.ref(column)} ${sql.raw(isFalling ? '<' : '>')} ${value}`;
  if (range.key === null)
    return readRows(db, range, wish, sql`${where} and ${beyond('fqdn', place.fqdn)}`, limit);
  const same: Met = sql`${where} and ${sql.ref(range.key)} = ${place.key} and fqdn > ${place.fqdn}`;
  const rows = await readRows(db, range, wish, same, limit);
  if (rows.length === limit) return rows;
  const after: Met = sql`${where} and ${beyond(range.key, place.key)}`;
  return [...rows, ...(await readRows(db, range, wish, after, limit - rows.length))];
}

async function readRows(db: Db, range: Range, wish: Wish, where: Met, limit: number) {
  const slice = sliceOf(range, where, limit, 0);
  if (wish.met.length === 0 && wish.sortKey === null) {
    const { rows } = await sql<Place>`${slice}`.execute(db);
    return rows.map(({ key, fqdn }) => ({ key, fqdn, sortKey: fqdn, isMet: true }));
  }
  const { rows } = await sql<Visited & Place>`select ${columns(wish)}, slice.key from (${slice}) slice
    cross join ${byName(db)} where nodes.fqdn = slice.fqdn order by ${orderOf(range, 'slice.')}`.execute(db);
  return rows;
}

function sliceOf(range: Range, where: Met, take: number, skip: number) {
  const key = range.key === null ? sql`null` : sql.ref(range.key);
  return sql`select ${key} as key, fqdn from ${sql.table(range.table)} where ${where}
    order by ${orderOf(range, '')} limit ${take} offset ${skip}`;
}

/** @param slice the name before the columns */
function orderOf({ key, isFalling }: Range, slice: '' | 'slice.') {
  const direction = sql.raw(isFalling ? 'desc' : 'asc');
  const fqdn = sql.ref(`${slice}fqdn`);
  return key === null ? sql`${fqdn} ${direction}` : sql`${sql.ref(`${slice}key`)} ${direction}, ${fqdn}`;
}

/** This index has all that most conditions need, so that few pages are read. */
const byName = (db: Db) => sql`nodes ${engineOf(db).indexedBy('nodes_in_lists')}`;

const columns = ({ met, sortKey }: Wish) =>
  sql`nodes.fqdn, ${sortKey ?? sql`nodes.fqdn`} as "sortKey", ${conjunction(met)} as "isMet"`;

/** Whether all of these are met. */
const conjunction = (met: readonly Met[]): Met =>
  met.length === 0 ? ANY : sql`(${sql.join(met, sql` and `)})`;
