/** The history of cleanups. */

import { type Kysely, type Migration, sql } from 'kysely';

const STATEMENTS = [
  `create table retention_runs (
    seq integer primary key,
    id text not null unique,
    started_at bigint not null,
    completed_at bigint,
    version_type text not null
      check (version_type in ('Configuration', 'Composite', 'Parameter', 'Report', 'StatusEvent')),
    is_scheduled integer not null,
    is_dry_run integer not null,
    deleted_count integer not null,
    kept_count integer not null,
    error text,
    was_interrupted integer not null)`,
  'create index retention_runs_by_start on retention_runs (started_at, seq)',
  'create index retention_runs_by_type on retention_runs (version_type, is_scheduled, started_at)',
];

export const retentionRunsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
