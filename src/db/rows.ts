/** Row queries that all tables share: one page with the count of all, and the queries of a table whose key is `id`. */

import type { Insertable, Kysely, Selectable, SelectQueryBuilder, Updateable } from 'kysely';
import { type HawserError, notFound } from '../lib/errors.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import { orConflict } from './errors.ts';
import type { Schema } from './schema.ts';

/** Which part of a list is asked for, as `Paging` of http/schemas.ts gives it. */
export interface PageQuery {
  /** The most rows of the page. */
  take: number;
  /** How many rows come before the page. */
  skip: number;
}

export interface Page<R> {
  rows: R[];
  /** How many rows there are on all pages together. */
  total: number;
}

/** What a column of 0 and 1 says. */
export function toFlag(value: number | null): boolean | null {
  return value === null ? null : value === 1;
}

/** How many rows the query selects. Its columns and its order do not matter. */
export async function countRows<D, T extends keyof D, R>(
  query: SelectQueryBuilder<D, T, R>,
): Promise<number> {
  const counted = query
    .clearSelect()
    .clearOrderBy()
    .select((of) => of.fn.countAll<number>().as('total'));
  return ((await counted.executeTakeFirstOrThrow()) as { total: number }).total;
}

/**
 * One page of the rows that the query selects, in the query's order, which must be a total one: rows that compare equal
 * could stand on two pages or on none.
 */
export async function pageOf<D, T extends keyof D, R>(
  query: SelectQueryBuilder<D, T, R>,
  { take, skip }: PageQuery,
): Promise<Page<R>> {
  const total = await countRows(query);
  return { rows: (await query.limit(take).offset(skip).execute()) as R[], total };
}

/** One page of a list that is in memory as a whole. */
export function pageOfList<R>(all: readonly R[], { take, skip }: PageQuery): Page<R> {
  return { rows: all.slice(skip, skip + take), total: all.length };
}

/** Inserts rows, as many with one statement as suits the engine. */
export async function insertAll<T extends keyof Schema>(
  trx: Db,
  table: T,
  rows: readonly Insertable<Schema[T]>[],
): Promise<void> {
  const engine = engineOf(trx);
  for (let at = 0; at < rows.length; ) {
    const count = engine.rowsAtOnce(rows.length - at);
    await trx
      .insertInto(table)
      .values(rows.slice(at, at + count))
      .execute();
    at += count;
  }
}

type TableWithId = { [T in keyof Schema]: Schema[T] extends { id: string } ? T : never }[keyof Schema];

interface TableOptions<T extends TableWithId> {
  /** The columns that lists are ordered by. Together they must be unique. */
  order: readonly (keyof Schema[T] & string)[];
  /** Set where lists begin with the highest value of the first of the columns. */
  newestFirst?: true;
  /** What a caller is told who names an id that no row has. */
  missing: string;
  /**
   * A uniqueness rule of the table: one of its columns as `table.column`, and the error for a caller who breaks it.
   */
  unique?: { column: string; taken: () => HawserError };
}

/**
 * The queries of a table whose key is the column `id`:
 *
 *     const roles = new Table('roles', { order: ['name_key'], missing: 'No such role' });
 *     const role = await roles.require(trx, params.id);
 */
export class Table<T extends TableWithId> {
  private readonly name: T;
  private readonly options: TableOptions<T>;

  constructor(name: T, options: TableOptions<T>) {
    this.name = name;
    this.options = options;
  }

  find(db: Db, id: string): Promise<Selectable<Schema[T]> | undefined> {
    return this.rows(db).selectAll().where('id', '=', id).executeTakeFirst() as Promise<never>;
  }

  /** @throws HawserError not_found */
  async require(db: Db, id: string): Promise<Selectable<Schema[T]>> {
    const row = await this.find(db, id);
    if (row === undefined) throw notFound(this.options.missing);
    return row;
  }

  /** One page of all rows. */
  page(db: Db, query: PageQuery): Promise<Page<Selectable<Schema[T]>>> {
    const [first, ...others] = this.options.order as readonly string[] as readonly ['id', ...'id'[]];
    const direction = this.options.newestFirst ? 'desc' : 'asc';
    const ordered = this.rows(db).selectAll().orderBy(first, direction);
    return pageOf(
      others.reduce((rows, column) => rows.orderBy(column), ordered),
      query,
    ) as Promise<never>;
  }

  /** @returns the row as it is stored @throws HawserError the problem of the table's uniqueness rule */
  insert(db: Db, row: Insertable<Schema[T]>): Promise<Selectable<Schema[T]>> {
    const insertion = plain(db)
      .insertInto(this.plainName)
      .values(row as unknown as Row);
    return this.uniquely(() => insertion.returningAll().executeTakeFirstOrThrow());
  }

  /**
   * Changes columns of a row that is there.
   * @returns the row as it is then
   * @throws HawserError the problem of the table's uniqueness rule
   */
  update(db: Db, id: string, change: Updateable<Schema[T]>): Promise<Selectable<Schema[T]>> {
    const update = plain(db).updateTable(this.plainName).set(change).where('id', '=', id);
    return this.uniquely(() => update.returningAll().executeTakeFirstOrThrow());
  }

  /** Deletes the row and, by the rules of the database, the rows that belong to it. */
  async delete(db: Db, id: string): Promise<void> {
    await plain(db).deleteFrom(this.plainName).where('id', '=', id).execute();
  }

  private rows(db: Db) {
    return plain(db).selectFrom(this.plainName);
  }

  private get plainName() {
    return this.name as unknown as 'plain';
  }

  private uniquely(write: () => Promise<Row>): Promise<Selectable<Schema[T]>> {
    const { unique } = this.options;
    return (unique ? orConflict(unique.column, unique.taken(), write) : write()) as Promise<never>;
  }
}

/** What all rows of such tables have. Kysely cannot derive the other columns of a table that is not known here. */
interface Row {
  id: string;
}

const plain = (db: Db) => db as unknown as Kysely<{ plain: Row }>;
