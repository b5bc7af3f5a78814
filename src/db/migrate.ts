/** Brings the tables to the newest form. Each migration runs once, in order, and all of them in one transaction. */

import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import { internal } from '../lib/errors.ts';
import { databaseHeld, isHeld } from './errors.ts';
import type { MigrationState } from './inspected-database.ts';
import type { Schema } from './schema.ts';

/**
 * Runs all migrations that have not run yet. After an error the database is as it was before.
 * @throws HawserError `migration_failed` if a migration fails, or unavailable if another process holds the database
 */
export async function migrate(db: Kysely<Schema>, migrations: Record<string, Migration>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  if (isHeld(error)) throw databaseHeld();
  if (error)
    throw internal('migration_failed', 'The database could not be brought to the newest form', error);
}

/** @param names those of this release */
export async function compareMigrations(
  db: Kysely<Schema>,
  names: readonly string[],
): Promise<MigrationState> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  const done = rows.map(({ name }) => name);
  return {
    pending: names.filter((name) => !done.includes(name)),
    unknown: done.filter((name) => !names.includes(name)),
  };
}
