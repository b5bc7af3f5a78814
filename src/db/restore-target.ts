/** Where a restore puts what an archive holds: where the settings say that the server looks for it. */

import type { DatabasePlace } from './database.ts';
import type { RestoredContent } from './restored-content.ts';

/**
 * The folders are looked at elsewhere.
 * @throws HawserError `database_not_empty`
 */
export async function requireEmptyDatabase({ databaseUrl }: DatabasePlace): Promise<void> {
  if (databaseUrl === null) return;
  const { requireEmptyPostgres } = await import('./postgres/restore.ts');
  await requireEmptyPostgres(databaseUrl);
}

/**
 * Writes all of it in one transaction.
 * @throws HawserError `database_not_empty`
 */
export async function restoreToDatabase(databaseUrl: string, content: RestoredContent): Promise<void> {
  const { restoreToPostgres } = await import('./postgres/restore.ts');
  await restoreToPostgres(databaseUrl, content);
}
