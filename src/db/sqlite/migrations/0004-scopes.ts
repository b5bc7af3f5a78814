/** The scope types that every server has, and the triggers on scopes and tags that raise the generation. */

import { type Kysely, type Migration, sql } from 'kysely';

const SYSTEM_TYPES = [
  {
    id: '00000000-0000-0000-0000-000000000001',
    name: 'Default',
    description: 'Applies to every node',
    precedence: 0,
  },
  {
    id: '00000000-0000-0000-0000-000000000002',
    name: 'Node',
    description: 'Applies to the one node of that name',
    precedence: 1,
  },
];

/** A new scope value has no trigger. What a node gets changes only with its tag, or with the value's file in Git. */
const GENERATION = [
  ...['scope_types', 'node_tags'].flatMap((table) =>
    ['insert', 'update', 'delete'].map((event) => raisesGeneration(table, event)),
  ),
  raisesGeneration('scope_values', 'delete'),
];

function raisesGeneration(table: string, event: string): string {
  return `create trigger generation_${table}_${event} after ${event} on ${table}
    begin update generation set value = value + 1 where id = 1; end`;
}

export const scopesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // A migration is given no clock. These times are only shown.
    const now = Date.now();
    for (const { id, name, description, precedence } of SYSTEM_TYPES) {
      await sql`insert into scope_types
          (id, name, name_key, description, precedence, is_system, is_enabled, value_mode, created_at, updated_at)
        values (${id}, ${name}, ${name.toLowerCase()}, ${description}, ${precedence}, 1, 1, 'Unrestricted',
          ${now}, ${now})`.execute(db);
    }
    await sql`alter table configurations add column has_parameters integer not null default 0`.execute(db);
    // Without this index, deleting a scope type would scan the tags of the whole fleet.
    await sql`create index node_tags_by_type on node_tags (scope_type_id)`.execute(db);
    for (const statement of GENERATION) await sql.raw(statement).execute(db);
  },
};
