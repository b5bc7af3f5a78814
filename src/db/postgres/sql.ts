/** What PostgreSQL writes in its own way; see `Engine`. */

import { sql } from 'kysely';
import type { Engine } from '../engine.ts';

export const POSTGRES: Engine = {
  // PostgreSQL knows how long an array is when it plans the query.
  texts: (values) => sql`(select value collate "C" as value from unnest(${values}::text[]) as list (value))`,
  numbers: (values) => sql`(select value from unnest(${values}::bigint[]) as list (value))`,
  rows: (values) => sql`jsonb_array_elements(${JSON.stringify(values)}::jsonb)`,
  indexedBy: () => sql``,
  placeIn: (text, part) => sql`strpos(${text}, ${part})`,
  selectOfEach: ({ list, columns, rows }) => {
    const names = sql.join(columns.map((column) => sql.ref(column)));
    return sql`select found.* from ${list} given cross join lateral (select ${names} ${rows}) found`;
  },
  notesTurn: (told) => sql`select take_notes_turn(${JSON.stringify(told)}::jsonb)`,
  parameter: (number) => `$${number}`,
};
