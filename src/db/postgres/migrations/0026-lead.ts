/** The lease of the lead, and on which machine a server runs. A release that does not know them goes on without them. */

import { type Kysely, type Migration, sql } from 'kysely';
import { TEXT } from './baseline/columns.ts';

const STATEMENTS = [
  // The number is a key, so that a transaction which holds it keeps nobody from renewing the lease (db/postgres/lead.ts).
  'create table lead_lease (number bigint primary key, server_id uuid, renewed_at timestamptz)',
  'insert into lead_lease (number) values (0)',
  `alter table servers add column host ${TEXT}`,
];

export const leadMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
