/** A number that rises with every change of what nodes run, so that what was read of it can be remembered until then. */

import { type Kysely, type Migration, sql } from 'kysely';

const raise = (table: string, event: string) =>
  `create trigger running_generation_${table}_${event} after ${event} on ${table}
    begin update running_generation set value = value + 1 where id = 1; end`;

const STATEMENTS = [
  'create table running_generation (id integer primary key check (id = 1), value bigint not null)',
  'insert into running_generation (id, value) values (1, 1)',
  ...['insert', 'update', 'delete'].map((event) => raise('node_running', event)),
  // The version that a node runs is known from the manifest.
  ...['insert', 'delete'].map((event) => raise('manifests', event)),
];

export const runningChangesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
