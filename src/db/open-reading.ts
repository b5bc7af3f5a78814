/** Opens the database for a thread that only reads, beside the server that writes it. */

import type { DatabasePlace } from './database.ts';
import type { ReadingDatabase } from './reading.ts';
import { openSqliteForReading } from './sqlite/reading.ts';

/** @throws the driver's error if the file of SQLite cannot be opened. */
export function openForReading({ dataDir }: DatabasePlace): ReadingDatabase {
  return openSqliteForReading(dataDir);
}
