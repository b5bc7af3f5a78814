/**
 * Nodes of rollouts are noted before they have taken the version too, with their step, and a rollout keeps the nodes for which
 * it has halted. Scope values have an order, and previews have warnings.
 */

import { type Kysely, type Migration, sql } from 'kysely';
import { VALUE_ORDER_STATEMENTS } from '../../rollout-tables.ts';
import { TEXT } from './baseline/columns.ts';

const STATEMENTS = [
  `alter table rollout_nodes
    alter column status_before drop not null,
    alter column taken_at drop not null,
    add column step integer,
    add column report_seq bigint,
    add check ((status_before is null) = (taken_at is null))`,
  `alter table rollout_counts add column faults ${TEXT} not null default '[]'`,
  ...VALUE_ORDER_STATEMENTS,
  `alter table previews add column warnings ${TEXT} not null default '[]'`,
];

export const nodesOfStepsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
