/**
 * Indexes for the activity and for the search. The first two find the entries of the audit trail that users may see of what
 * they may read. `db/activity.ts` repeats their conditions word by word, because SQLite uses them only then.
 */

import { type Kysely, type Migration, sql } from 'kysely';

const STATEMENTS = [
  // A refused registration is about no node. There may be very many of them.
  `create index audit_entries_of_nodes on audit_entries (timestamp)
    where resource_type = 'Node' and resource_id is not null`,
  `create index audit_entries_of_resources on audit_entries (resource_id, resource_type, timestamp)
    where resource_type = 'Configuration' or resource_type = 'Parameters'
      or resource_type = 'CompositeConfiguration'`,
  // Values are looked for in all scope types at once.
  'create index scope_values_by_key on scope_values (value_key)',
];

export const activityAndSearchMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
