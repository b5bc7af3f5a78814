/** Copies an SQLite database for a backup. The copy is of one moment, and the server may go on writing meanwhile. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase, { type Options } from 'better-sqlite3';
import { notFound } from '../../lib/errors.ts';
import { translateDatabaseError } from '../errors.ts';
import { DATABASE_FILE } from './open.ts';
import type { BackupSource } from './snapshot.ts';
import { withFile } from './with-file.ts';

/** The handle is not read-only, because a read-only one could not delete the WAL files again if no server runs. */
const SOURCE: Options = { fileMustExist: true, timeout: 5_000 };
/** Pages that are copied at a time. Signals are handled in between. The server does not wait for the copy. */
const PAGES_AT_ONCE = 2_000;

/** @throws HawserError `database_missing` */
export function sqliteBackupSource(dataDir: string): BackupSource {
  const file = join(dataDir, DATABASE_FILE);
  const requireFile = (): void => {
    if (!existsSync(file)) throw notFound('HAWSER_DATA_DIR: there is no database in it', 'database_missing');
  };
  return {
    async newestAuditEntry() {
      requireFile();
      return read(file, 'SELECT COALESCE(MAX(seq), 0) FROM audit_entries') as number;
    },
    async copyTo(target) {
      requireFile();
      await copyDatabase(file, target);
    },
    async has({ kind, id }) {
      const table = kind === 'composites' ? 'composites' : 'configurations';
      return read(file, `SELECT 1 FROM ${table} WHERE id = ?`, id) !== undefined;
    },
    // The last process that closes a database removes its WAL.
    isInUse: () => existsSync(`${file}-wal`),
  };
}

/** The first value that a statement gives. */
function read(file: string, statement: string, ...parameters: string[]): unknown {
  try {
    return withFile(file, SOURCE, (source) => {
      source.pragma('query_only = ON');
      return source
        .prepare(statement)
        .pluck()
        .get(...parameters);
    });
  } catch (error) {
    throw translateDatabaseError(error);
  }
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
