/** Why nodes are as they are, and since when. An older release remembers nothing of it. */

import { type Kysely, type Migration, sql } from 'kysely';
import { truthStatements } from '../../truth-tables.ts';

const STATEMENTS = [
  ...truthStatements('text', 'integer primary key autoincrement'),
  `create trigger report_faults_end after delete on reports
    begin delete from report_faults where report_seq = old.seq; end`,
];

export const truthMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
