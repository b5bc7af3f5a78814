/** Where a backup takes the database from: the one that the settings name. */

import type { DatabasePlace } from './database.ts';
import { postgresBackupSource } from './postgres/backup-source.ts';
import { sqliteBackupSource } from './sqlite/backup-source.ts';
import type { BackupSource } from './sqlite/snapshot.ts';

/** Nothing is opened before it is read. */
export function openBackupSource({ dataDir, databaseUrl }: DatabasePlace): BackupSource {
  return databaseUrl === null ? sqliteBackupSource(dataDir) : postgresBackupSource(databaseUrl);
}
