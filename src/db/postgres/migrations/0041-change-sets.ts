/** Change sets with their approvals, and a kind of repository for their story. */

import { type Kysely, type Migration, sql } from 'kysely';
import { changeSetStatements } from '../../change-set-tables.ts';
import { TEXT } from './baseline/columns.ts';

const STATEMENTS = [
  ...changeSetStatements(TEXT),
  'alter table git_repositories drop constraint git_repositories_kind_check',
  `alter table git_repositories add constraint git_repositories_kind_check
    check (kind in ('configurations', 'composites', 'parameters', 'changes'))`,
];

export const changeSetsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
