/**
 * The names of nodes that were deleted: files of their own that do not say whose they are belong to none that comes later.
 * A trigger notes them, so that an older release that serves beside this one notes them too.
 */

import { type Kysely, type Migration, sql } from 'kysely';

const STATEMENTS = [
  'create table deleted_node_names (fqdn text not null primary key) without rowid',
  `insert or ignore into deleted_node_names (fqdn)
    select details ->> '$.fqdn' from audit_entries where action = 'node.deleted'
      and details ->> '$.fqdn' is not null and details ->> '$.fqdn' not in (select fqdn from nodes)`,
  `create trigger deleted_node_names_insert after delete on nodes
    begin insert or ignore into deleted_node_names (fqdn) values (old.fqdn); end`,
];

export const deletedNodeNamesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
