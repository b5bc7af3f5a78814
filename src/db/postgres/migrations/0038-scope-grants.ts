/** Grants on the parameters of a scope, and the marks of those that only holders of such a grant may read. */

import { type Kysely, type Migration, sql } from 'kysely';
import { GOES_WITH, scopeGrantStatements } from '../../scope-grant-tables.ts';
import { TEXT } from './baseline/columns.ts';
import { everyEvent } from './baseline/feed-triggers.ts';
import { afterEach } from './baseline/trigger.ts';

const STATEMENTS = [
  ...scopeGrantStatements(TEXT),
  ...GOES_WITH.flatMap(([table, name, theirs]) =>
    afterEach('delete', table, name, `delete from scope_grants where ${theirs} in (select id from gone);`),
  ),
  ...['scope_grants', 'restricted_scopes'].flatMap((table) => everyEvent('access_generation', table)),
];

export const scopeGrantsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
