/** Opens the database that the settings name. Only one of the two drivers is loaded for it. */

import type { Log } from '../lib/log.ts';
import type { Database, DatabasePlace } from './database.ts';
import { openSqlite } from './sqlite/open.ts';
import type { WriteWatch } from './write-watch.ts';

export interface OpenOptions {
  /** Is told of each write, including those of the migrations. */
  watch?: WriteWatch;
  /** Is told when PostgreSQL goes away, and when it is back. */
  log?: Log | null;
}

/** @throws what `openSqlite` or `openPostgres` throws */
export async function openDatabase(
  { dataDir, databaseUrl }: DatabasePlace,
  options: OpenOptions = {},
): Promise<Database> {
  if (databaseUrl === null) return openSqlite(dataDir, options);
  const { openPostgres } = await import('./postgres/open.ts');
  return openPostgres(databaseUrl, options);
}
