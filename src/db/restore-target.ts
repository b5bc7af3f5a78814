/** Where a restore puts the database: where the settings say that the server looks for it. */

import type { DatabasePlace } from './database.ts';

/**
 * The folders are looked at elsewhere.
 * @throws HawserError `database_not_empty`
 */
export async function requireEmptyDatabase({ databaseUrl }: DatabasePlace): Promise<void> {
  if (databaseUrl === null) return;
  const { requireEmptyPostgres } = await import('./postgres/restore.ts');
  await requireEmptyPostgres(databaseUrl);
}

/** @param file `hawser.db` in the data folder. SQLite goes on with it, and PostgreSQL takes what it holds */
export async function takeRestoredFile({ databaseUrl }: DatabasePlace, file: string): Promise<void> {
  if (databaseUrl === null) return;
  const { restoreToPostgres } = await import('./postgres/restore.ts');
  await restoreToPostgres(databaseUrl, file);
}
