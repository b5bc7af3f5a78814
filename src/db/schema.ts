/**
 * Row types of the database. Times are epoch milliseconds, flags 0 or 1, ids lower-case UUIDs.
 * `*_key` columns hold a name brought to one case, so that uniqueness does not depend on case.
 */

import type { Generated } from 'kysely';

export interface UsersTable {
  id: string;
  username: string;
  username_key: string;
  email: string;
  account_type: 'User' | 'ServiceAccount';
  /** scrypt-kdf output as base64; null for service accounts. */
  password_hash: string | null;
  is_active: number;
  require_password_change: number;
  access_failed_count: Generated<number>;
  lockout_end: number | null;
  created_at: number;
  modified_at: number;
}

export interface RolesTable {
  id: string;
  name: string;
  name_key: string;
  description: string | null;
  is_system: number;
  created_at: number;
  modified_at: number;
}

export interface RolePermissionsTable {
  role_id: string;
  permission: string;
}

export interface UserRolesTable {
  user_id: string;
  role_id: string;
}

export interface GroupsTable {
  id: string;
  name: string;
  name_key: string;
  description: string | null;
  created_at: number;
  modified_at: number;
}

export interface GroupMembersTable {
  group_id: string;
  user_id: string;
}

export interface GroupRolesTable {
  group_id: string;
  role_id: string;
}

export interface SessionsTable {
  /** SHA-256 of the cookie's value. */
  token_hash: string;
  user_id: string;
  created_at: number;
  expires_at: number;
}

export interface AccessTokensTable {
  id: string;
  user_id: string;
  name: string;
  prefix: string;
  token_hash: string;
  /** JSON array of scope names in the order given. */
  scopes: string;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
  created_at: number;
}

export interface LoginAttemptsTable {
  address: string;
  window_start: number;
  attempts: number;
}

export interface RegistrationKeysTable {
  id: string;
  key_hash: string;
  key_prefix: string;
  description: string | null;
  created_at: number;
  expires_at: number;
  max_uses: number | null;
  current_uses: Generated<number>;
  revoked_at: number | null;
  allow_reregistration: number;
}

export interface NodesTable {
  id: string;
  fqdn: string;
  status: string;
  lcm_status: string;
  configuration_source: string | null;
  configuration_mode: string | null;
  configuration_mode_interval: string | null;
  configuration_mode_interval_ms: number | null;
  report_compliance: number | null;
  desired_configuration_mode: string | null;
  desired_configuration_mode_interval: string | null;
  desired_report_compliance: number | null;
  created_at: number;
}

/** Apart from `nodes` so that the batched write of check-ins touches narrow rows only. */
export interface NodeCheckInsTable {
  node_id: string;
  last_check_in: number;
}

export interface NodeCertificatesTable {
  /** SHA-256 as 64 upper-case hex digits. */
  thumbprint: string;
  node_id: string;
  state: 'current' | 'pending';
  subject: string;
  not_before: number;
  not_after: number;
  created_at: number;
}

export interface AssignmentsTable {
  node_id: string;
  configuration_id: string | null;
  composite_id: string | null;
  major_version: number | null;
  prerelease_channel: string | null;
  assigned_at: number;
}

export interface ConfigurationsTable {
  id: string;
  name: string;
  name_key: string;
  description: string | null;
  use_server_managed_parameters: number;
  /** Whether a repository of parameters was ever made: one that is missing then is a loss, not a beginning. */
  has_parameters: Generated<number>;
  created_at: number;
  updated_at: number;
}

export interface CompositesTable {
  id: string;
  name: string;
  name_key: string;
  description: string | null;
  entry_point: string;
  created_at: number;
  updated_at: number;
}

/** What a configuration sets for itself; null means inherited. */
export interface ConfigurationSettingsTable {
  configuration_id: string;
  require_semver: number | null;
  parameter_validation_mode: 'None' | 'Warn' | 'Strict' | null;
  retention_enabled: number | null;
  retention_keep_versions: number | null;
  retention_keep_days: number | null;
  retention_keep_release_versions: number | null;
}

/** A server-wide setting that differs from its default; the value is JSON. */
export interface ServerSettingsTable {
  name: string;
  value: string;
}

/** A repository that is to be removed: its row is gone already. */
export interface RepositoryRemovalsTable {
  kind: 'configurations' | 'composites' | 'parameters';
  name: string;
}

export interface GrantsTable {
  resource_kind: 'configuration' | 'composite' | 'parameters';
  resource_id: string;
  principal_type: 'User' | 'Group';
  principal_id: string;
  level: 'Read' | 'Modify' | 'Manage';
  granted_at: number;
  granted_by: string | null;
}

export interface ScopeTypesTable {
  id: string;
  name: string;
  name_key: string;
  description: string | null;
  precedence: number;
  is_system: number;
  is_enabled: number;
  value_mode: 'Unrestricted' | 'Restricted';
  created_at: number;
  updated_at: number;
}

export interface ScopeValuesTable {
  id: string;
  scope_type_id: string;
  value: string;
  value_key: string;
  description: string | null;
  created_at: number;
  updated_at: number;
}

export interface NodeTagsTable {
  node_id: string;
  scope_type_id: string;
  scope_value_id: string;
  assigned_at: number;
}

/** Append-only. Never a secret in any column. */
export interface AuditEntriesTable {
  /** Rises with the order of writing. */
  seq: Generated<number>;
  id: string;
  timestamp: number;
  actor_type: 'User' | 'Node' | 'System' | 'Anonymous';
  actor_id: string | null;
  actor_name: string | null;
  action: string;
  resource_type: string;
  resource_id: string | null;
  /** A JSON object. */
  details: string | null;
  ip_address: string | null;
  request_id: string | null;
}

export interface ExternalGroupMappingsTable {
  id: string;
  provider: string;
  external_group_id: string;
  external_group_name: string | null;
  group_id: string;
  created_at: number;
}

/** One row each: rises with every change that can alter what a node gets, or what a user may do. */
export interface GenerationTable {
  id: number;
  value: number;
}

export interface Schema {
  users: UsersTable;
  roles: RolesTable;
  role_permissions: RolePermissionsTable;
  user_roles: UserRolesTable;
  groups: GroupsTable;
  group_members: GroupMembersTable;
  group_roles: GroupRolesTable;
  sessions: SessionsTable;
  access_tokens: AccessTokensTable;
  login_attempts: LoginAttemptsTable;
  registration_keys: RegistrationKeysTable;
  nodes: NodesTable;
  node_check_ins: NodeCheckInsTable;
  node_certificates: NodeCertificatesTable;
  assignments: AssignmentsTable;
  configurations: ConfigurationsTable;
  composites: CompositesTable;
  configuration_settings: ConfigurationSettingsTable;
  server_settings: ServerSettingsTable;
  repository_removals: RepositoryRemovalsTable;
  grants: GrantsTable;
  scope_types: ScopeTypesTable;
  scope_values: ScopeValuesTable;
  node_tags: NodeTagsTable;
  audit_entries: AuditEntriesTable;
  external_group_mappings: ExternalGroupMappingsTable;
  generation: GenerationTable;
  access_generation: GenerationTable;
}
