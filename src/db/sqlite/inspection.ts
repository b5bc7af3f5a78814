/** Reads an SQLite database without changing anything, beside a running server or without one. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase, { type Database as SqliteHandle } from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import type { DatabaseFault, InspectedDatabase } from '../inspected-database.ts';
import { compareMigrations } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { MIGRATION_NAMES } from './migrations.ts';
import { DATABASE_FILE } from './open.ts';

const MAX_FAULTS = 20;
const START = 'see whether HAWSER_DATA_DIR is that of the server, which makes it at its start';
const RESTORE = 'stop the server, keep a copy of the data folder, and restore the latest backup';

export function fileOfDatabase(dataDir: string): string {
  return join(dataDir, DATABASE_FILE);
}

/**
 * Opens `hawser.db` in the folder.
 *
 * A read-only handle would make the files of the write-ahead log if they are absent, and would leave them. So if nobody
 * has the database open, the handle may write but is told to refuse every statement that would. SQLite then deletes the
 * log's files when the handle is closed.
 * @throws the driver's error if the file cannot be opened
 */
export function inspectSqlite(dataDir: string): InspectedDatabase {
  const file = fileOfDatabase(dataDir);
  const common = {
    name: file,
    absence: `HAWSER_DATA_DIR: there is no database in ${dataDir}`,
    repositories: null,
    scope: 'every page read',
    remedy: RESTORE,
  };
  if (!existsSync(file)) return { ...common, ...NOTHING };
  const isInUse = existsSync(`${file}-wal`);
  const handle = new SqliteDatabase(file, { readonly: isInUse, fileMustExist: true });
  handle.pragma('query_only = ON');
  handle.pragma('busy_timeout = 5000');
  const read = new Kysely<Schema>({ dialect: new SqliteDialect({ database: handle }) });
  return {
    ...common,
    read,
    looks: [async () => findBrokenPages(handle), async () => findBrokenReferences(handle)],
    migrations: () => compareMigrations(read, MIGRATION_NAMES),
    // Kysely's driver would close nothing if no statement was run, because it opens at the first statement.
    close: async () => void handle.close(),
  };
}

const NOTHING = {
  read: null,
  looks: [async () => [fault('there is none', START)]],
  migrations: async () => ({ pending: MIGRATION_NAMES, unknown: [], neededRelease: null, hindrance: null }),
  close: async () => undefined,
};

/** What SQLite finds in the file. This reads the whole file. */
function findBrokenPages(handle: SqliteHandle): DatabaseFault[] {
  const rows = handle.pragma(`integrity_check(${MAX_FAULTS})`) as { integrity_check: string }[];
  return rows
    .flatMap((row) => row.integrity_check.split('\n'))
    .filter((line) => line !== 'ok' && !line.startsWith('***'))
    .map((what) => fault(what, RESTORE));
}

/** Rows that refer to a missing row, for each pair of tables. */
function findBrokenReferences(handle: SqliteHandle): DatabaseFault[] {
  const counts = new Map<string, { table: string; parent: string; rows: number }>();
  const rows = handle.prepare<[], { table: string; parent: string }>('pragma foreign_key_check');
  for (const { table, parent } of rows.iterate()) {
    const key = `${table} ${parent}`;
    const count = counts.get(key) ?? { table, parent, rows: 0 };
    counts.set(key, { ...count, rows: count.rows + 1 });
  }
  return [...counts.values()].map(({ table, parent, rows }) => {
    return fault(`${rows} rows of ${table} refer to rows of ${parent} that are not there`, RESTORE);
  });
}

function fault(what: string, remedy: string): DatabaseFault {
  return { severity: 'error', what, remedy };
}
