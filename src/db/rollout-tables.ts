/** Row types of what is counted of rollouts. Rules as in schema.ts. Everything else about a rollout is in Git. */

import type { Generated } from 'kysely';
import type { NodeStatus } from '../domain/report-verdict.ts';

/** What of a configuration or composite rolls out, or has. */
export interface RolloutKey {
  kind: 'configurations' | 'composites';
  resource_id: string;
  /** The key of the rollout, which is the version if it has one. */
  version: string;
}

/** The last evaluation of a rollout. */
export interface RolloutCountsTable extends RolloutKey {
  evaluated_at: number;
  /** JSON: RolloutCounts of each step. */
  counts: string;
  /** Reports up to this number need not be looked at again; null before the first look. */
  last_report: number | null;
  /** JSON: the first nodes for which it was halted or paused, as `RolloutNode` has them. */
  faults: Generated<string>;
}

/** A node of an open step, or one that has taken the version otherwise, until a later rollout is under way. */
export interface RolloutNodesTable extends RolloutKey {
  node_id: string;
  /** The place of the step that offers the version to it; null where none does. */
  step: number | null;
  /** By the last report of a Test or a Set before the node took the version. It stays as it was seen first. */
  status_before: NodeStatus | null;
  /** Null together with the status before, as long as it has not taken the version. */
  taken_at: number | null;
  /** That of the last report of a Test or a Set since; null together with the status before the first one. */
  operation: 'Test' | 'Set' | null;
  status: NodeStatus | null;
  /** Whether a Set since then came before that report. */
  has_set: Generated<number>;
  /** The number of that report; null where it is Compliant, as nobody asks what it says then. */
  report_seq: number | null;
}

export interface RolloutTables {
  rollout_counts: RolloutCountsTable;
  rollout_nodes: RolloutNodesTable;
}

/**
 * The statements that made the tables in the migration 0024, the same on both engines but for the type of texts.
 * @param kept how the rows are kept, after the columns
 */
export function rolloutStatements(text: string, kept = ''): readonly string[] {
  const key = `kind ${text} not null check (kind in ('configurations', 'composites')),
      resource_id ${text} not null,
      version ${text} not null`;
  return [
    `create table rollout_counts (
      ${key},
      evaluated_at bigint not null,
      counts ${text} not null,
      last_report bigint,
      primary key (kind, resource_id, version)) ${kept}`,
    `create table rollout_nodes (
      ${key},
      node_id ${text} not null references nodes (id) on delete cascade,
      status_before ${text} not null,
      taken_at bigint not null,
      operation ${text} check (operation in ('Test', 'Set')),
      status ${text},
      has_set integer not null default 0,
      primary key (kind, resource_id, version, node_id),
      foreign key (kind, resource_id, version) references rollout_counts (kind, resource_id, version)
        on delete cascade,
      check ((operation is null) = (status is null))) ${kept}`,
    'create index rollout_nodes_by_node on rollout_nodes (node_id)',
  ];
}

/** The first order of values is that in which they were made. */
export const VALUE_ORDER_STATEMENTS = [
  'alter table scope_values add column sort_order integer not null default 0',
  `update scope_values set sort_order = made.place
    from (select id, row_number() over (partition by scope_type_id order by created_at, value) - 1 as place
      from scope_values) made
    where made.id = scope_values.id`,
];
