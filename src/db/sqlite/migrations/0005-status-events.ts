/** The history of each node's state, and the SHA-1 of certificates, by which an agent may announce its next one. */

import { type Kysely, type Migration, sql } from 'kysely';

const STATEMENTS = [
  // An id is never used again, so a client that keeps the highest id it has seen misses nothing.
  `create table status_events (
    id integer primary key autoincrement,
    node_id text not null references nodes (id) on delete cascade,
    lcm_status text,
    status text,
    timestamp integer not null,
    check ((lcm_status is null) <> (status is null)))`,
  // The id is in the index, so that a page is read from it in order.
  'create index status_events_by_node on status_events (node_id, timestamp, id)',
  // This is null for a certificate that was stored before the column existed.
  'alter table node_certificates add column sha1_thumbprint text',
  'create index node_certificates_by_sha1 on node_certificates (sha1_thumbprint)',
];

export const statusEventsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
