/** Grants on the parameters of a scope, and the marks of those that only holders of such a grant may read. */

import { type Kysely, type Migration, sql } from 'kysely';
import { GOES_WITH, scopeGrantStatements } from '../../scope-grant-tables.ts';

const STATEMENTS = [
  ...scopeGrantStatements('text'),
  ...GOES_WITH.map(
    ([table, name, theirs]) => `create trigger ${name} after delete on ${table}
      begin delete from scope_grants where ${theirs} = old.id; end`,
  ),
  ...['scope_grants', 'restricted_scopes'].flatMap((table) =>
    ['insert', 'update', 'delete'].map(
      (event) => `create trigger access_generation_${table}_${event} after ${event} on ${table}
        begin update access_generation set value = value + 1 where id = 1; end`,
    ),
  ),
];

export const scopeGrantsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
