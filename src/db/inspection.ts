/** The database seen by somebody who must change nothing, beside a running server or without one. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase, { type Database as SqliteHandle } from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { MIGRATION_NAMES } from './migrate.ts';
import { DATABASE_FILE } from './open.ts';
import type { Schema } from './schema.ts';

export interface InspectedDatabase {
  read: Kysely<Schema>;
  /** Bytes, of the file without its log. */
  size: number;
  /** What SQLite finds broken in the file, one line each; empty when it is whole. Reads all of it. */
  integrityFaults(): string[];
  /** Rows that refer to a row that is not there, counted by both tables. */
  foreignKeyFaults(): { table: string; parent: string; rows: number }[];
  migrations(): MigrationState;
  close(): Promise<void>;
}

export interface MigrationState {
  /** What the next start will bring. */
  pending: readonly string[];
  /** Of a newer release than this one. */
  unknown: readonly string[];
}

const MAX_FAULTS = 20;

/**
 * Opens `hawser.db` in the folder; null where there is none.
 *
 * A handle that only reads would make the files of the write-ahead log where they are absent, and leave them. So where
 * nobody has the database open, it is one that may write, is told to refuse every statement that would, and takes the
 * log's files away again when it closes, as SQLite does by itself.
 * @throws the driver's error when the file cannot be opened
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
    // Not the driver of Kysely: it has opened nothing before the first statement, and closes nothing then.
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
