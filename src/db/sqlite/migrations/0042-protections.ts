/** Protections, and since when somebody is in a group. */

import { type Kysely, type Migration, sql } from 'kysely';
import { protectionStatements } from '../../protection-tables.ts';

export const protectionsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of protectionStatements('text')) await sql.raw(statement).execute(db);
  },
};
