/** Copies the database for a backup. The copy is of one moment, and the server may go on writing meanwhile. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase, { type Options, type Database as SqliteHandle } from 'better-sqlite3';
import { internal, notFound } from '../../lib/errors.ts';
import { translateDatabaseError } from '../errors.ts';
import type { RepositoryRemovalsTable } from '../schema.ts';
import { DATABASE_FILE } from './open.ts';

/** A configuration or composite, and a repository that its row needs. */
export type Owner = RepositoryRemovalsTable & { id: string };

/** An audit entry of a change to a version, or of the adoption of a repository. */
export interface VersionEntry {
  resourceId: string;
  action: string;
  /** JSON. */
  details: string;
}

/** What the copy says about the repositories that belong to it. */
export interface Snapshot {
  /** The name of its newest migration. */
  migration: string;
  /** The repositories that its rows need, with the id of the configuration or composite they belong to. */
  owners: readonly Owner[];
  /** Whether `admin` still has the first password. */
  hasFirstPassword: boolean;
  /** Repositories whose rows are deleted, and which are to be deleted too. */
  removals: readonly RepositoryRemovalsTable[];
  /** The changes to versions since a given audit entry, oldest first. */
  changes: readonly VersionEntry[];
}

/** The handle is not read-only, because a read-only one could not delete the WAL files again if no server runs. */
const SOURCE: Options = { fileMustExist: true, timeout: 5_000 };
/** Pages that are copied at a time. Signals are handled in between. The server does not wait for the copy. */
const PAGES_AT_ONCE = 2_000;
const FIRST_PASSWORD = "SELECT require_password_change FROM users WHERE username_key = 'admin'";
const OWNERS = `
  SELECT 'configurations' AS kind, name, id FROM configurations
  UNION ALL SELECT 'parameters', name, id FROM configurations WHERE has_parameters = 1
  UNION ALL SELECT 'composites', name, id FROM composites`;
/** Every entry about one version names its commit. */
const CHANGES = `
  SELECT resource_id AS resourceId, action, details FROM audit_entries
  WHERE seq > ? AND resource_type IN ('Configuration', 'CompositeConfiguration', 'Parameters')
    AND (action LIKE '%.adopted' OR (details ->> 'version' IS NOT NULL AND details ->> 'commit' IS NOT NULL))
  ORDER BY seq`;

/**
 * Copies `hawser.db` of the folder to `target`, a new file. Sessions are left out, because a restore brings back an old
 * state, in which sessions that have ended since must not be open again.
 * @param since the number of the audit entry after which changes to versions are listed
 * @throws HawserError `database_missing`, `database_damaged`, or what `translateDatabaseError` makes of a fault
 */
export async function takeSnapshot(dataDir: string, target: string, since: number): Promise<Snapshot> {
  const file = fileIn(dataDir);
  try {
    await copyDatabase(file, target);
    return readCopy(target, since);
  } catch (error) {
    throw translateDatabaseError(error);
  }
}

/**
 * The number of the newest audit entry, 0 without any.
 * @throws HawserError as `takeSnapshot`
 */
export function newestAuditEntry(dataDir: string): number {
  const file = fileIn(dataDir);
  try {
    return withDatabase(file, SOURCE, (source) => {
      source.pragma('query_only = ON');
      return source.prepare('SELECT COALESCE(MAX(seq), 0) FROM audit_entries').pluck().get() as number;
    });
  } catch (error) {
    throw translateDatabaseError(error);
  }
}

/** Whether a server has the database open. The last process that closes a database removes its WAL. */
export function isDatabaseInUse(dataDir: string): boolean {
  return existsSync(join(dataDir, `${DATABASE_FILE}-wal`));
}

function fileIn(dataDir: string): string {
  const file = join(dataDir, DATABASE_FILE);
  if (!existsSync(file)) throw notFound('HAWSER_DATA_DIR: there is no database in it', 'database_missing');
  return file;
}

/**
 * Deletes configurations and composites from the copy, as if they had been deleted before it was made.
 * @param owners are some of the snapshot's owners
 * @returns null, with nothing changed, if the server's database still has one of them
 */
export function forgetDeleted(
  dataDir: string,
  target: string,
  { snapshot, owners }: { snapshot: Snapshot; owners: readonly Owner[] },
): Snapshot | null {
  if (owners.some((owner) => isThere(dataDir, owner))) return null;
  const gone = new Set(owners.map(({ id }) => id));
  withDatabase(target, {}, (copy) => {
    copy.pragma('foreign_keys = ON');
    copy.transaction(() => {
      for (const id of gone) {
        // The server deletes only what no node is assigned to, so the assignments were deleted as well.
        copy
          .prepare('DELETE FROM assignments WHERE configuration_id = @id OR composite_id = @id')
          .run({ id });
        for (const table of ['configurations', 'composites'])
          copy.prepare(`DELETE FROM ${table} WHERE id = ?`).run(id);
      }
    })();
  });
  return { ...snapshot, owners: snapshot.owners.filter(({ id }) => !gone.has(id)) };
}

function isThere(dataDir: string, { kind, id }: Owner): boolean {
  return withDatabase(join(dataDir, DATABASE_FILE), SOURCE, (source) => {
    source.pragma('query_only = ON');
    const table = kind === 'composites' ? 'composites' : 'configurations';
    return source.prepare(`SELECT 1 FROM ${table} WHERE id = ?`).get(id) !== undefined;
  });
}

/**
 * Copies within a read transaction, so that all steps see the same moment. Without it SQLite would start again whenever
 * somebody writes in between. In WAL mode the transaction keeps no writer waiting.
 */
async function copyDatabase(file: string, target: string): Promise<void> {
  const source = new SqliteDatabase(file, SOURCE);
  try {
    source.pragma('query_only = ON');
    source.exec('BEGIN');
    source.prepare('SELECT COUNT(*) FROM sqlite_schema').get();
    await source.backup(target, { progress: () => PAGES_AT_ONCE });
    source.exec('COMMIT');
  } finally {
    source.close();
  }
}

function readCopy(target: string, since: number): Snapshot {
  return withDatabase(target, {}, (copy) => {
    // This makes one file without a WAL beside it. The server changes the mode back.
    copy.pragma('journal_mode = DELETE');
    if (copy.pragma('quick_check', { simple: true }) !== 'ok')
      throw internal('database_damaged', 'The database is damaged; a copy of it would be no backup.');
    copy.exec('DELETE FROM sessions');
    return {
      migration: copy.prepare('SELECT MAX(name) FROM kysely_migration').pluck().get() as string,
      hasFirstPassword: copy.prepare(FIRST_PASSWORD).pluck().get() === 1,
      owners: readRows<Owner>(copy, OWNERS),
      removals: readRows<RepositoryRemovalsTable>(copy, 'SELECT kind, name FROM repository_removals'),
      changes: copy.prepare(CHANGES).all(since) as VersionEntry[],
    };
  });
}

function withDatabase<T>(file: string, options: Options, work: (handle: SqliteHandle) => T): T {
  const handle = new SqliteDatabase(file, options);
  try {
    return work(handle);
  } finally {
    handle.close();
  }
}

function readRows<Row>(copy: SqliteHandle, query: string): Row[] {
  return copy.prepare(query).all() as Row[];
}
