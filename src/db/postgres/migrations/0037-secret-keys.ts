/**
 * The keys of secrets: the ids of those in use, which one encrypts, the key of evidence in its encrypted form, and which keys
 * each server has.
 */

import { type Kysely, type Migration, sql } from 'kysely';
import { TEXT } from './baseline/columns.ts';

const STATEMENTS = [
  `create table secret_keys (id ${TEXT} primary key, used_since bigint not null)`,
  `create table secret_state (
    id integer primary key check (id = 1),
    sealing_key_id ${TEXT},
    evidence_key ${TEXT})`,
  'insert into secret_state (id) values (1)',
  // Servers of a release that knows no secrets leave it null.
  `alter table servers add column secret_key_ids ${TEXT}`,
];

export const secretKeysMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
