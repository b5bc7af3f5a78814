/** What is read of another program's database, for both engines. */

/**
 * What a value of a row may be. SQLite gives what stands there, a blob as bytes. PostgreSQL gives everything as text: times
 * in UTC as `2026-11-22 11:25:29.266562+00`, intervals as `1 day 02:00:00`, booleans as `true` and `false`.
 */
export type ForeignValue = string | number | Uint8Array | null;

/** The tables of one moment. */
export interface ForeignTables {
  /** The columns of each table. Names are as they were given, in upper and lower case. */
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>;
  /** All rows, in no order, with the values in the order of these columns. */
  rows(table: string, columns: readonly string[]): Promise<ForeignValue[][]>;
  count(table: string): Promise<number>;
}

/** A name as it stands in a statement, for both engines. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Puts what was read of each column of each table together. */
export function columnsByTable(pairs: Iterable<readonly [string, string]>): Map<string, Set<string>> {
  const columns = new Map<string, Set<string>>();
  for (const [table, column] of pairs) {
    const known = columns.get(table);
    if (known === undefined) columns.set(table, new Set([column]));
    else known.add(column);
  }
  return columns;
}
