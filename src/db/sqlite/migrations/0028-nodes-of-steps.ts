/**
 * Nodes of rollouts are noted before they have taken the version too, with their step, and a rollout keeps the nodes for which
 * it has halted. Scope values have an order, and previews have warnings.
 */

import { type Kysely, type Migration, sql } from 'kysely';
import { VALUE_ORDER_STATEMENTS } from '../../rollout-tables.ts';

const KEY = 'kind, resource_id, version, node_id';

const STATEMENTS = [
  `create table new_rollout_nodes (
    kind text not null check (kind in ('configurations', 'composites')),
    resource_id text not null,
    version text not null,
    node_id text not null references nodes (id) on delete cascade,
    step integer,
    status_before text,
    taken_at bigint,
    operation text check (operation in ('Test', 'Set')),
    status text,
    has_set integer not null default 0,
    report_seq bigint,
    primary key (${KEY}),
    foreign key (kind, resource_id, version) references rollout_counts (kind, resource_id, version)
      on delete cascade,
    check ((operation is null) = (status is null)),
    check ((status_before is null) = (taken_at is null))) without rowid`,
  `insert into new_rollout_nodes (${KEY}, status_before, taken_at, operation, status, has_set)
    select ${KEY}, status_before, taken_at, operation, status, has_set from rollout_nodes`,
  'drop table rollout_nodes',
  'alter table new_rollout_nodes rename to rollout_nodes',
  'create index rollout_nodes_by_node on rollout_nodes (node_id)',
  `alter table rollout_counts add column faults text not null default '[]'`,
  ...VALUE_ORDER_STATEMENTS,
  `alter table previews add column warnings text not null default '[]'`,
];

export const nodesOfStepsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
