/**
 * What the two engines write differently in SQL. Whoever writes a query asks `engineOf` for these pieces, so that no query
 * function has to know which engine it is for.
 */

import type { QueryCreator, RawBuilder, SelectQueryBuilder, SqlBool } from 'kysely';
import type { Schema } from './schema.ts';

export interface Engine {
  /** Whether several servers may use one database. Then it has the tables `secrets` and `servers`. */
  isShared: boolean;
  /** A table of many texts in one parameter. It has one column, `value`. It needs a name: `${texts(ids)} wanted`. */
  texts(values: readonly string[]): RawBuilder<unknown>;
  /** The same for whole numbers. */
  numbers(values: readonly number[]): RawBuilder<unknown>;
  /**
   * A table of many rows in one parameter. Its column `value` is a JSON array, of which `value ->> 0` is the first member.
   * PostgreSQL gives each member as text, so numbers need `cast(value ->> 1 as bigint)`.
   */
  rows(values: readonly (readonly unknown[])[]): RawBuilder<unknown>;
  /** That a column has one of many values, which are one parameter. */
  isOneOf(column: string, values: readonly string[] | readonly number[]): RawBuilder<SqlBool>;
  /** Makes SQLite go along one index of a table, whose name stands before it. PostgreSQL chooses by itself. */
  indexedBy(index: string): RawBuilder<unknown>;
  /** The place of the first character of a part in a text, from 1; 0 where the text does not have the part. */
  placeIn(text: RawBuilder<unknown>, part: string): RawBuilder<number>;
  /** The bytes that a text takes as it is stored, found without reading all of it. */
  storedBytes(column: string): RawBuilder<number>;
  /** No fewer bytes than a table takes with its indexes, found without reading it. */
  tableBytesAtMost(table: string): RawBuilder<number>;
  /** A query that selects rows for each value of a list, such as the first ten of each. */
  selectOfEach(each: OfEach): RawBuilder<unknown>;
  /**
   * The rows of several queries in an order that each of them has from an index. The engine merges them row by row, so that
   * a limit ends the reading of all of them. PostgreSQL does so only if it is told the order of each.
   * @param order puts a query into the order
   */
  merged<Q extends MergedQuery>(
    db: QueryCreator<Schema>,
    [first, ...others]: readonly [Q, ...Q[]],
    order: (query: Q) => Q,
  ): Q;
  /**
   * The statement with which a transaction waits for its turn among all that write what nodes tell; null where writers take
   * turns anyway. @param told node, checksum that it says to run, and the checksum that it was answered with, as far as known
   */
  notesTurn: ((told: readonly (readonly (string | null)[])[]) => RawBuilder<unknown>) | null;
  /** How many check-ins one statement should write. */
  checkInsAtOnce: number;
  /** How many rows one statement should insert while so many are left, where each value is a parameter. */
  rowsAtOnce(left: number): number;
  /** The name of a parameter of a statement that is not made by the query builder. They are counted from 1. */
  parameter(number: number): string;
}

export type MergedQuery = SelectQueryBuilder<Schema, keyof Schema, object>;

export interface OfEach {
  /** The values, as `texts` or `numbers` gives them. Its name is `given`. */
  list: RawBuilder<unknown>;
  /** The table that the rows are of, with a column that tells its rows apart, for which it has this index. */
  table: string;
  key: string;
  index?: string;
  /** What is selected of each row. */
  columns: readonly string[];
  /** The query of one value, `given.value`, from `from` on. */
  rows: RawBuilder<unknown>;
}
