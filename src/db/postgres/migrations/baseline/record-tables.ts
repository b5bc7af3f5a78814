/** What nodes tell: reports, events and what they run. Previews stand here too. */

import { HOT, NUMBERED, TEXT } from './columns.ts';

const REPORTS = [
  `create table status_events (
    id ${NUMBERED},
    node_id ${TEXT} not null references nodes (id) on delete cascade,
    lcm_status ${TEXT},
    status ${TEXT},
    timestamp bigint not null,
    check ((lcm_status is null) <> (status is null)))`,
  'create index status_events_by_node on status_events (node_id, timestamp, id)',
  `create table reports (
    seq ${NUMBERED},
    id ${TEXT} not null unique,
    node_id ${TEXT} not null references nodes (id) on delete cascade,
    timestamp bigint not null,
    operation ${TEXT} not null check (operation in ('Get', 'Set', 'Test', 'Export')),
    in_desired_state integer,
    had_errors integer not null,
    result ${TEXT} not null)`,
  `create index reports_by_node on reports
    (node_id, timestamp, seq, operation, in_desired_state, had_errors)`,
  'create index reports_by_outcome on reports (operation, in_desired_state, had_errors, timestamp, seq)',
  // PostgreSQL does not see that rows of an index are in the order of their time where a column before it is null.
  `create index reports_by_outcome_not_said on reports (operation, had_errors, timestamp, seq)
    where in_desired_state is null`,
  `create table report_checksums (
    report_seq bigint primary key,
    checksum ${TEXT} not null,
    source ${TEXT} not null check (source in ('Declared', 'Served')))`,
  `create table report_counts (
    span bigint not null,
    period bigint not null,
    operation ${TEXT} not null,
    in_desired_state integer not null,
    had_errors integer not null,
    count bigint not null,
    primary key (span, period, operation, in_desired_state, had_errors)) ${HOT}`,
];

const RUNNING = [
  `create table node_running (
    node_id ${TEXT} not null primary key references nodes (id) on delete cascade,
    checksum ${TEXT},
    evidence ${TEXT} check (evidence in ('Told', 'Served', 'Declared')),
    since bigint,
    answered_checksum ${TEXT},
    served_checksum ${TEXT},
    check ((checksum is null) = (evidence is null) and (checksum is null) = (since is null))) ${HOT}`,
  `create table evidence_counts (
    evidence ${TEXT} not null primary key,
    count bigint not null) ${HOT}`,
  `create table manifests (
    checksum ${TEXT} not null primary key,
    configuration_name ${TEXT} not null,
    is_composite integer not null,
    version ${TEXT} not null,
    content ${TEXT} not null,
    bundle_digest ${TEXT},
    first_served_at bigint)`,
  `create table checksum_uses (
    checksum ${TEXT} not null primary key,
    uses bigint not null) ${HOT}`,
];

const PREVIEWS = [
  `create table previews (
    id ${TEXT} not null primary key,
    user_id ${TEXT} not null,
    maker ${TEXT} not null,
    state ${TEXT} not null check (state in ('Running', 'Done', 'Failed')),
    created_at bigint not null,
    completed_at bigint,
    expires_at bigint not null,
    changes ${TEXT} not null,
    named ${TEXT} not null,
    is_narrowed integer not null,
    nodes bigint not null,
    changed bigint not null,
    unchanged bigint not null,
    unresolvable bigint not null,
    not_visible bigint not null,
    group_count bigint,
    error ${TEXT})`,
  'create index previews_by_expiry on previews (expires_at)',
  `create index previews_running on previews (maker) where state = 'Running'`,
  `create table preview_pieces (
    preview_id ${TEXT} not null references previews (id),
    kind ${TEXT} not null,
    position bigint not null,
    count bigint not null,
    changed bigint not null,
    unresolvable bigint not null,
    content ${TEXT} not null,
    primary key (preview_id, kind, position))`,
];

export const RECORD_TABLES: readonly string[] = [...REPORTS, ...RUNNING, ...PREVIEWS];
