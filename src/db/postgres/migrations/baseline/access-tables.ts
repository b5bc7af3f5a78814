/** Users, what they may do, and how they show who they are. */

import { NUMBERED, TEXT } from './columns.ts';

const PRINCIPALS = [
  `create table users (
    id ${TEXT} primary key,
    username ${TEXT} not null,
    username_key ${TEXT} not null unique,
    email ${TEXT} not null,
    account_type ${TEXT} not null check (account_type in ('User', 'ServiceAccount')),
    password_hash ${TEXT},
    is_active integer not null,
    require_password_change integer not null,
    access_failed_count bigint not null default 0,
    lockout_end bigint,
    created_at bigint not null,
    modified_at bigint not null)`,
  ...['roles', 'groups'].map(
    (table) => `create table ${table} (
    id ${TEXT} primary key,
    name ${TEXT} not null,
    name_key ${TEXT} not null unique,
    description ${TEXT},${table === 'roles' ? ' is_system integer not null,' : ''}
    created_at bigint not null,
    modified_at bigint not null)`,
  ),
  `create table role_permissions (
    role_id ${TEXT} not null references roles (id) on delete cascade,
    permission ${TEXT} not null,
    primary key (role_id, permission))`,
  `create table user_roles (
    user_id ${TEXT} not null references users (id) on delete cascade,
    role_id ${TEXT} not null references roles (id) on delete cascade,
    primary key (user_id, role_id))`,
  `create table group_members (
    group_id ${TEXT} not null references groups (id) on delete cascade,
    user_id ${TEXT} not null references users (id) on delete cascade,
    primary key (group_id, user_id))`,
  'create index group_members_by_user on group_members (user_id)',
  `create table group_roles (
    group_id ${TEXT} not null references groups (id) on delete cascade,
    role_id ${TEXT} not null references roles (id) on delete cascade,
    primary key (group_id, role_id))`,
  `create table external_group_mappings (
    id ${TEXT} primary key,
    provider ${TEXT} not null,
    external_group_id ${TEXT} not null,
    external_group_name ${TEXT},
    group_id ${TEXT} not null references groups (id) on delete cascade,
    created_at bigint not null,
    unique (provider, external_group_id))`,
];

const CREDENTIALS = [
  `create table sessions (
    token_hash ${TEXT} primary key,
    user_id ${TEXT} not null references users (id) on delete cascade,
    created_at bigint not null,
    expires_at bigint not null)`,
  'create index sessions_by_user on sessions (user_id)',
  `create table access_tokens (
    id ${TEXT} primary key,
    user_id ${TEXT} not null references users (id) on delete cascade,
    name ${TEXT} not null,
    prefix ${TEXT} not null,
    token_hash ${TEXT} not null unique,
    scopes ${TEXT} not null,
    expires_at bigint,
    last_used_at bigint,
    revoked_at bigint,
    created_at bigint not null)`,
  'create index access_tokens_by_user on access_tokens (user_id)',
  `create table login_attempts (
    address ${TEXT} primary key,
    window_start bigint not null,
    attempts bigint not null)`,
  `create table registration_keys (
    id ${TEXT} primary key,
    key_hash ${TEXT} not null unique,
    key_prefix ${TEXT} not null,
    description ${TEXT},
    created_at bigint not null,
    expires_at bigint not null,
    max_uses bigint,
    current_uses bigint not null default 0,
    revoked_at bigint,
    allow_reregistration integer not null)`,
];

const GRANTS = [
  `create table grants (
    resource_kind ${TEXT} not null check (resource_kind in ('configuration', 'composite', 'parameters')),
    resource_id ${TEXT} not null,
    principal_type ${TEXT} not null check (principal_type in ('User', 'Group')),
    principal_id ${TEXT} not null,
    level ${TEXT} not null check (level in ('Read', 'Modify', 'Manage')),
    granted_at bigint not null,
    granted_by ${TEXT},
    primary key (resource_kind, resource_id, principal_type, principal_id))`,
  'create index grants_by_principal on grants (principal_type, principal_id, resource_kind)',
];

/**
 * SQLite has the number of the row at the end of each index, so it stands in the indexes here: lists are ordered by it after
 * the time. The last two indexes are for conditions that `db/activity.ts` repeats.
 */
const AUDIT = [
  `create table audit_entries (
    seq ${NUMBERED},
    id ${TEXT} not null unique,
    timestamp bigint not null,
    actor_type ${TEXT} not null check (actor_type in ('User', 'Node', 'System', 'Anonymous')),
    actor_id ${TEXT},
    actor_name ${TEXT},
    action ${TEXT} not null,
    resource_type ${TEXT} not null,
    resource_id ${TEXT},
    details ${TEXT},
    ip_address ${TEXT},
    request_id ${TEXT})`,
  'create index audit_entries_by_timestamp on audit_entries (timestamp, seq)',
  'create index audit_entries_by_type on audit_entries (resource_type, timestamp, seq)',
  'create index audit_entries_by_action on audit_entries (action, timestamp, seq)',
  'create index audit_entries_by_actor on audit_entries (actor_id, timestamp, seq)',
  'create index audit_entries_by_resource on audit_entries (resource_id, timestamp, seq)',
  `create index audit_entries_of_nodes on audit_entries (timestamp, seq)
    where resource_type = 'Node' and resource_id is not null`,
  `create index audit_entries_of_resources on audit_entries (resource_id, resource_type, timestamp, seq)
    where resource_type = 'Configuration' or resource_type = 'Parameters'
      or resource_type = 'CompositeConfiguration'`,
];

export const ACCESS_TABLES: readonly string[] = [...PRINCIPALS, ...CREDENTIALS, ...GRANTS, ...AUDIT];
