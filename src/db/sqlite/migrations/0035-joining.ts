/**
 * What a registration key gives to the nodes that register by it, who made it, and by which key each node registered. Of nodes
 * that are there the audit trail tells the last one.
 */

import { type Kysely, type Migration, sql } from 'kysely';

const STATEMENTS = [
  'alter table registration_keys add column profile text',
  'alter table registration_keys add column made_by text',
  'alter table registration_keys add column last_used_at bigint',
  'alter table nodes add column registration_key_id text',
  // Beside the aggregate SQLite takes the other columns from the row that has the highest time.
  `update nodes set registration_key_id = entry.key_id from (
      select resource_id, json_extract(details, '$.registrationKeyId') as key_id, max(timestamp)
      from audit_entries where action in ('node.registered', 'node.reregistered') group by resource_id) entry
    where nodes.id = entry.resource_id`,
  `create index nodes_by_registration_key on nodes (registration_key_id, fqdn) where registration_key_id is not null`,
];

export const joiningMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
