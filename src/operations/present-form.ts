/** What a command that writes demands of the database. */

import type { DatabasePlace } from '../db/database.ts';
import { inspectDatabase, requireTables } from '../db/inspection.ts';

/** A server that runs may be of another release, so its tables must not be changed, and none must be made. */
export async function requirePresentForm(place: DatabasePlace): Promise<void> {
  const database = await inspectDatabase(place);
  try {
    requireTables(database);
    const { pending, unknown } = await database.migrations();
    if (pending.length + unknown.length > 0)
      throw new Error('the database is of another release; start the server of this one first');
  } finally {
    await database.close();
  }
}
