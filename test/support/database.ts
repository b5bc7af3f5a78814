/** The database of a server, for what the API does not show or let a test do. */

import type { Database, DatabasePlace } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';

/** Opens a second connection to the database of a running server. */
export async function withDatabase<T>(
  place: DatabasePlace,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(place);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
