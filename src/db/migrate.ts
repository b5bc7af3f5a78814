/**
 * Brings the tables to the newest form. Each migration runs once, in order, and all of them in one transaction. A database
 * that a newer release has migrated is left as it is: migrations only add, so an older server may go on with it.
 */

import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import { compareVersions } from '../domain/version-order.ts';
import { internal } from '../lib/errors.ts';
import { readVersion } from '../lib/version.ts';
import { databaseHeld, isHeld } from './errors.ts';
import type { MigrationState } from './inspected-database.ts';
import type { Schema } from './schema.ts';

/**
 * Runs all migrations that have not run yet. After an error the database is as it was before.
 * @throws HawserError `migration_failed` if a migration fails, `newer_release_needed` if a newer release has migrated the
 *   database and this one is too old for it, or unavailable if another process holds the database
 */
export async function migrate(db: Kysely<Schema>, migrations: Record<string, Migration>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  if (!error) return;
  if (isHeld(error)) throw databaseHeld();
  const state = await compareMigrations(db, Object.keys(migrations)).catch(() => null);
  if (state?.pending.length === 0 && state.unknown.length > 0) return requireServable(state);
  throw internal('migration_failed', 'The database could not be brought to the newest form', error);
}

/** @throws HawserError `newer_release_needed` */
function requireServable({ neededRelease }: MigrationState): void {
  if (neededRelease === null) return;
  const message = `This is Hawser ${readVersion()}, and the database needs release ${neededRelease} or later`;
  throw internal('newer_release_needed', message);
}

/** @param names those of this release */
export async function compareMigrations(
  db: Kysely<Schema>,
  names: readonly string[],
): Promise<MigrationState> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  const done = rows.map(({ name }) => name);
  const unknown = done.filter((name) => !names.includes(name));
  return {
    pending: names.filter((name) => !done.includes(name)),
    unknown,
    neededRelease: unknown.length === 0 ? null : await findNeededRelease(db),
  };
}

async function findNeededRelease(db: Kysely<Schema>): Promise<string | null> {
  const { version } = await db.selectFrom('oldest_release').select('version').executeTakeFirstOrThrow();
  return compareVersions(readVersion(), version) < 0 ? version : null;
}
