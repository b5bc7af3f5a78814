/** Change sets with their approvals. */

import { type Kysely, type Migration, sql } from 'kysely';
import { changeSetStatements } from '../../change-set-tables.ts';

export const changeSetsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of changeSetStatements('text')) await sql.raw(statement).execute(db);
  },
};
