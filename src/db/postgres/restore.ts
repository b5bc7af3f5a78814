/** Takes what an archive holds into an empty PostgreSQL database, all of it or nothing. */

import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Database as SqliteHandle } from 'better-sqlite3';
import type { Client } from 'pg';
import { conflict, type HawserError } from '../../lib/errors.ts';
import { translateDatabaseError } from '../errors.ts';
import type { RestoredContent } from '../restored-content.ts';
import { openSqlite } from '../sqlite/open.ts';
import { listColumns, listTables, type Table } from '../sqlite/tables.ts';
import { withFileAsync } from '../sqlite/with-file.ts';
import { connect } from './connections.ts';
import { openPostgres } from './open.ts';
import { copyRepositories } from './restore-repositories.ts';
import { withoutTimeLimits } from './time-limits.ts';

/** Rows are sent in batches of so many at most, and of no more characters than this, apart from the last row. */
const LARGEST_BATCH = 1_000;
const CHARACTERS = 4_000_000;

/** The tables of the schema, without those that belong to an extension. */
const TABLES = `
  select relname as name from pg_class
  where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
    and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
  order by relname`;
const NUMBERED = `
  select attname as column, pg_get_serial_sequence(quote_ident(relname), attname) as sequence, relname as table
  from pg_attribute join pg_class on pg_class.oid = attrelid
  where relnamespace = current_schema()::regnamespace and relkind = 'r' and attidentity <> ''`;

/** A restore that was cut off leaves tables without rows, and so does a server that never started. */
const CONTENT = ['users', 'git_repositories', 'secrets'];

/** @throws HawserError `database_not_empty` */
export async function requireEmptyPostgres(databaseUrl: string): Promise<void> {
  const client = await connect(databaseUrl).catch((error: unknown) => {
    throw translateDatabaseError(error);
  });
  try {
    const { rows } = await client.query<{ name: string }>(TABLES);
    const names = rows.map(({ name }) => name);
    const [first] = names;
    if (first === undefined) return;
    if (!names.includes('kysely_migration') || !names.includes('users')) throw notEmpty(first);
    await requireNoContent(client, names);
  } finally {
    await client.end();
  }
}

/** Each server makes a user at its first start. */
async function requireNoContent(client: Client, tables: readonly string[]): Promise<void> {
  for (const name of CONTENT.filter((each) => tables.includes(each)))
    if ((await client.query(`select 1 from ${name} limit 1`)).rows.length > 0) throw notEmpty(name);
}

function notEmpty(table: string): HawserError {
  const message = `HAWSER_DATABASE_URL: the database is not empty (table "${table}"); a restore goes into an empty one only`;
  return conflict('database_not_empty', message);
}

/** @throws HawserError `database_not_empty` where somebody has begun to use the database meanwhile */
export async function restoreToPostgres(databaseUrl: string, content: RestoredContent): Promise<void> {
  const { file } = content;
  await (await openSqlite(dirname(file))).close();
  await (await openPostgres(databaseUrl)).close();
  const client = await connect(databaseUrl);
  try {
    await client.query(`begin; ${withoutTimeLimits}`);
    await client.query(`lock table ${CONTENT.join(', ')}`);
    await requireNoContent(client, CONTENT);
    await withFileAsync(file, (source) => copyTables(client, source));
    await copyRepositories(client, content);
    await client.query('commit');
  } catch (error) {
    throw translateDatabaseError(error);
  } finally {
    await client.end();
  }
  await rm(file);
}

async function copyTables(client: Client, source: SqliteHandle): Promise<void> {
  const tables = listTables(source);
  const each = (statement: (name: string) => string) =>
    client.query(tables.map(({ name }) => statement(`"${name}"`)).join('; '));
  // The triggers keep counters, which are copied as they are.
  await each((name) => `alter table ${name} disable trigger user`);
  await client.query(`truncate ${tables.map(({ name }) => `"${name}"`).join(', ')}`);
  for (const table of tables) await copyTable(client, source, table);
  await continueNumbers(client);
  await each((name) => `alter table ${name} enable trigger user`);
  // Without statistics PostgreSQL would choose slow plans until it gathers them by itself, a minute or more from now.
  await each((name) => `analyze ${name}`);
}

async function copyTable(client: Client, source: SqliteHandle, table: Table): Promise<void> {
  const columns = listColumns(table);
  const insert = `insert into "${table.name}" (${columns}) overriding system value
    select ${columns} from json_populate_recordset(null::"${table.name}", $1::json)`;
  let rows: string[] = [];
  let characters = 0;
  const send = async () => {
    if (rows.length > 0) await client.query(insert, [`[${rows.join()}]`]);
    rows = [];
    characters = 0;
  };
  for (const row of source.prepare(`select ${columns} from "${table.name}"`).iterate()) {
    const text = JSON.stringify(row);
    rows.push(text);
    characters += text.length;
    if (rows.length >= LARGEST_BATCH || characters >= CHARACTERS) await send();
  }
  await send();
}

/** New rows get numbers after those of the rows that are there. */
async function continueNumbers(client: Client): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(NUMBERED);
  for (const { table, column, sequence } of rows)
    await client.query(`select setval($1, max("${column}")) from "${table}"`, [sequence]);
}
