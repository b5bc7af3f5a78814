/** The keys of secrets: the ids of those in use, which one encrypts, and the key of evidence in its encrypted form. */

import { type Kysely, type Migration, sql } from 'kysely';

const STATEMENTS = [
  'create table secret_keys (id text primary key, used_since integer not null)',
  `create table secret_state (
    id integer primary key check (id = 1),
    sealing_key_id text,
    evidence_key text)`,
  'insert into secret_state (id) values (1)',
];

export const secretKeysMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
