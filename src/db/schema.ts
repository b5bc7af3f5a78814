/**
 * Row types of the database. Times are epoch milliseconds, flags are 0 or 1, ids are lower-case UUIDs.
 * `*_key` columns hold a name in one case, so that uniqueness does not depend on case.
 */

import type { Generated, Kysely, Transaction } from 'kysely';
import type { ChangeSetTables } from './change-set-tables.ts';
import type { EventTables } from './event-tables.ts';
import type { NodeTables } from './node-tables.ts';
import type { OutcomeTables } from './outcome-tables.ts';
import type { PastTables } from './past-tables.ts';
import type { PreviewTables } from './preview-tables.ts';
import type { ProtectionTables } from './protection-tables.ts';
import type { RolloutTables } from './rollout-tables.ts';
import type { ScopeGrantTables } from './scope-grant-tables.ts';
import type { ScopeMovesTable } from './scope-move-tables.ts';
import type { SignInTables } from './sign-in-tables.ts';
import type { SigningTables } from './signing-tables.ts';
import type { TruthTables } from './truth-tables.ts';

export interface UsersTable {
  id: string;
  username: string;
  username_key: string;
  email: string;
  account_type: 'User' | 'ServiceAccount';
  /** The output of scrypt-kdf as base64; null for service accounts, and for who signs in by a provider alone. */
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

export interface GroupsTable {
  id: string;
  name: string;
  name_key: string;
  description: string | null;
  created_at: number;
  modified_at: number;
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
  /** JSON: the `KeyProfile`; null for a key that gives nothing of its own. */
  profile: Generated<string | null>;
  /** The user whose rights bound the profile. It is no reference, so that the key outlives the user, and is refused. */
  made_by: Generated<string | null>;
  last_used_at: Generated<number | null>;
  /** The text of `allowed_signers` that its join line gives to the agent; null for none. */
  signers: Generated<string | null>;
}

export interface ConfigurationsTable {
  id: string;
  name: string;
  name_key: string;
  description: string | null;
  use_server_managed_parameters: number;
  /** Whether a repository of parameters was ever made. If so, a missing one is damage. */
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
  document_checks: 'None' | 'Warn' | 'Strict' | null;
  /** Null is Off. */
  variables: 'Off' | 'On' | null;
  retention_enabled: number | null;
  retention_keep_versions: number | null;
  retention_keep_days: number | null;
  retention_keep_release_versions: number | null;
}

/** A repository that is to be deleted. Its row is deleted already. */
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
  /** Its place among the values of its type, which may have gaps. Equal ones, from an earlier release, go by value. */
  sort_order: Generated<number>;
  created_at: number;
  updated_at: number;
}

/** Rows are only ever added, apart from old ones that are deleted. No column ever holds a secret. */
export interface AuditEntriesTable {
  /** Later rows have higher numbers. */
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
  /** The number of the last change set that there was then. */
  since_set: number;
}

/** One run of a cleanup, whatever its result. */
export interface RetentionRunsTable {
  /** Later runs have higher numbers. */
  seq: Generated<number>;
  id: string;
  started_at: number;
  /** Null while it runs. If the server ends meanwhile, it stays null until the next start. */
  completed_at: number | null;
  version_type: 'Configuration' | 'Composite' | 'Parameter' | 'Report' | 'StatusEvent';
  is_scheduled: number;
  is_dry_run: number;
  deleted_count: number;
  kept_count: number;
  /** Why it failed or did less than it should. The text may be shown to users. */
  error: string | null;
  /** Whether the server ended meanwhile. The schedule starts again then. */
  was_interrupted: number;
}

export interface ReportsTable {
  /** Later rows have higher numbers. */
  seq: Generated<number>;
  id: string;
  node_id: string;
  timestamp: number;
  operation: 'Get' | 'Set' | 'Test' | 'Export';
  /** Null if the report does not say. */
  in_desired_state: number | null;
  had_errors: number;
  /** The JSON text exactly as the node sent it. */
  result: string;
}

/** What a node ran when it sent a report. Reports that are older than the table, or of which nothing is known, have no row. */
export interface ReportChecksumsTable {
  report_seq: number;
  checksum: string;
  /** Whether the report names it, or the last bundle that went to the node whole does. */
  source: 'Declared' | 'Served';
}

/** The number of reports of one outcome. Triggers keep these counts. */
export interface ReportCountsTable {
  /** The length of the counted spans of time in milliseconds; 0 means all times together. */
  span: number;
  /** The number of the span, counted from the epoch. */
  period: number;
  operation: ReportsTable['operation'];
  /** 0 or 1, or -1 if the reports do not say, because a primary key holds no null. */
  in_desired_state: number;
  had_errors: number;
  count: number;
}

export interface Schema
  extends NodeTables,
    PreviewTables,
    SignInTables,
    EventTables,
    RolloutTables,
    OutcomeTables,
    ScopeGrantTables,
    ChangeSetTables,
    PastTables,
    ProtectionTables,
    SigningTables,
    TruthTables {
  reports: ReportsTable;
  report_checksums: ReportChecksumsTable;
  report_counts: ReportCountsTable;
  users: UsersTable;
  roles: RolesTable;
  role_permissions: { role_id: string; permission: string };
  user_roles: { user_id: string; role_id: string };
  groups: GroupsTable;
  group_members: { group_id: string; user_id: string; since_set: Generated<number> };
  group_roles: { group_id: string; role_id: string };
  sessions: {
    /** The SHA-256 of the cookie's value. */
    token_hash: string;
    user_id: string;
    created_at: number;
    expires_at: number;
    /** The identity by which it was begun; null for a sign-in with a password. */
    identity_id: Generated<string | null>;
    /** What the provider calls its own session (`sid`). */
    provider_session: Generated<string | null>;
    /** When it ends however much it is used; null for never. */
    ends_at: Generated<number | null>;
  };
  access_tokens: {
    id: string;
    user_id: string;
    name: string;
    prefix: string;
    token_hash: string;
    /** A JSON array of scope names in the order given. */
    scopes: string;
    expires_at: number | null;
    last_used_at: number | null;
    revoked_at: number | null;
    created_at: number;
    /** By which it was exchanged; null for one that somebody made. */
    federation_id: Generated<string | null>;
  };
  login_attempts: { address: string; window_start: number; attempts: number };
  registration_keys: RegistrationKeysTable;
  configurations: ConfigurationsTable;
  composites: CompositesTable;
  configuration_settings: ConfigurationSettingsTable;
  /** A server-wide setting that differs from its default; the value is JSON. */
  server_settings: { name: string; value: string };
  repository_removals: RepositoryRemovalsTable;
  grants: GrantsTable;
  scope_types: ScopeTypesTable;
  scope_values: ScopeValuesTable;
  scope_moves: ScopeMovesTable;
  audit_entries: AuditEntriesTable;
  external_group_mappings: ExternalGroupMappingsTable;
  retention_runs: RetentionRunsTable;
  /** Changes that caches must be told of; see change-feed.ts. */
  changes: { seq: Generated<number>; kind: string; key: string };
  /** The one row's value rises with every change that can alter what a node gets. */
  generation: { id: number; value: number };
  /** On PostgreSQL: what all servers share besides the registry, such as the key of the authority. */
  secrets: { name: string; value: Buffer };
  /** On PostgreSQL: the one row is the lease of the server that leads (db/postgres/lead.ts). */
  lead_lease: { number: number; server_id: string | null; renewed_at: Date | null };
  /** On PostgreSQL: the servers that use the database. */
  servers: {
    id: string;
    version: string;
    /** Null for a server of a release that did not write it. */
    host: string | null;
    seen_at: Date;
    /** JSON: the ids of the keys of secrets that it has; null for a server of a release that knows no secrets. */
    secret_key_ids: Generated<string | null>;
  };
  /** The ids of the keys of secrets under which something is encrypted, or was. */
  secret_keys: { id: string; used_since: number };
  /** The one row says which key encrypts, and has the key of evidence, encrypted; null before the first secret. */
  secret_state: { id: number; sealing_key_id: string | null; evidence_key: string | null };
  /** The one row names the oldest release that may use the database. */
  oldest_release: { id: number; version: string };
  /** The one row's value rises with every change that can alter what a user may do. */
  access_generation: { id: number; value: number };
}

/** A handle or a transaction: the first argument of every query function. */
export type Db = Kysely<Schema> | Transaction<Schema>;
