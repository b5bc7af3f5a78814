/** Sign-in by an identity provider. Who is in a mapped group may do something else at the next request. */

import { type Kysely, type Migration, sql } from 'kysely';
import { signInStatements, TABLES_OF_MEMBERSHIP } from '../../sign-in-tables.ts';

const raise = (table: string, event: string) =>
  `create trigger access_generation_${table}_${event} after ${event} on ${table}
    begin update access_generation set value = value + 1 where id = 1; end`;

const STATEMENTS = [
  ...signInStatements('text'),
  ...TABLES_OF_MEMBERSHIP.flatMap((table) =>
    ['insert', 'update', 'delete'].map((event) => raise(table, event)),
  ),
];

export const signInMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
