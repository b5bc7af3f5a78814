/** The registry of configurations and composites, scopes, settings, cleanups, and what tells caches of changes. */

import { HOT, NUMBERED, TEXT } from './columns.ts';

const REGISTRY = [
  `create table configurations (
    id ${TEXT} primary key,
    name ${TEXT} not null unique,
    name_key ${TEXT} not null unique,
    description ${TEXT},
    use_server_managed_parameters integer not null,
    created_at bigint not null,
    updated_at bigint not null,
    has_parameters integer not null default 0)`,
  `create table composites (
    id ${TEXT} primary key,
    name ${TEXT} not null unique,
    name_key ${TEXT} not null unique,
    description ${TEXT},
    created_at bigint not null,
    updated_at bigint not null,
    entry_point ${TEXT} not null default 'main.dsc.yaml')`,
  `create table configuration_settings (
    configuration_id ${TEXT} primary key references configurations (id) on delete cascade,
    require_semver integer,
    parameter_validation_mode ${TEXT} check (parameter_validation_mode in ('None', 'Warn', 'Strict')),
    retention_enabled integer,
    retention_keep_versions bigint,
    retention_keep_days bigint,
    retention_keep_release_versions bigint)`,
  `create table server_settings (
    name ${TEXT} primary key,
    value ${TEXT} not null)`,
  `create table repository_removals (
    kind ${TEXT} not null check (kind in ('configurations', 'composites', 'parameters')),
    name ${TEXT} not null,
    primary key (kind, name))`,
];

const SCOPES = [
  `create table scope_types (
    id ${TEXT} primary key,
    name ${TEXT} not null,
    name_key ${TEXT} not null unique,
    description ${TEXT},
    precedence bigint not null,
    is_system integer not null,
    is_enabled integer not null,
    value_mode ${TEXT} not null check (value_mode in ('Unrestricted', 'Restricted')),
    created_at bigint not null,
    updated_at bigint not null)`,
  `create table scope_values (
    id ${TEXT} primary key,
    scope_type_id ${TEXT} not null references scope_types (id) on delete cascade,
    value ${TEXT} not null,
    value_key ${TEXT} not null,
    description ${TEXT},
    created_at bigint not null,
    updated_at bigint not null,
    unique (scope_type_id, value_key))`,
  'create index scope_values_by_key on scope_values (value_key)',
];

const CLEANUPS = [
  `create table retention_runs (
    seq ${NUMBERED},
    id ${TEXT} not null unique,
    started_at bigint not null,
    completed_at bigint,
    version_type ${TEXT} not null
      check (version_type in ('Configuration', 'Composite', 'Parameter', 'Report', 'StatusEvent')),
    is_scheduled integer not null,
    is_dry_run integer not null,
    deleted_count bigint not null,
    kept_count bigint not null,
    error ${TEXT},
    was_interrupted integer not null)`,
  'create index retention_runs_by_start on retention_runs (started_at, seq)',
  'create index retention_runs_by_type on retention_runs (version_type, is_scheduled, started_at)',
];

/** Tables of one row, whose value rises. */
export const GENERATIONS = ['generation', 'access_generation', 'running_generation'] as const;

const FEED = [
  `create table changes (seq ${NUMBERED}, kind ${TEXT} not null, key ${TEXT} not null)`,
  ...GENERATIONS.map(
    (table) => `create table ${table} (id integer primary key check (id = 1), value bigint not null) ${HOT}`,
  ),
];

export const SITE_TABLES: readonly string[] = [...REGISTRY, ...SCOPES, ...CLEANUPS, ...FEED];
