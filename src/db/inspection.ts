/** Reads the database of the settings without changing anything, beside a running server or without one. */

import { existsSync } from 'node:fs';
import type { Kysely } from 'kysely';
import { describeDatabaseUrl, parseDatabaseUrl } from '../lib/database-url.ts';
import type { DatabasePlace } from './database.ts';
import type { InspectedDatabase } from './inspected-database.ts';
import { inspectPostgres } from './postgres/inspection.ts';
import type { Schema } from './schema.ts';
import { fileOfDatabase, inspectSqlite } from './sqlite/inspection.ts';

/** What people call the database of the settings. It holds no password. */
export function nameOfDatabase({ dataDir, databaseUrl }: DatabasePlace): string {
  return databaseUrl === null ? fileOfDatabase(dataDir) : describeDatabaseUrl(parseDatabaseUrl(databaseUrl));
}

/** The file of an SQLite database that is left alone because the settings name PostgreSQL; null if there is none. */
export function unusedDatabase({ dataDir, databaseUrl }: DatabasePlace): string | null {
  const file = fileOfDatabase(dataDir);
  return databaseUrl !== null && existsSync(file) ? file : null;
}

/** @throws Error if the database cannot be opened */
export async function inspectDatabase({ dataDir, databaseUrl }: DatabasePlace): Promise<InspectedDatabase> {
  return databaseUrl === null ? inspectSqlite(dataDir) : inspectPostgres(databaseUrl);
}

/** @throws Error if there are no tables */
export function requireTables({ read, absence }: InspectedDatabase): Kysely<Schema> {
  if (read === null) throw new Error(absence);
  return read;
}
