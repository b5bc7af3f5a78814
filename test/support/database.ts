/** The database of a server, for what the API does not show or let a test do. */

import type { Database } from '../../src/db/database.ts';
import { openSqlite } from '../../src/db/sqlite/open.ts';
import type { Hawser } from './hawser.ts';

/** Opens a second connection to the database of a running server. */
export async function withDatabase<T>(hawser: Hawser, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openSqlite(hawser.dataDir);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
