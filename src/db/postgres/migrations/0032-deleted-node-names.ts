/**
 * The names of nodes that were deleted: files of their own that do not say whose they are belong to none that comes later.
 * A trigger notes them, so that an older release that serves beside this one notes them too.
 */

import { type Kysely, type Migration, sql } from 'kysely';
import { TEXT } from './baseline/columns.ts';
import { afterEach } from './baseline/trigger.ts';

const STATEMENTS = [
  `create table deleted_node_names (fqdn ${TEXT} not null primary key)`,
  `insert into deleted_node_names (fqdn)
    select details::jsonb ->> 'fqdn' from audit_entries where action = 'node.deleted'
      and details::jsonb ->> 'fqdn' is not null and details::jsonb ->> 'fqdn' not in (select fqdn from nodes)
    on conflict do nothing`,
  ...afterEach(
    'delete',
    'nodes',
    'deleted_node_names_insert',
    'insert into deleted_node_names (fqdn) select fqdn from gone on conflict do nothing;',
  ),
];

export const deletedNodeNamesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
