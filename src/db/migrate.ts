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
 *   database and this one is too old for it, `database_damaged` if its list of migrations has a gap, or unavailable if
 *   another process holds the database
 */
export async function migrate(db: Kysely<Schema>, migrations: Record<string, Migration>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  if (!error) return;
  if (isHeld(error)) throw databaseHeld();
  const state = await compareMigrations(db, Object.keys(migrations)).catch(() => null);
  if (state !== null) {
    refuseHindrance(state);
    if (state.unknown.length > 0) return;
  }
  const message = 'A migration failed, and the database is as it was before: start the former release again';
  throw internal('migration_failed', message, error);
}

/** @throws HawserError `newer_release_needed`, `database_damaged` */
function refuseHindrance({ hindrance, neededRelease, unknown, pending }: MigrationState): void {
  if (hindrance === 'newer release') {
    const needs = `the database needs release ${neededRelease} or later`;
    const made = `a newer release has made the database (${unknown[0]}): install that one`;
    const message = `This is Hawser ${readVersion()}, and ${neededRelease === null ? made : needs}`;
    throw internal('newer_release_needed', message);
  }
  if (hindrance === 'gap') {
    const message =
      `The database is damaged: its list of migrations lacks ${pending[0]} and has later ones. Keep a copy, run ` +
      '"hawser doctor", and bring back a backup with "hawser restore"';
    throw internal('database_damaged', message);
  }
}

/** @param names those of this release */
export async function compareMigrations(
  db: Kysely<Schema>,
  names: readonly string[],
): Promise<MigrationState> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  const done = rows.map(({ name }) => name);
  const unknown = done.filter((name) => !names.includes(name));
  const pending = names.filter((name) => !done.includes(name));
  const neededRelease = unknown.length === 0 ? null : await findNeededRelease(db);
  const isNewer = unknown.length > 0 && (pending.length > 0 || neededRelease !== null);
  // Kysely runs migrations in the order of their names, and none before one that has run.
  const hasGap = pending.some((name) => done.some((later) => later > name));
  const hindrance = isNewer ? 'newer release' : hasGap ? 'gap' : null;
  return { pending, unknown, neededRelease, hindrance };
}

async function findNeededRelease(db: Kysely<Schema>): Promise<string | null> {
  const { version } = await db.selectFrom('oldest_release').select('version').executeTakeFirstOrThrow();
  return compareVersions(readVersion(), version) < 0 ? version : null;
}
