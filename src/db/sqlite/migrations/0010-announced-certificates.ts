/**
 * Any number of nodes may announce one certificate, since an announcement proves nothing. A current certificate, which
 * has been shown, still belongs to one node.
 */

import { type Kysely, type Migration, sql } from 'kysely';

const note = (row: 'new' | 'old') =>
  `insert into changes (kind, key) values ('certificates', ${row}.thumbprint);`;

const trigger = (event: string, body: string) =>
  `create trigger changes_node_certificates_${event} after ${event} on node_certificates begin ${body} end`;

const STATEMENTS = [
  // SQLite cannot drop a primary key. Renaming the table would rewrite, or fail on, the triggers of `assignments` that
  // name it. So the rows are kept aside while the table is made again.
  'create table kept_certificates as select * from node_certificates',
  'drop table node_certificates',
  `create table node_certificates (
    thumbprint text not null,
    sha1_thumbprint text,
    node_id text not null references nodes (id) on delete cascade,
    state text not null check (state in ('current', 'pending')),
    subject text not null,
    not_before bigint not null,
    not_after bigint not null,
    created_at bigint not null,
    primary key (node_id, state))`,
  `insert into node_certificates
    (thumbprint, sha1_thumbprint, node_id, state, subject, not_before, not_after, created_at)
    select thumbprint, sha1_thumbprint, node_id, state, subject, not_before, not_after, created_at
    from kept_certificates`,
  'drop table kept_certificates',
  `create unique index node_certificates_in_use on node_certificates (thumbprint) where state = 'current'`,
  'create index node_certificates_by_thumbprint on node_certificates (thumbprint)',
  'create index node_certificates_by_sha1 on node_certificates (sha1_thumbprint)',
  // The triggers were dropped with the table, so they are made again.
  trigger('insert', note('new')),
  trigger('delete', note('old')),
  trigger('update', note('old') + note('new')),
];

export const announcedCertificatesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
