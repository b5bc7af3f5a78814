/**
 * What a registration key gives to the nodes that register by it, who made it, and by which key each node registered. Of nodes
 * that are there the audit trail tells the last one.
 */

import { type Kysely, type Migration, sql } from 'kysely';
import { TEXT } from './baseline/columns.ts';

const STATEMENTS = [
  `alter table registration_keys add column profile ${TEXT}, add column made_by ${TEXT}, add column last_used_at bigint`,
  `alter table nodes add column registration_key_id ${TEXT}`,
  `update nodes set registration_key_id = entry.key_id from (
      select distinct on (resource_id) resource_id, details::jsonb ->> 'registrationKeyId' as key_id
      from audit_entries where action in ('node.registered', 'node.reregistered')
      order by resource_id, timestamp desc) entry
    where nodes.id = entry.resource_id`,
  `create index nodes_by_registration_key on nodes (registration_key_id, fqdn) where registration_key_id is not null`,
];

export const joiningMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
