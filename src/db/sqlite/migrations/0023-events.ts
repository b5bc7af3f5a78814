/** Events for others, and the webhooks that they go to. */

import { type Kysely, type Migration, sql } from 'kysely';
import { eventStatements } from '../../event-tables.ts';

export const eventsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of eventStatements('text', 'integer primary key'))
      await sql.raw(statement).execute(db);
  },
};
