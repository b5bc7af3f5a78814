/** Scope types and values that get another name. An older release finds nothing to do in what is noted of it. */

import { type Kysely, type Migration, sql } from 'kysely';
import { scopeMoveStatements } from '../../scope-move-tables.ts';
import { TEXT } from './baseline/columns.ts';

export const scopeMovesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of scopeMoveStatements(TEXT)) await sql.raw(statement).execute(db);
  },
};
