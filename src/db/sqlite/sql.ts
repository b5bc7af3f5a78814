/** What SQLite writes in its own way; see `Engine`. */

import { sql } from 'kysely';
import type { Engine, OfEach } from '../engine.ts';

const list = (values: readonly unknown[]) => sql`json_each(${JSON.stringify(values)})`;
const indexedBy = (index: string) => sql`indexed by ${sql.id(index)}`;

export const SQLITE: Engine = {
  texts: list,
  numbers: list,
  rows: list,
  isOneOf: (column, values) => sql`${sql.ref(column)} in (select value from ${list(values)})`,
  indexedBy,
  placeIn: (text, part) => sql`instr(${text}, ${part})`,
  storedBytes: (column) => sql`octet_length(${sql.ref(column)})`,
  // Only the size of the whole database is known.
  tableBytesAtMost: () => sql`(select (page_count - freelist_count) * page_size
    from pragma_page_count, pragma_freelist_count, pragma_page_size)`,
  selectOfEach,
  merged: (_db, [first, ...others], order) =>
    order(others.reduce((all, one) => all.unionAll(one) as typeof all, first)),
  isShared: false,
  notesTurn: null,
  // A statement with this many rows holds the event loop for a few milliseconds at most.
  checkInsAtOnce: 250,
  // A statement for each of these numbers is prepared once. Another one would be prepared each time, which takes longer than
  // to run it.
  rowsAtOnce: (left) => (left < 16 ? 1 : 16),
  parameter: () => '?',
};

/** The rows are found by their keys once more, because a query in `from` cannot name what stands beside it. */
function selectOfEach({ list: given, table, key, index, columns, rows }: OfEach) {
  const names = sql.join(columns.map((column) => sql.ref(`${table}.${column}`)));
  return sql`select ${names} from ${given} given
    cross join ${sql.table(table)} ${index === undefined ? sql`` : indexedBy(index)}
    where ${sql.ref(`${table}.${key}`)} in (select ${sql.ref(key)} ${rows})`;
}
