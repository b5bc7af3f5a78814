/** The audit trail, mappings of external groups, and a counter that rises when anybody's permissions change. */

import { type Kysely, type Migration, sql } from 'kysely';

const AUDIT = [
  // `seq` is the order of writing. Ids have no order, and two entries may share a millisecond.
  `create table audit_entries (
    seq integer primary key,
    id text not null unique,
    timestamp bigint not null,
    actor_type text not null check (actor_type in ('User', 'Node', 'System', 'Anonymous')),
    actor_id text,
    actor_name text,
    action text not null,
    resource_type text not null,
    resource_id text,
    details text,
    ip_address text,
    request_id text)`,
  // The trail is read by any of these columns, newest first. The time is in each index, so a page is found without
  // sorting. If two indexes fit, SQLite takes the newer one, so the most selective index is made last.
  'create index audit_entries_by_timestamp on audit_entries (timestamp)',
  'create index audit_entries_by_type on audit_entries (resource_type, timestamp)',
  'create index audit_entries_by_action on audit_entries (action, timestamp)',
  'create index audit_entries_by_actor on audit_entries (actor_id, timestamp)',
  'create index audit_entries_by_resource on audit_entries (resource_id, timestamp)',
  `create trigger audit_entries_stay before update on audit_entries
    begin select raise(abort, 'audit entries are never changed'); end`,
];

const EXTERNAL_MAPPINGS = [
  `create table external_group_mappings (
    id text primary key,
    provider text not null,
    external_group_id text not null,
    external_group_name text,
    group_id text not null references groups (id) on delete cascade,
    created_at bigint not null,
    unique (provider, external_group_id))`,
];

/** This counter is apart from `generation`, because access rights do not alter what a node gets. */
const ACCESS_GENERATION = [
  'create table access_generation (id integer primary key check (id = 1), value bigint not null)',
  'insert into access_generation (id, value) values (1, 1)',
  ...['user_roles', 'group_members', 'group_roles', 'role_permissions'].flatMap((table) =>
    ['insert', 'update', 'delete'].map(
      (event) => `create trigger access_generation_${table}_${event} after ${event} on ${table}
        begin update access_generation set value = value + 1 where id = 1; end`,
    ),
  ),
];

export const identityAndAuditMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const statements = [...AUDIT, ...EXTERNAL_MAPPINGS, ...ACCESS_GENERATION];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
