/** The oldest release that may use the database. SQLite has no more than that of what several servers need. */

import { type Kysely, type Migration, sql } from 'kysely';
import { OLDEST_RELEASE } from '../../oldest-release.ts';

const STATEMENTS = [
  'create table oldest_release (id integer primary key check (id = 1), version text not null)',
  `insert into oldest_release (id, version) values (1, '${OLDEST_RELEASE}')`,
];

export const severalServersMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
