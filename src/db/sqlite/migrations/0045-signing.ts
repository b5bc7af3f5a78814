/** Who may sign the versions of configurations. */

import { type Kysely, type Migration, sql } from 'kysely';
import { signingStatements } from '../../signing-tables.ts';

export const signingMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of signingStatements('text')) await sql.raw(statement).execute(db);
  },
};
