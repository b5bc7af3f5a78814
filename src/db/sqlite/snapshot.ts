/** What a backup does with its copy of the database, which is an SQLite file whatever the engine of the server is. */

import type { Database as SqliteHandle } from 'better-sqlite3';
import { internal } from '../../lib/errors.ts';
import { translateDatabaseError } from '../errors.ts';
import type { RepositoryRemovalsTable } from '../schema.ts';
import { withFile } from './with-file.ts';

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
  /** The change sets, and the commits of their branches; none of a release without change sets. */
  changeSets: readonly { id: number; tip: string; state: string }[];
}

/** The SQLite database of a server, which may go on writing meanwhile. */
export interface BackupSource {
  /** The number of the newest audit entry, 0 without any. */
  newestAuditEntry(): Promise<number>;
  /** Copies all of one moment to a new SQLite file. */
  copyTo(target: string): Promise<void>;
  /** Whether there is the row of the repository. */
  has(owner: Owner): Promise<boolean>;
  /** Whether a server may have the database open. */
  isInUse(): boolean;
}

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
 * Copies the database to `target`, a new file. Sessions are left out, because a restore brings back an old state, in which
 * sessions that have ended since must not be open again.
 * @param since the number of the audit entry after which changes to versions are listed
 * @throws HawserError `database_missing`, `database_damaged`, or what `translateDatabaseError` makes of a fault
 */
export async function takeSnapshot(
  source: Pick<BackupSource, 'copyTo'>,
  target: string,
  since: number,
): Promise<Snapshot> {
  try {
    await source.copyTo(target);
    return readCopy(target, since);
  } catch (error) {
    throw translateDatabaseError(error);
  }
}

/**
 * Deletes configurations and composites from the copy, as if they had been deleted before it was made.
 * @param owners are some of the snapshot's owners
 * @returns null, with nothing changed, if the server's database still has one of them
 */
export async function forgetDeleted(
  source: BackupSource,
  target: string,
  { snapshot, owners }: { snapshot: Snapshot; owners: readonly Owner[] },
): Promise<Snapshot | null> {
  for (const owner of owners) if (await source.has(owner)) return null;
  const gone = new Set(owners.map(({ id }) => id));
  withFile(target, {}, (copy) => {
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

function readCopy(target: string, since: number): Snapshot {
  return withFile(target, {}, (copy) => {
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
      changeSets: readChangeSets(copy),
    };
  });
}

function readChangeSets(copy: SqliteHandle): Snapshot['changeSets'] {
  const isThere = copy.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'change_sets'").get() !== undefined;
  return isThere ? readRows(copy, 'SELECT id, tip, state FROM change_sets') : [];
}

function readRows<Row>(copy: SqliteHandle, query: string): Row[] {
  return copy.prepare(query).all() as Row[];
}
