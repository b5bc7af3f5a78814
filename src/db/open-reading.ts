/** Opens the database for a thread that only reads, beside the server that writes it. */

import type { DatabasePlace } from './database.ts';
import { openPostgresForReading } from './postgres/reading.ts';
import type { ReadingDatabase } from './reading.ts';
import { openSqliteForReading } from './sqlite/reading.ts';

/** @throws the driver's error if the file of SQLite cannot be opened. PostgreSQL is asked at the first use. */
export function openForReading({ dataDir, databaseUrl }: DatabasePlace): ReadingDatabase {
  return databaseUrl === null ? openSqliteForReading(dataDir) : openPostgresForReading(databaseUrl);
}
