/**
 * The first tables: identity, nodes, the registry of configurations, scopes, the generation counter.
 * The statements are plain SQL that PostgreSQL would take too; only the triggers are SQLite's.
 */

import { type Kysely, type Migration, sql } from 'kysely';

const IDENTITY = [
  `create table users (
    id text primary key,
    username text not null,
    username_key text not null unique,
    email text not null,
    account_type text not null check (account_type in ('User', 'ServiceAccount')),
    password_hash text,
    is_active integer not null,
    require_password_change integer not null,
    access_failed_count integer not null default 0,
    lockout_end bigint,
    created_at bigint not null,
    modified_at bigint not null)`,
  `create table roles (
    id text primary key,
    name text not null,
    name_key text not null unique,
    description text,
    is_system integer not null,
    created_at bigint not null,
    modified_at bigint not null)`,
  `create table role_permissions (
    role_id text not null references roles (id) on delete cascade,
    permission text not null,
    primary key (role_id, permission))`,
  `create table user_roles (
    user_id text not null references users (id) on delete cascade,
    role_id text not null references roles (id) on delete cascade,
    primary key (user_id, role_id))`,
  `create table groups (
    id text primary key,
    name text not null,
    name_key text not null unique,
    description text,
    created_at bigint not null,
    modified_at bigint not null)`,
  `create table group_members (
    group_id text not null references groups (id) on delete cascade,
    user_id text not null references users (id) on delete cascade,
    primary key (group_id, user_id))`,
  'create index group_members_by_user on group_members (user_id)',
  `create table group_roles (
    group_id text not null references groups (id) on delete cascade,
    role_id text not null references roles (id) on delete cascade,
    primary key (group_id, role_id))`,
  `create table sessions (
    token_hash text primary key,
    user_id text not null references users (id) on delete cascade,
    created_at bigint not null,
    expires_at bigint not null)`,
  'create index sessions_by_user on sessions (user_id)',
  `create table access_tokens (
    id text primary key,
    user_id text not null references users (id) on delete cascade,
    name text not null,
    prefix text not null,
    token_hash text not null unique,
    scopes text not null,
    expires_at bigint,
    last_used_at bigint,
    revoked_at bigint,
    created_at bigint not null)`,
  'create index access_tokens_by_user on access_tokens (user_id)',
  `create table login_attempts (
    address text primary key,
    window_start bigint not null,
    attempts integer not null)`,
];

const NODES = [
  `create table registration_keys (
    id text primary key,
    key_hash text not null unique,
    key_prefix text not null,
    description text,
    created_at bigint not null,
    expires_at bigint not null,
    max_uses integer,
    current_uses integer not null default 0,
    revoked_at bigint,
    allow_reregistration integer not null)`,
  `create table nodes (
    id text primary key,
    fqdn text not null unique,
    status text not null,
    lcm_status text not null,
    configuration_source text,
    configuration_mode text,
    configuration_mode_interval text,
    configuration_mode_interval_ms bigint,
    report_compliance integer,
    desired_configuration_mode text,
    desired_configuration_mode_interval text,
    desired_report_compliance integer,
    created_at bigint not null)`,
  `create table node_check_ins (
    node_id text primary key references nodes (id) on delete cascade,
    last_check_in bigint not null)`,
  `create table node_certificates (
    thumbprint text primary key,
    node_id text not null references nodes (id) on delete cascade,
    state text not null check (state in ('current', 'pending')),
    subject text not null,
    not_before bigint not null,
    not_after bigint not null,
    created_at bigint not null,
    unique (node_id, state))`,
];

const REGISTRY = [
  `create table configurations (
    id text primary key,
    name text not null unique,
    name_key text not null unique,
    description text,
    use_server_managed_parameters integer not null,
    created_at bigint not null,
    updated_at bigint not null)`,
  `create table composites (
    id text primary key,
    name text not null unique,
    name_key text not null unique,
    description text,
    created_at bigint not null,
    updated_at bigint not null)`,
  `create table assignments (
    node_id text primary key references nodes (id) on delete cascade,
    configuration_id text references configurations (id),
    composite_id text references composites (id),
    major_version integer,
    prerelease_channel text,
    assigned_at bigint not null,
    check ((configuration_id is null) <> (composite_id is null)))`,
  'create index assignments_by_configuration on assignments (configuration_id)',
  'create index assignments_by_composite on assignments (composite_id)',
  `create table grants (
    resource_kind text not null check (resource_kind in ('configuration', 'composite', 'parameters')),
    resource_id text not null,
    principal_type text not null check (principal_type in ('User', 'Group')),
    principal_id text not null,
    level text not null check (level in ('Read', 'Modify', 'Manage')),
    granted_at bigint not null,
    granted_by text,
    primary key (resource_kind, resource_id, principal_type, principal_id))`,
  'create index grants_by_principal on grants (principal_type, principal_id, resource_kind)',
];

const SCOPES = [
  `create table scope_types (
    id text primary key,
    name text not null,
    name_key text not null unique,
    description text,
    precedence integer not null,
    is_system integer not null,
    is_enabled integer not null,
    value_mode text not null check (value_mode in ('Unrestricted', 'Restricted')),
    created_at bigint not null,
    updated_at bigint not null)`,
  `create table scope_values (
    id text primary key,
    scope_type_id text not null references scope_types (id) on delete cascade,
    value text not null,
    value_key text not null,
    description text,
    created_at bigint not null,
    updated_at bigint not null,
    unique (scope_type_id, value_key))`,
  `create table node_tags (
    node_id text not null references nodes (id) on delete cascade,
    scope_type_id text not null references scope_types (id),
    scope_value_id text not null references scope_values (id),
    assigned_at bigint not null,
    primary key (node_id, scope_type_id))`,
  'create index node_tags_by_value on node_tags (scope_value_id)',
];

/**
 * The generation rises with every change that can alter what a node gets. Assignments have no trigger for it, because a
 * poll reads the node's own assignment in the same statement as the generation.
 */
const GENERATION = [
  'create table generation (id integer primary key check (id = 1), value bigint not null)',
  'insert into generation (id, value) values (1, 1)',
  ...['configurations', 'composites'].flatMap((table) =>
    ['insert', 'update', 'delete'].map(
      (event) => `create trigger generation_${table}_${event} after ${event} on ${table}
        begin update generation set value = value + 1 where id = 1; end`,
    ),
  ),
];

/** A grant names its holder and its resource without foreign keys, because each may be in one of several tables. */
const GRANT_CLEANUP = [
  `create trigger grants_of_user after delete on users
    begin delete from grants where principal_type = 'User' and principal_id = old.id; end`,
  `create trigger grants_of_group after delete on groups
    begin delete from grants where principal_type = 'Group' and principal_id = old.id; end`,
  `create trigger grants_on_configuration after delete on configurations
    begin delete from grants where resource_kind in ('configuration', 'parameters') and resource_id = old.id; end`,
  `create trigger grants_on_composite after delete on composites
    begin delete from grants where resource_kind = 'composite' and resource_id = old.id; end`,
];

export const initialMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const statements = [...IDENTITY, ...NODES, ...REGISTRY, ...SCOPES, ...GENERATION, ...GRANT_CLEANUP];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
