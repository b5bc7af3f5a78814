/** Finds what has a text in its name: first the names that begin with it, then the others, each by name. */

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { Pace } from '../lib/pace.ts';
import type { Database, Db } from './database.ts';
import { engineOf } from './engine-of.ts';

export interface Found {
  id: string;
  name: string;
  /** What the name is looked for and ordered by. */
  key: string;
  detail: string | null;
}

/** A kind of things with names. The column of the key has an index. */
export interface Named {
  table: 'nodes' | 'configurations' | 'composites' | 'users' | 'groups' | 'scope_values';
  name: string;
  key: string;
  /** SQL for what is shown beside the name. */
  detail: RawBuilder<string | null>;
  /** The form of a text that keys have. */
  toKey(text: string): string;
  /** It admits only the rows that meet it. */
  where?: RawBuilder<SqlBool>;
}

/** Looking at so many names takes a millisecond or so. */
const LOOKED_AT = 1_000;
/** Of more nodes than these the first by name are found sooner by going through the names in their order. */
const MOST_NODES = 1_000;
/** It comes behind all that can follow in a name. */
const LAST = '\u{10ffff}';

/** Those whose name begins with the text, by name, up to `take`. */
export function findBeginnings(db: Db, named: Named, text: string, take: number): Promise<Found[]> {
  const key = sql.ref(named.key);
  const wanted = named.toKey(text);
  return rowsOf(db, named, sql`${key} >= ${wanted} and ${key} < ${wanted + LAST}`, take);
}

/** Those that have the text within their name, but not at its beginning, by name, up to `take`. */
export async function findParts(
  { read, nodeNames }: Pick<Database, 'read' | 'nodeNames'>,
  named: Named,
  text: string,
  { take, caller }: { take: number; caller: string },
): Promise<Found[]> {
  const wanted = named.toKey(text);
  const isWithin = sql<SqlBool>`${engineOf(read).placeIn(sql.ref(named.key), wanted)} > 1`;
  if (named.table !== 'nodes') return goThrough(read, named, isWithin, take);
  const { names } = await nodeNames.find(wanted, MOST_NODES, caller);
  if (names === null) return goThrough(read, named, isWithin, take);
  const isFound = engineOf(read).isOneOf('fqdn', names);
  return rowsOf(read, named, sql`${isFound} and ${isWithin}`, take);
}

/** Goes through the names in their order, in slices between which polls are answered. */
async function goThrough(
  db: Db,
  named: Named,
  isWithin: RawBuilder<SqlBool>,
  take: number,
): Promise<Found[]> {
  const pace = new Pace();
  const found: Found[] = [];
  const key = sql.ref(named.key);
  for (let after = ''; found.length < take; ) {
    const last = await endOfSlice(db, named, after);
    const slice = sql`${key} > ${after} and ${key} <= ${last ?? LAST} and ${isWithin}`;
    found.push(...(await rowsOf(db, named, slice, take - found.length)));
    if (last === undefined) break;
    after = last;
    if (pace.isDue) await pace.rest();
  }
  return found;
}

/** The last key of the next names; undefined where there are fewer left. */
async function endOfSlice(db: Db, { table, key }: Named, after: string): Promise<string | undefined> {
  const { rows } = await sql<{ key: string }>`
    select ${sql.ref(key)} as key from ${sql.table(table)} where ${sql.ref(key)} > ${after}
    order by ${sql.ref(key)} limit 1 offset ${LOOKED_AT - 1}`.execute(db);
  return rows[0]?.key;
}

async function rowsOf(
  db: Db,
  { table, name, key, detail, where = sql`true` }: Named,
  condition: RawBuilder<unknown>,
  take: number,
): Promise<Found[]> {
  const { rows } = await sql<Found>`
    select id, ${sql.ref(name)} as name, ${sql.ref(key)} as key, ${detail} as detail from ${sql.table(table)}
    where ${condition} and ${where}
    order by ${sql.ref(key)}, id limit ${take}`.execute(db);
  return rows;
}
