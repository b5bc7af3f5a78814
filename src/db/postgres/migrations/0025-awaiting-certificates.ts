/** Nodes that await their certificate are found without reading those of all others. */

import { type Kysely, type Migration, sql } from 'kysely';
import { AWAITING_INDEX } from '../../node-tables.ts';

export const awaitingCertificatesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(AWAITING_INDEX).execute(db);
  },
};
