/** What is in all tables of a database, in a form that is the same on both engines. */

import type { EngineHandle, Row } from './both.ts';

/** Kysely's own tables, and those of which only the newest rows or a rise matter. */
const OTHERS = ['changes', 'generation', 'access_generation', 'running_generation'];

const TABLES_OF_SQLITE = `select name from sqlite_master where type = 'table'
  and name not like 'kysely%' and name not like 'sqlite%' order by name`;

export interface Contents {
  /** All rows of each table, in the order of their text. */
  tables: Record<string, string[]>;
  generations: number[];
  /** The number of the newest change. */
  newestChange: number;
}

/** The names of all tables of Hawser. */
export async function tableNames(sqlite: EngineHandle): Promise<string[]> {
  return (await sqlite.all<{ name: string }>(TABLES_OF_SQLITE)).map(({ name }) => name);
}

export async function contentsOf(engine: EngineHandle, names: readonly string[]): Promise<Contents> {
  const tables: Record<string, string[]> = {};
  for (const name of names.filter((one) => !OTHERS.includes(one))) {
    const rows = await engine.all(`select * from ${name}`);
    tables[name] = rows.map((row) => JSON.stringify(shown(name, row))).sort();
  }
  const generations: number[] = [];
  for (const name of OTHERS.slice(1))
    for (const { value } of await engine.all<{ value: number }>(`select value from ${name}`))
      generations.push(value);
  const [newest] = await engine.all<{ seq: number }>(`select coalesce(max(seq), 0) as seq from changes`);
  return { tables, generations, newestChange: newest?.seq ?? 0 };
}

/** The built-in scope types have the time of the migration. */
function shown(table: string, row: Row): Row {
  const { id, created_at, updated_at, ...others } = row;
  // SQLite keeps a text as one, also where bytes are meant.
  if (table === 'preview_results')
    return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)]));
  return table === 'scope_types' && row['is_system'] === 1 ? { id, ...others } : row;
}

/** What a deed has changed: the tables, the numbers that have risen, and what the feed tells, in any order. */
export interface Effects {
  tables: Record<string, { gone: string[]; come: string[] }>;
  risen: boolean[];
  told: string[];
}

export async function effectsOf(engine: EngineHandle, before: Contents, then: Contents): Promise<Effects> {
  const tables: Effects['tables'] = {};
  for (const [name, rows] of Object.entries(then.tables)) {
    const old = before.tables[name] ?? [];
    const gone = old.filter((row) => !rows.includes(row));
    const come = rows.filter((row) => !old.includes(row));
    if (gone.length + come.length > 0) tables[name] = { gone, come };
  }
  const told = await engine.all<{ kind: string; key: string }>(
    `select distinct kind, key from changes where seq > ${before.newestChange}`,
  );
  return {
    tables,
    risen: then.generations.map((value, at) => value > (before.generations[at] ?? 0)),
    told: told.map(({ kind, key }) => `${kind} ${key}`).sort(),
  };
}
