/**
 * What each node runs, as far as the server knows, and the manifests of what nodes and reports name. Triggers keep the
 * number of nodes by evidence.
 */

import { type Kysely, type Migration, sql } from 'kysely';

const changeCount = (row: 'new' | 'old', by: 1 | -1) =>
  `insert into evidence_counts (evidence, count) select ${row}.evidence, ${by} where ${row}.evidence is not null
    on conflict do update set count = count + ${by};`;

const STATEMENTS = [
  `create table node_running (
    node_id text not null primary key references nodes (id) on delete cascade,
    checksum text,
    evidence text check (evidence in ('Told', 'Served', 'Declared')),
    since bigint,
    answered_checksum text,
    served_checksum text,
    check ((checksum is null) = (evidence is null) and (checksum is null) = (since is null))) without rowid`,
  'create index node_running_by_checksum on node_running (checksum, evidence)',
  'create index node_running_by_evidence on node_running (evidence)',
  `create table evidence_counts (
    evidence text not null primary key,
    count integer not null) without rowid`,
  `create trigger evidence_counts_insert after insert on node_running begin ${changeCount('new', 1)} end`,
  `create trigger evidence_counts_delete after delete on node_running begin ${changeCount('old', -1)} end`,
  `create trigger evidence_counts_update after update of evidence on node_running
    when old.evidence is not new.evidence
    begin ${changeCount('old', -1)} ${changeCount('new', 1)} end`,
  `create table manifests (
    checksum text not null primary key,
    configuration_name text not null,
    is_composite integer not null,
    version text not null,
    content text not null,
    bundle_digest text,
    first_served_at bigint) without rowid`,
  'alter table reports add column configuration_checksum text',
  `alter table reports add column checksum_source text check (checksum_source in ('Declared', 'Served'))`,
];

export const runningMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
