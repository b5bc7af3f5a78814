/** Settings of the server and of single configurations, entry points of composites, pending deletions. */

import { type Kysely, type Migration, sql } from 'kysely';

const STATEMENTS = [
  // There is one row per setting that differs from its default; the value is JSON.
  `create table server_settings (
    name text primary key,
    value text not null)`,
  // Null means that the server's setting counts.
  `create table configuration_settings (
    configuration_id text primary key references configurations (id) on delete cascade,
    require_semver integer,
    parameter_validation_mode text check (parameter_validation_mode in ('None', 'Warn', 'Strict')),
    retention_enabled integer,
    retention_keep_versions integer,
    retention_keep_days integer,
    retention_keep_release_versions integer)`,
  `alter table composites add column entry_point text not null default 'main.dsc.yaml'`,
  // The row of such a repository is deleted already. After a crash the next start deletes the repository, instead of
  // adopting it.
  `create table repository_removals (
    kind text not null check (kind in ('configurations', 'composites', 'parameters')),
    name text not null,
    primary key (kind, name))`,
];

export const settingsAndCompositesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
