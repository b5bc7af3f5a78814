/** Nodes and what belongs to them. Each order in which lists show nodes has an index. */

import { HOT, NUMBERED, TEXT } from './columns.ts';

/** What makes a cell. No column is null, because nulls are never equal in an index. */
export const CELL_KEY = [
  'target_id',
  'is_composite',
  'major_version',
  'prerelease_channel',
  'version',
  'status',
  'lcm_status',
  'evidence',
  'has_called',
] as const;

const NODES = [
  `create table nodes (
    id ${TEXT} primary key,
    fqdn ${TEXT} not null unique,
    status ${TEXT} not null,
    lcm_status ${TEXT} not null,
    configuration_source ${TEXT},
    configuration_mode ${TEXT},
    configuration_mode_interval ${TEXT},
    configuration_mode_interval_ms double precision,
    report_compliance integer,
    desired_configuration_mode ${TEXT},
    desired_configuration_mode_interval ${TEXT},
    desired_report_compliance integer,
    created_at bigint not null,
    number bigint,
    cell_id bigint,
    certificate_end bigint)`,
  'create index nodes_by_cell on nodes (cell_id, fqdn)',
  'create unique index nodes_by_number on nodes (number)',
  'create index nodes_in_lists on nodes (fqdn, cell_id, certificate_end, id)',
  'create index nodes_by_certificate on nodes (certificate_end, fqdn)',
  'create index nodes_by_creation on nodes (created_at, fqdn)',
  'create index nodes_by_interval on nodes (configuration_mode_interval_ms)',
  `create table node_check_ins (
    node_id ${TEXT} primary key references nodes (id) on delete cascade,
    last_check_in bigint not null,
    fqdn ${TEXT},
    interval_ms double precision)`,
  'create index node_check_ins_by_time on node_check_ins (last_check_in, fqdn, interval_ms)',
  'create table node_numbers (id integer primary key check (id = 1), last bigint not null)',
];

const CERTIFICATES = [
  `create table node_certificates (
    thumbprint ${TEXT} not null,
    sha1_thumbprint ${TEXT},
    node_id ${TEXT} not null references nodes (id) on delete cascade,
    state ${TEXT} not null check (state in ('current', 'pending')),
    subject ${TEXT} not null,
    not_before bigint not null,
    not_after bigint not null,
    created_at bigint not null,
    primary key (node_id, state))`,
  'create index node_certificates_by_thumbprint on node_certificates (thumbprint)',
  'create index node_certificates_by_sha1 on node_certificates (sha1_thumbprint)',
  `create index node_certificates_by_end on node_certificates (not_after) where state = 'current'`,
  `create unique index node_certificates_in_use on node_certificates (thumbprint) where state = 'current'`,
];

const WISHES = [
  `create table assignments (
    node_id ${TEXT} primary key references nodes (id) on delete cascade,
    configuration_id ${TEXT} references configurations (id),
    composite_id ${TEXT} references composites (id),
    major_version bigint,
    prerelease_channel ${TEXT},
    assigned_at bigint not null,
    version ${TEXT},
    check (version is null or (major_version is null and prerelease_channel is null)),
    check ((configuration_id is null) <> (composite_id is null)))`,
  `create index assignments_by_configuration
    on assignments (configuration_id, major_version, prerelease_channel, version)`,
  `create index assignments_by_composite
    on assignments (composite_id, major_version, prerelease_channel, version)`,
  `create table node_tags (
    node_id ${TEXT} not null references nodes (id) on delete cascade,
    scope_type_id ${TEXT} not null references scope_types (id),
    scope_value_id ${TEXT} not null references scope_values (id),
    assigned_at bigint not null,
    fqdn ${TEXT},
    primary key (node_id, scope_type_id))`,
  'create index node_tags_by_type on node_tags (scope_type_id)',
  'create index node_tags_by_value on node_tags (scope_value_id, fqdn)',
];

const COUNTS = [
  `create table node_counts (
    status ${TEXT} not null,
    lcm_status ${TEXT} not null,
    count bigint not null,
    primary key (status, lcm_status)) ${HOT}`,
  `create table node_cells (
    id ${NUMBERED},
    target_id ${TEXT} not null,
    is_composite integer not null,
    major_version bigint not null,
    prerelease_channel ${TEXT} not null,
    version ${TEXT} not null,
    status ${TEXT} not null,
    lcm_status ${TEXT} not null,
    evidence ${TEXT} not null,
    has_called integer not null,
    count bigint not null,
    unique (${CELL_KEY.join(', ')})) ${HOT}`,
  `create table tag_counts (scope_value_id ${TEXT} not null primary key, count bigint not null)`,
];

export const NODE_TABLES: readonly string[] = [...NODES, ...CERTIFICATES, ...WISHES, ...COUNTS];
