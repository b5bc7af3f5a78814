/** Reads a PostgreSQL database for a backup, all of it at one moment, while servers may go on writing. */

import { mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Client } from 'pg';
import { conflict, notFound } from '../../lib/errors.ts';
import { translateDatabaseError } from '../errors.ts';
import type { GitReader } from '../git-tables.ts';
import type { SecretName } from '../secrets.ts';
import { DATABASE_FILE, openSqlite } from '../sqlite/open.ts';
import { listColumns, refillTables, type Table } from '../sqlite/tables.ts';
import { withFileAsync } from '../sqlite/with-file.ts';
import { connect } from './connections.ts';
import { PostgresGitReader } from './git-reader.ts';
import { MIGRATIONS } from './migrations.ts';
import { withoutTimeLimits } from './time-limits.ts';

const FIRST_BATCH = 16;
const LARGEST_BATCH = 4_096;
/** Batches grow while their texts have fewer characters than this together. */
const CHARACTERS = 4_000_000;

/** Everything that a PostgreSQL database holds at one moment. */
export interface DatabaseMoment {
  /** Copies the tables that both engines have to a new SQLite file. */
  copyTo(target: string): Promise<void>;
  repositories: GitReader;
  /** Null where there is no secret of that name. */
  secret(name: SecretName): Promise<Buffer | null>;
}

/** Servers may go on writing while `work` reads what was there when it began. */
export async function atOneMoment<T>(
  databaseUrl: string,
  work: (moment: DatabaseMoment) => Promise<T>,
): Promise<T> {
  try {
    const client = await connect(databaseUrl);
    try {
      await client.query(`begin isolation level repeatable read read only; ${withoutTimeLimits}`);
      await requireRelease(client);
      return await work(momentOf(client));
    } finally {
      await client.end();
    }
  } catch (error) {
    throw translateDatabaseError(error);
  }
}

function momentOf(client: Client): DatabaseMoment {
  return {
    copyTo: (target) => copyDatabase(client, target),
    repositories: new PostgresGitReader(async (text, values) => {
      return (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows;
    }),
    secret: async (name) => {
      const { rows } = await client.query<{ value: Buffer }>('select value from secrets where name = $1', [
        name,
      ]);
      return rows[0]?.value ?? null;
    },
  };
}

/** The copy has the tables of this release, so rows of another one would not fit. */
async function requireRelease(client: Client): Promise<void> {
  const { rows: tables } = await client.query(`select to_regclass('kysely_migration') as name`);
  if (tables[0].name === null)
    throw notFound('HAWSER_DATABASE_URL: there are no tables of Hawser in it', 'database_missing');
  const { rows } = await client.query<{ name: string }>('select name from kysely_migration order by name');
  if (rows.map(({ name }) => name).join() === Object.keys(MIGRATIONS).join()) return;
  const message = 'The database is of another release; make the backup with the program of that release';
  throw conflict('database_of_other_release', message);
}

async function copyDatabase(client: Client, target: string): Promise<void> {
  await makeEmpty(target);
  await withFileAsync(target, async (copy) => {
    // The file is read as a whole once it is finished, and thrown away if the backup fails.
    copy.pragma('journal_mode = OFF');
    copy.pragma('synchronous = OFF');
    await refillTables(copy, (table) => readTable(client, table));
  });
}

/** Makes an SQLite file with the tables of this release. */
async function makeEmpty(target: string): Promise<void> {
  const folder = await mkdtemp(join(dirname(target), 'empty-'));
  try {
    await (await openSqlite(folder)).close();
    await rename(join(folder, DATABASE_FILE), target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads in batches that are small where rows are large. */
async function* readTable(client: Client, table: Table): AsyncGenerator<unknown[][]> {
  await client.query(`declare copied no scroll cursor for select ${listColumns(table)} from "${table.name}"`);
  for (let size = FIRST_BATCH; ; ) {
    const text = `fetch ${size} from copied`;
    const { rows } = await client.query<unknown[]>({ text, rowMode: 'array' });
    if (rows.length === 0) break;
    yield rows;
    const average = rows.flat().reduce<number>((sum, value) => sum + lengthOf(value), 0) / rows.length;
    size = Math.max(1, Math.min(2 * size, LARGEST_BATCH, Math.floor(CHARACTERS / Math.max(average, 1))));
  }
  await client.query('close copied');
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}
