/**
 * What each node runs, as far as the server knows, and the manifests of what nodes and reports name. Triggers keep the
 * number of nodes by evidence, and how many nodes and reports name each checksum: a manifest goes with the last of them.
 */

import { type Kysely, type Migration, sql } from 'kysely';

const changeCount = (row: 'new' | 'old', by: 1 | -1) =>
  `insert into evidence_counts (evidence, count) select ${row}.evidence, ${by} where ${row}.evidence is not null
    on conflict do update set count = count + ${by};`;

const use = (value: string) =>
  `insert into checksum_uses (checksum, uses) select ${value}, 1 where ${value} is not null
    on conflict do update set uses = uses + 1;`;
const leave = (value: string) => `update checksum_uses set uses = uses - 1 where checksum = ${value};`;

/**
 * A process remembers that the evidence of a node's poll is written. That holds no longer once the row says something
 * else than what polls are answered with, so the process is told to read the node anew.
 */
const noteCertificates = `insert into changes (kind, key)
    select 'certificates', thumbprint from node_certificates where node_id = new.node_id and state = 'current';`;

const STATEMENTS = [
  // There is no index by checksum or evidence: a rollout changes each node's row three times, at random places, and each
  // index would be a page more to write each time.
  `create table node_running (
    node_id text not null primary key references nodes (id) on delete cascade,
    checksum text,
    evidence text check (evidence in ('Told', 'Served', 'Declared')),
    since bigint,
    answered_checksum text,
    served_checksum text,
    check ((checksum is null) = (evidence is null) and (checksum is null) = (since is null))) without rowid`,
  `create table evidence_counts (
    evidence text not null primary key,
    count integer not null) without rowid`,
  `create trigger evidence_counts_insert after insert on node_running begin ${changeCount('new', 1)} end`,
  `create trigger evidence_counts_delete after delete on node_running begin ${changeCount('old', -1)} end`,
  `create trigger evidence_counts_update after update of evidence on node_running
    when old.evidence is not new.evidence
    begin ${changeCount('old', -1)} ${changeCount('new', 1)} end`,
  `create trigger changes_node_running_insert after insert on node_running
    when new.checksum is not new.answered_checksum begin ${noteCertificates} end`,
  `create trigger changes_node_running_update after update of checksum on node_running
    when new.checksum is not old.checksum and new.checksum is not new.answered_checksum
    begin ${noteCertificates} end`,
  `create table manifests (
    checksum text not null primary key,
    configuration_name text not null,
    is_composite integer not null,
    version text not null,
    content text not null,
    bundle_digest text,
    first_served_at bigint) without rowid`,
  // This is no column of reports: it would stand behind the result, and a list would read all of the result to reach it.
  `create table report_checksums (
    report_seq integer primary key,
    checksum text not null,
    source text not null check (source in ('Declared', 'Served')))`,
  `create trigger report_checksums_end after delete on reports
    begin delete from report_checksums where report_seq = old.seq; end`,
  // A cleanup deletes reports by the hundred thousand, so this is one number and no index of reports.
  `create table checksum_uses (
    checksum text not null primary key,
    uses integer not null) without rowid`,
  `create trigger checksum_uses_end after update of uses on checksum_uses when new.uses = 0 begin
    delete from manifests where checksum = new.checksum;
    delete from checksum_uses where checksum = new.checksum; end`,
  `create trigger checksum_uses_node_insert after insert on node_running begin ${use('new.checksum')} end`,
  `create trigger checksum_uses_node_delete after delete on node_running begin ${leave('old.checksum')} end`,
  `create trigger checksum_uses_node_update after update of checksum on node_running
    when old.checksum is not new.checksum
    begin ${use('new.checksum')} ${leave('old.checksum')} end`,
  `create trigger checksum_uses_report_insert after insert on report_checksums begin ${use('new.checksum')} end`,
  `create trigger checksum_uses_report_delete after delete on report_checksums
    begin ${leave('old.checksum')} end`,
];

export const runningMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
