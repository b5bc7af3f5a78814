/**
 * What the two engines write differently in SQL. Whoever writes a query asks `engineOf` for these pieces, so that no query
 * function has to know which engine it is for.
 */

import type { RawBuilder } from 'kysely';

export interface Engine {
  /** A table of many texts in one parameter. It has one column, `value`. It needs a name: `${texts(ids)} wanted`. */
  texts(values: readonly string[]): RawBuilder<unknown>;
  /** The same for whole numbers. */
  numbers(values: readonly number[]): RawBuilder<unknown>;
  /**
   * A table of many rows in one parameter. Its column `value` is a JSON array, of which `value ->> 0` is the first member.
   * PostgreSQL gives each member as text, so numbers need `cast(value ->> 1 as bigint)`.
   */
  rows(values: readonly (readonly unknown[])[]): RawBuilder<unknown>;
  /** Makes SQLite go along one index of a table, whose name stands before it. PostgreSQL chooses by itself. */
  indexedBy(index: string): RawBuilder<unknown>;
}
