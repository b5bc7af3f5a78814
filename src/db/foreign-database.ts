/** Opens another program's database, whichever engine has it, to read it as it was at one moment. Nothing of it is changed. */

import type { DatabaseUrl } from '../lib/database-url.ts';
import type { ForeignTables } from './foreign-tables.ts';

/** Where such a database is: a file of SQLite, or PostgreSQL. */
export type ForeignPlace =
  | { engine: 'sqlite'; file: string }
  | { engine: 'postgres'; url: string; address: DatabaseUrl };

/**
 * Opens the database, and closes it after `work`. Others may write to it meanwhile, of which `work` sees nothing.
 * @throws HawserError `source_missing`, `source_unreadable`, or what `work` throws
 */
export async function atOneForeignMoment<T>(
  place: ForeignPlace,
  work: (tables: ForeignTables) => Promise<T>,
): Promise<T> {
  if (place.engine === 'sqlite') {
    const { readForeignSqlite } = await import('./sqlite/foreign.ts');
    return readForeignSqlite(place.file, work);
  }
  const { readForeignPostgres } = await import('./postgres/foreign.ts');
  return readForeignPostgres(place, work);
}
