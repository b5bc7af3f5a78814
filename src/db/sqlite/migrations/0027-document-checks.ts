/** What a configuration sets for the checks of its documents, and what a preview has found. An older release checks nothing. */

import { type Kysely, type Migration, sql } from 'kysely';

export const documentChecksMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table configuration_settings
      add column document_checks text check (document_checks in ('None', 'Warn', 'Strict'))`.execute(db);
    await sql`alter table previews add column findings text not null default '[]'`.execute(db);
  },
};
