/** What a configuration sets for the checks of its documents, and what a preview has found. An older release checks nothing. */

import { type Kysely, type Migration, sql } from 'kysely';
import { TEXT } from './baseline/columns.ts';

export const documentChecksMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const column = `document_checks ${TEXT} check (document_checks in ('None', 'Warn', 'Strict'))`;
    await sql.raw(`alter table configuration_settings add column ${column}`).execute(db);
    await sql.raw(`alter table previews add column findings ${TEXT} not null default '[]'`).execute(db);
  },
};
