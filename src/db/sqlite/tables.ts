/** The tables of an SQLite file, for copying all of their rows from or to another engine. */

import type { Database as SqliteHandle } from 'better-sqlite3';

export interface Table {
  name: string;
  columns: readonly string[];
}

const TABLES = `
  SELECT name FROM sqlite_schema
  WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'kysely%' ORDER BY name`;

/** The tables of the schema without those of the migrations. A table comes after those that its rows refer to. */
export function listTables(handle: SqliteHandle): Table[] {
  const left = new Set(handle.prepare<[], string>(TABLES).pluck().all());
  const parentsOf = handle
    .prepare<[string], string>('SELECT "table" FROM pragma_foreign_key_list(?)')
    .pluck();
  const columnsOf = handle.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck();
  const tables: Table[] = [];
  while (left.size > 0) {
    const ready = [...left].filter((name) => !parentsOf.all(name).some((parent) => left.has(parent)));
    if (ready.length === 0) throw new Error('The tables refer to each other in a circle');
    for (const name of ready) {
      left.delete(name);
      tables.push({ name, columns: columnsOf.all(name) });
    }
  }
  return tables;
}

/** A list of columns as it stands in a statement, for both engines. */
export function listColumns({ columns }: Table): string {
  return columns.map((column) => `"${column}"`).join(', ');
}

/**
 * Takes the rows of all tables anew. No trigger runs meanwhile, so that counters are copied as they are.
 * @param rowsOf gives the rows of a table in batches, with the values in the order of its columns
 */
export async function refillTables(
  handle: SqliteHandle,
  rowsOf: (table: Table) => AsyncIterable<readonly unknown[][]>,
): Promise<void> {
  handle.pragma('foreign_keys = OFF');
  const triggers = handle
    .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .all();
  for (const { name } of triggers) handle.exec(`DROP TRIGGER "${name}"`);
  for (const table of listTables(handle)) {
    handle.exec(`DELETE FROM "${table.name}"`);
    const marks = table.columns.map(() => '?').join(', ');
    const insert = handle.prepare(`INSERT INTO "${table.name}" (${listColumns(table)}) VALUES (${marks})`);
    const insertAll = handle.transaction((rows: readonly unknown[][]) => {
      for (const row of rows) insert.run(row);
    });
    for await (const rows of rowsOf(table)) insertAll(rows);
  }
  for (const { sql } of triggers) handle.exec(sql);
}
