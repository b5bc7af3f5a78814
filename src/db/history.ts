/**
 * Lists of what happened at a time, newest first, of which a caller may ask for a period. Their tables have the columns
 * `timestamp` and `seq`; `seq` rises with the order of writing.
 */

import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { countRows, type Page, type PageQuery } from './rows.ts';
import type { Schema } from './schema.ts';

/** Epoch milliseconds of the first and the last moment of a period. Absent ones leave it open. */
export interface Period {
  from?: number | undefined;
  to?: number | undefined;
}

type Query<T extends keyof Schema, O> = SelectQueryBuilder<Schema, T, O>;

/** Keeps the rows of a period, both of its ends included. */
export function within<T extends keyof Schema, O>(query: Query<T, O>, { from, to }: Period): Query<T, O> {
  const timestamp = sql.ref<number>('timestamp');
  const begun = from === undefined ? query : query.where(timestamp, '>=', from);
  return to === undefined ? begun : begun.where(timestamp, '<=', to);
}

/** Keeps the rows that have each given value in its column. Undefined is no value, null is one. */
export function whereGiven<T extends keyof Schema, O>(
  query: Query<T, O>,
  columns: { [C in keyof Schema[T]]?: unknown },
): Query<T, O> {
  return Object.entries(columns)
    .filter(([, value]) => value !== undefined)
    .reduce(
      (rows, [column, value]) => rows.where(sql.ref(column), value === null ? 'is' : '=', value),
      query,
    );
}

/** Orders rows by time; of two rows of the same millisecond the one that was written last comes first. */
export function newestFirst<D, T extends keyof D, O>(query: SelectQueryBuilder<D, T, O>, key = 'seq') {
  return query.orderBy(sql.ref('timestamp'), 'desc').orderBy(sql.ref(key), 'desc');
}

/**
 * One page of the rows that match, newest first. Matching, counting and skipping can stay within an index, because
 * whole rows are read only for the page.
 * @param rows selects the columns that are shown, from the same table
 */
export async function newestPage<T extends keyof Schema, R extends keyof Schema, O>(
  matching: Query<T, object>,
  rows: Query<R, O>,
  { take, skip }: PageQuery,
): Promise<Page<O>> {
  const seq = sql.ref<number>('seq');
  const shown = newestFirst(matching.select(seq.as('seq')))
    .limit(take)
    .offset(skip);
  const total = await countRows(matching);
  return { rows: (await newestFirst(rows.where(seq, 'in', shown)).execute()) as O[], total };
}

/** The place of a row in such a list. */
export interface Place {
  timestamp: number;
  seq: number;
}

/** Reading so many rows takes a millisecond or two. */
export const SLICE = 250;

/** Keeps the rows that come behind a place in the list. Undefined is the place before the first one. */
export function behind<T extends keyof Schema, O>(query: Query<T, O>, place: Place | undefined): Query<T, O> {
  if (place === undefined) return query;
  const { timestamp, seq } = place;
  // The first condition alone finds the place in an index, whatever SQLite makes of the second.
  return query
    .where(sql.ref<number>('timestamp'), '<=', timestamp)
    .where(sql<SqlBool>`(timestamp, seq) < (${timestamp}, ${seq})`);
}

/**
 * All rows of such a list, in slices. What is written or deleted meanwhile moves no row: each slice begins behind the
 * last row of the one before it.
 * @param next gives the first rows behind a place, up to `SLICE`
 */
export async function* slicesOf<R extends Place>(
  next: (place: Place | undefined) => Promise<R[]>,
): AsyncGenerator<R[]> {
  for (let place: Place | undefined; ; ) {
    const rows = await next(place);
    if (rows.length > 0) yield rows;
    if (rows.length < SLICE) return;
    place = rows.at(-1);
  }
}

/** All rows that match, newest first, in slices. The parameters are those of `newestPage`. */
export function newestSlices<T extends keyof Schema, R extends keyof Schema, O extends Place>(
  matching: Query<T, object>,
  rows: Query<R, O>,
): AsyncGenerator<O[]> {
  const seq = sql.ref<number>('seq');
  return slicesOf((place) => {
    const shown = newestFirst(behind(matching, place).select(seq.as('seq'))).limit(SLICE);
    return newestFirst(rows.where(seq, 'in', shown)).execute() as Promise<O[]>;
  });
}
