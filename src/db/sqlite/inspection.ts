/** Reads the database without changing anything, beside a running server or without one. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase, { type Database as SqliteHandle } from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import type { Schema } from '../schema.ts';
import { MIGRATION_NAMES } from './migrations.ts';
import { DATABASE_FILE } from './open.ts';

export interface InspectedDatabase {
  read: Kysely<Schema>;
  /** The size of the file in bytes, without its log. */
  size: number;
  /** The faults that SQLite finds in the file, one line each. This reads the whole file. */
  integrityFaults(): string[];
  /** The number of rows that refer to a missing row, for each pair of tables. */
  foreignKeyFaults(): { table: string; parent: string; rows: number }[];
  migrations(): MigrationState;
  close(): Promise<void>;
}

export interface MigrationState {
  /** The migrations that the next start will run. */
  pending: readonly string[];
  /** Migrations of a newer release than this one. */
  unknown: readonly string[];
}

const MAX_FAULTS = 20;

/**
 * Opens `hawser.db` in the folder.
 *
 * A read-only handle would make the files of the write-ahead log if they are absent, and would leave them. So if nobody
 * has the database open, the handle may write but is told to refuse every statement that would. SQLite then deletes the
 * log's files when the handle is closed.
 * @returns null if there is no database
 * @throws the driver's error if the file cannot be opened
 */
export function inspectDatabase(dataDir: string): InspectedDatabase | null {
  const file = join(dataDir, DATABASE_FILE);
  if (!existsSync(file)) return null;
  const isInUse = existsSync(`${file}-wal`);
  const handle = new SqliteDatabase(file, { readonly: isInUse, fileMustExist: true });
  handle.pragma('query_only = ON');
  handle.pragma('busy_timeout = 5000');
  const read = new Kysely<Schema>({ dialect: new SqliteDialect({ database: handle }) });
  return {
    read,
    get size() {
      return Number(handle.pragma('page_count', { simple: true })) * pageSize(handle);
    },
    integrityFaults: () => listIntegrityFaults(handle),
    foreignKeyFaults: () => countForeignKeyFaults(handle),
    migrations: () => compareMigrations(handle),
    // Kysely's driver would close nothing if no statement was run, because it opens at the first statement.
    close: async () => void handle.close(),
  };
}

function pageSize(handle: SqliteHandle): number {
  return Number(handle.pragma('page_size', { simple: true }));
}

function listIntegrityFaults(handle: SqliteHandle): string[] {
  const rows = handle.pragma(`integrity_check(${MAX_FAULTS})`) as { integrity_check: string }[];
  return rows
    .flatMap((row) => row.integrity_check.split('\n'))
    .filter((line) => line !== 'ok' && !line.startsWith('***'));
}

function countForeignKeyFaults(handle: SqliteHandle): { table: string; parent: string; rows: number }[] {
  const counts = new Map<string, { table: string; parent: string; rows: number }>();
  const rows = handle.prepare<[], { table: string; parent: string }>('pragma foreign_key_check');
  for (const { table, parent } of rows.iterate()) {
    const key = `${table} ${parent}`;
    const count = counts.get(key) ?? { table, parent, rows: 0 };
    counts.set(key, { ...count, rows: count.rows + 1 });
  }
  return [...counts.values()];
}

function compareMigrations(handle: SqliteHandle): MigrationState {
  const done = handle.prepare<[], string>('select name from kysely_migration').pluck().all();
  return {
    pending: MIGRATION_NAMES.filter((name) => !done.includes(name)),
    unknown: done.filter((name) => !MIGRATION_NAMES.includes(name)),
  };
}
