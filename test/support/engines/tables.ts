/** The tables of a database, read from its catalogue, in a form that is the same on both engines. */

import type { EngineHandle } from './both.ts';

export interface Table {
  /** `name text|integer [not null] [default]`, in the order of their names. */
  columns: string[];
  primaryKey: string[];
  /** The columns of each rule of uniqueness. */
  unique: string[];
  /** `columns -> table (columns) action` */
  references: string[];
  /** The words that stand in each check. */
  checks: string[];
  /** `name [unique] (columns) [words of the condition]` */
  indexes: string[];
}

const list = (values: readonly unknown[]) => values.join(', ');

/** The names and texts of a condition, which are what both engines write alike. */
function wordsOf(condition: string): string {
  const words = condition.replace(/::\w+(?:\[\])?/g, '').match(/'[^']*'|\b[a-z_]+\b/gi) ?? [];
  const grammar = /^(?:is|in|not|null|and|or|any|array|check|as)$/i;
  return list([...new Set(words.filter((word) => !grammar.test(word)))].sort());
}

const columnOf = (name: string, isText: boolean, isNotNull: boolean, fallback: unknown) =>
  [name, isText ? 'text' : 'integer', isNotNull ? 'not null' : '', fallback ?? '']
    .filter((part) => part !== '')
    .join(' ');

interface SqliteColumn {
  name: string;
  type: string;
  notnull: number;
  dflt_value: string | null;
  pk: number;
}

/** @param without the names of indexes that are left out */
export async function sqliteTables(
  sqlite: EngineHandle,
  without: readonly string[],
): Promise<Record<string, Table>> {
  const tables: Record<string, Table> = {};
  const found = await sqlite.all<{ name: string; sql: string }>(`select name, sql from sqlite_master
    where type = 'table' and name not like 'kysely%' and name not like 'sqlite%' order by name`);
  for (const { name, sql } of found) {
    const columns = await sqlite.all<SqliteColumn>(`pragma table_info(${name})`);
    const key = columns.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk);
    tables[name] = {
      columns: columns
        .map((column) =>
          columnOf(
            column.name,
            /text/i.test(column.type),
            column.notnull === 1 || column.pk > 0,
            column.dflt_value,
          ),
        )
        .sort(),
      primaryKey: key.map((column) => column.name),
      ...(await sqliteIndexes(sqlite, name, without)),
      references: await sqliteReferences(sqlite, name),
      checks: checksIn(sql).map(wordsOf).sort(),
    };
  }
  return tables;
}

async function sqliteIndexes(
  sqlite: EngineHandle,
  table: string,
  without: readonly string[],
): Promise<Pick<Table, 'unique' | 'indexes'>> {
  const result: Pick<Table, 'unique' | 'indexes'> = { unique: [], indexes: [] };
  const found = await sqlite.all<{ name: string; unique: number; origin: string; sql: string | null }>(
    `select list.name, "unique", origin, sql from pragma_index_list('${table}') list
      join sqlite_master master on master.name = list.name`,
  );
  for (const { name, unique, origin, sql } of found) {
    if (origin === 'pk' || without.includes(name)) continue;
    const columns = await sqlite.all<{ name: string }>(
      `select name from pragma_index_info('${name}') order by seqno`,
    );
    const names = list(columns.map((column) => column.name));
    if (origin === 'u') result.unique.push(names);
    else
      result.indexes.push(
        indexOf(name, unique === 1, names, /\bwhere\b(.*)$/is.exec(sql ?? '')?.[1] ?? null),
      );
  }
  return { unique: result.unique.sort(), indexes: result.indexes.sort() };
}

/** SQLite has the number of the row, `seq`, at the end of each index, where it is not written. */
const indexOf = (name: string, isUnique: boolean, columns: string, condition: string | null) =>
  `${name}${isUnique ? ' unique' : ''} (${columns.replace(/, seq$/, '')})${condition === null ? '' : ` where ${wordsOf(condition)}`}`;

async function sqliteReferences(sqlite: EngineHandle, table: string): Promise<string[]> {
  // A key of several columns has a row for each of them.
  const found = await sqlite.all<{ table: string; from: string; to: string; on_delete: string }>(
    `select "table", group_concat("from", ', ') as "from", group_concat("to", ', ') as "to", on_delete
      from (select * from pragma_foreign_key_list('${table}') order by id, seq) group by id, "table", on_delete`,
  );
  return found.map((key) => `${key.from} -> ${key.table} (${key.to}) ${key.on_delete.toLowerCase()}`).sort();
}

/** The conditions of all checks in the text of a table. */
function checksIn(text: string): string[] {
  return text
    .split(/\bcheck\s*\(/i)
    .slice(1)
    .map((rest) => {
      let depth = 1;
      let end = 0;
      for (; depth > 0; end += 1) depth += rest[end] === '(' ? 1 : rest[end] === ')' ? -1 : 0;
      return rest.slice(0, end - 1);
    });
}

const ACTIONS: Record<string, string> = { a: 'no action', c: 'cascade', n: 'set null' };

interface Constraint {
  name: string;
  type: string;
  columns: string[] | null;
  other: string | null;
  others: string[] | null;
  action: string;
  text: string;
}

/** @param without the names of indexes that are left out */
export async function postgresTables(
  postgres: EngineHandle,
  without: readonly string[],
): Promise<Record<string, Table>> {
  const tables: Record<string, Table> = {};
  const found = await postgres.all<{ name: string }>(`select relname as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and relname not like 'kysely%' order by relname`);
  for (const { name } of found) {
    const columns = await postgres.all<{
      name: string;
      type: string;
      is_not_null: boolean;
      fallback: string | null;
    }>(
      `select attname as name, format_type(atttypid, null) as type, attnotnull as is_not_null,
        pg_get_expr(adbin, adrelid) as fallback
      from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attrelid = '${name}'::regclass and attnum > 0 and not attisdropped`,
    );
    const constraints = await postgresConstraints(postgres, name);
    const of = (type: string) => constraints.filter((constraint) => constraint.type === type);
    tables[name] = {
      columns: columns
        .map((column) =>
          columnOf(
            column.name,
            column.type === 'text',
            column.is_not_null,
            column.fallback?.replace(/::\w+$/, '') ?? null,
          ),
        )
        .sort(),
      primaryKey: of('p')[0]?.columns ?? [],
      unique: of('u')
        .map((constraint) => list(constraint.columns ?? []))
        .sort(),
      references: of('f')
        .map(
          ({ columns: own, other, others, action }) =>
            `${list(own ?? [])} -> ${other} (${list(others ?? [])}) ${ACTIONS[action]}`,
        )
        .sort(),
      checks: of('c')
        .map(({ text }) => wordsOf(text))
        .sort(),
      indexes: (await postgresIndexes(postgres, name)).filter(
        (index) => !without.some((one) => index.startsWith(`${one} `)),
      ),
    };
  }
  return tables;
}

const namesOf = (relation: string, numbers: string) => `(select array_agg(attname::text order by place)
    from unnest(${numbers}) with ordinality as key (number, place)
    join pg_attribute on attrelid = ${relation} and attnum = number)`;

const postgresConstraints = (postgres: EngineHandle, table: string) =>
  postgres.all<Constraint>(`select conname as name, contype as type, ${namesOf('conrelid', 'conkey')} as columns,
      confrelid::regclass::text as other, ${namesOf('confrelid', 'confkey')} as others, confdeltype as action,
      pg_get_constraintdef(oid) as text
    from pg_constraint where conrelid = '${table}'::regclass`);

async function postgresIndexes(postgres: EngineHandle, table: string): Promise<string[]> {
  const found = await postgres.all<{
    name: string;
    is_unique: boolean;
    columns: string[];
    condition: string | null;
  }>(
    `select indexrelid::regclass::text as name, indisunique as is_unique,
      ${namesOf('indrelid', 'indkey::int2[]')} as columns, pg_get_expr(indpred, indrelid) as condition
    from pg_index where indrelid = '${table}'::regclass
      and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))`,
  );
  return found
    .map(({ name, is_unique, columns, condition }) => indexOf(name, is_unique, list(columns), condition))
    .sort();
}
