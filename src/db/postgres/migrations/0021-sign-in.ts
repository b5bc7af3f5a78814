/** Sign-in by an identity provider. Who is in a mapped group may do something else at the next request. */

import { type Kysely, type Migration, sql } from 'kysely';
import { signInStatements, TABLES_OF_MEMBERSHIP } from '../../sign-in-tables.ts';
import { TEXT } from './baseline/columns.ts';
import { everyEvent } from './baseline/feed-triggers.ts';

const STATEMENTS = [
  ...signInStatements(TEXT),
  ...TABLES_OF_MEMBERSHIP.flatMap((table) => everyEvent('access_generation', table)),
];

export const signInMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
