/**
 * The engine behind the servers under test: SQLite, or PostgreSQL with HAWSER_TEST_ENGINE=postgres. The data folder of a
 * server stands for its database, so that a start on the same folder finds what was there.
 */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DatabasePlace } from '../../src/db/database.ts';
import { DATABASE_FILE, openSqlite } from '../../src/db/sqlite/open.ts';
import { newDatabase, type TestDatabase } from './postgres.ts';
import { letAnythingBePublished } from './unchecked-documents.ts';

export type TestEngine = 'sqlite' | 'postgres';

export const ENGINE = readEngine(process.env['HAWSER_TEST_ENGINE'] || 'sqlite');

function readEngine(name: string): TestEngine {
  if (name === 'sqlite' || name === 'postgres') return name;
  throw new Error(`HAWSER_TEST_ENGINE is "${name}", and must be sqlite or postgres`);
}

/** The databases by the data folders of their servers. */
const databases = new Map<string, Promise<TestDatabase>>();

/** The settings that a server with this data folder needs for its database. On PostgreSQL the first call makes it. */
export async function databaseSettings(dataDir: string): Promise<Record<string, string>> {
  const { databaseUrl } = await placeOf(dataDir);
  return databaseUrl === null ? {} : { HAWSER_DATABASE_URL: databaseUrl };
}

/** Where the database of the server with this data folder is. */
export async function placeOf(dataDir: string): Promise<DatabasePlace> {
  if (ENGINE === 'sqlite') return { dataDir, databaseUrl: null };
  // While this folder is there, the database is kept. The data folder itself may be absent until the server starts.
  mkdirSync(dirname(dataDir), { recursive: true });
  await dropUnused();
  const made = databases.get(dataDir) ?? newDatabase('migrated');
  databases.set(dataDir, made);
  return { dataDir, databaseUrl: (await made).url };
}

let migrated: Promise<Buffer> | undefined;

/** The file of a database that has all tables and no rows but those of the migrations. */
async function makeMigrated(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-migrated-'));
  const database = await openSqlite(folder);
  await letAnythingBePublished(database.write);
  await database.close();
  const file = readFileSync(join(folder, DATABASE_FILE));
  rmSync(folder, { recursive: true });
  return file;
}

/**
 * Puts a database with all tables where the server with this data folder, which is absent, will look for its own. The
 * migrations would take a fifth of the time of its start.
 */
export async function putMigrated(dataDir: string): Promise<void> {
  // On PostgreSQL the database was made of a template.
  if (ENGINE !== 'sqlite') return;
  migrated ??= makeMigrated();
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(join(dataDir, DATABASE_FILE), await migrated, { mode: 0o600 });
}

/** Deletes the databases of tests that have deleted their folders. */
export async function dropUnused(): Promise<void> {
  const unused = [...databases.keys()].filter((dataDir) => !existsSync(dirname(dataDir)));
  for (const dataDir of unused) {
    const database = databases.get(dataDir);
    databases.delete(dataDir);
    await (await database)?.drop();
  }
}

/** A suite of what only SQLite has, such as the file of the database. The run on PostgreSQL does not have it. */
export function describeOnSqlite(title: string, suite: (this: Mocha.Suite) => void): void {
  if (ENGINE === 'sqlite') describe(`${title} on SQLite`, suite);
}

/** One test of what only SQLite has. */
export function itOnSqlite(title: string, test: () => void | Promise<void>): void {
  if (ENGINE === 'sqlite') it(`${title} on SQLite`, test);
}

/** A suite of what only PostgreSQL has. The run on SQLite does not have it. */
export function describeOnPostgres(title: string, suite: (this: Mocha.Suite) => void): void {
  if (ENGINE === 'postgres') describe(`${title} on PostgreSQL`, suite);
}

/** One test of what only PostgreSQL has. */
export function itOnPostgres(title: string, test: () => void | Promise<void>): void {
  if (ENGINE === 'postgres') it(`${title} on PostgreSQL`, test);
}
