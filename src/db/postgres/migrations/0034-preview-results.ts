/**
 * What a preview found, as one compressed row in place of many pieces; a large one goes on in further rows. Previews last for
 * an hour, so earlier ones are gone.
 */

import { type Kysely, type Migration, sql } from 'kysely';
import { TEXT } from './baseline/columns.ts';

const STATEMENTS = [
  'drop table preview_pieces',
  'delete from previews',
  `create table preview_results (
    preview_id ${TEXT} not null references previews (id),
    position bigint not null,
    contents ${TEXT} not null,
    groups bytea not null,
    nodes bytea not null,
    details bytea not null,
    primary key (preview_id, position))`,
];

export const previewResultsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
