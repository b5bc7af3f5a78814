/** Where a backup takes everything from that is in PostgreSQL. The driver is loaded only with the setting. */

import type { DatabaseMoment } from './postgres/backup-source.ts';

export type { DatabaseMoment } from './postgres/backup-source.ts';

/**
 * Servers may go on writing while `work` reads what was there when it began.
 * @throws HawserError `database_missing`, `database_of_other_release`, unavailable, or what `work` throws
 */
export async function atOneMoment<T>(
  databaseUrl: string,
  work: (moment: DatabaseMoment) => Promise<T>,
): Promise<T> {
  const postgres = await import('./postgres/backup-source.ts');
  return postgres.atOneMoment(databaseUrl, work);
}
