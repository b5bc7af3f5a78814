/** Reads the rows of one table of the declaration, and compares the declaration with what the database has. */

import type { ForeignTables, ForeignValue } from '../../../db/foreign-tables.ts';
import { showText } from '../../../domain/safe-path.ts';
import { HawserError } from '../../../lib/errors.ts';
import { type Column, readTicks } from './converters.ts';
import type { SourceTable } from './tables.ts';

/** A table of which only the names of its columns count. */
type AnyTable = Pick<SourceTable<object>, 'name' | 'isOptional'> & { readonly columns: object };

interface NamedColumn {
  member: string;
  name: string;
  column: Column<unknown>;
}

const AGE = 'CreatedAt';

function columnsOf({ columns }: AnyTable): NamedColumn[] {
  return Object.entries<Column<unknown>>({ ...columns }).map(([member, column]) => ({
    member,
    name: column.name ?? `${member.charAt(0).toUpperCase()}${member.slice(1)}`,
    column,
  }));
}

/** @throws HawserError `source_of_other_release` that names the first table or column that is not there */
export function requireShape(database: ForeignTables, tables: readonly AnyTable[]): void {
  for (const table of tables) {
    const present = database.columns.get(table.name);
    if (present === undefined && table.isOptional === true) continue;
    if (present === undefined) throw otherRelease(`table ${table.name}`);
    const absent = columnsOf(table).find(
      ({ name, column }) => column.absent === undefined && !present.has(name),
    );
    if (absent !== undefined) throw otherRelease(`column ${table.name}.${absent.name}`);
  }
}

function otherRelease(what: string): HawserError {
  return new HawserError(
    'conflict',
    'source_of_other_release',
    `The database has no ${what}; it is of another release of OpenDSC, or of another program`,
  );
}

/**
 * All rows, in the order that the declaration says.
 * @throws HawserError `source_value_unknown` for a value whose form is not known; it shows no secret
 */
export async function readTable<R extends object>(
  database: ForeignTables,
  table: SourceTable<R>,
): Promise<R[]> {
  const present = database.columns.get(table.name);
  if (present === undefined) return [];
  const columns = columnsOf(table);
  const asked = columns.map(({ name }) => name).filter((name) => present.has(name));
  const rows = await database.rows(table.name, asked);
  const places = columns.map(({ name }) => asked.indexOf(name));
  const age = asked.indexOf(AGE);
  const read = rows.map((row) => {
    const members = columns.map((each, at) => [
      each.member,
      readValue(table.name, each, row[places[at] ?? -1]),
    ]);
    const made = Object.fromEntries(members) as R;
    return { made, age: table.isByAge === true ? ageOf(row[age]) : 0n, key: keyOf(made) };
  });
  return read.sort((a, b) => compare(a.age, b.age) || compare(a.key, b.key)).map(({ made }) => made);
}

/** @param value is undefined where the release has no such column */
function readValue(table: string, { name, column }: NamedColumn, value: ForeignValue | undefined): unknown {
  if (value === undefined) return column.absent?.value;
  const read = column.read(value);
  if (read !== undefined) return read;
  const shown = column.isSecret === true ? 'a value' : showValue(value);
  throw new HawserError(
    'conflict',
    'source_value_unknown',
    `The database has ${shown} in ${table}.${name}, which is not understood`,
  );
}

function showValue(value: ForeignValue): string {
  if (value === null) return 'no value';
  return value instanceof Uint8Array ? `${value.length} bytes` : `"${showText(String(value))}"`;
}

/** Milliseconds would not tell apart what was made in one go. */
function ageOf(value: ForeignValue | undefined): bigint {
  return readTicks(value ?? null) ?? 0n;
}

/** Rows without an id of their own are known by all their members together. */
function keyOf(row: object): string {
  return 'id' in row ? String(row.id) : Object.values(row).join('\0');
}

function compare<T extends string | bigint>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
