/** What PostgreSQL writes in its own way; see `Engine`. */

import { sql } from 'kysely';
import type { Engine } from '../engine.ts';

export const POSTGRES: Engine = {
  // PostgreSQL knows how long arrays are when it plans a query, and of a JSON array it does not.
  texts: (values) => sql`(select value collate "C" as value from unnest(${values}::text[]) as list (value))`,
  numbers: (values) => sql`(select value from unnest(${values}::bigint[]) as list (value))`,
  rows: (values) =>
    sql`(select value from unnest(${values.map((row) => JSON.stringify(row))}::jsonb[]) as list (value))`,
  isOneOf: (column, values) => {
    const type = typeof values[0] === 'number' ? 'bigint[]' : 'text[]';
    return values.length === 0 ? sql`false` : sql`${sql.ref(column)} = any(${values}::${sql.raw(type)})`;
  },
  indexedBy: () => sql``,
  placeIn: (text, part) => sql`strpos(${text}, ${part})`,
  storedBytes: (column) => sql`pg_column_size(${sql.ref(column)})`,
  tableBytesAtMost: (table) => sql`pg_total_relation_size(${table}::regclass)`,
  selectOfEach: ({ list, columns, rows }) => {
    const names = sql.join(columns.map((column) => sql.ref(column)));
    return sql`select found.* from ${list} given cross join lateral (select ${names} ${rows}) found`;
  },
  merged: (db, [first, ...others], order) => {
    const from = (query: typeof first) =>
      db.selectFrom(query.as('part')).selectAll() as unknown as typeof first;
    const ordered = (query: typeof first) => from(order(query));
    const union = others.reduce((all, one) => all.unionAll(ordered(one)) as typeof all, ordered(first));
    return order(from(union));
  },
  isShared: true,
  notesTurn: (told) => sql`select take_notes_turn(${JSON.stringify(told)}::jsonb)`,
  // Each statement is a message and its answer, runs the triggers, and may be a commit. So a few large ones take less time.
  checkInsAtOnce: 1_000,
  rowsAtOnce: (left) => Math.min(left, 500),
  parameter: (number) => `$${number}`,
};
