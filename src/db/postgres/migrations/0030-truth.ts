/** Why nodes are as they are, and since when. An older release remembers nothing of it. */

import { type Kysely, type Migration, sql } from 'kysely';
import { truthStatements } from '../../truth-tables.ts';
import { NUMBERED, TEXT } from './baseline/columns.ts';
import { afterEach } from './baseline/trigger.ts';

const STATEMENTS = [
  ...truthStatements(TEXT, NUMBERED),
  ...afterEach(
    'delete',
    'reports',
    'report_faults_end',
    'delete from report_faults where report_seq in (select seq from gone);',
  ),
];

export const truthMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
