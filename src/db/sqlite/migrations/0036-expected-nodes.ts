/**
 * Nodes that await their certificate are marked: those that came from another server and have not called yet, and those that
 * are expected, of whose certificate nothing is known. Triggers keep the mark beside the end of the certificate.
 */

import { type Kysely, type Migration, sql } from 'kysely';

const copyCertificate = (row: 'new' | 'old') =>
  `update nodes set
      certificate_end =
        (select not_after from node_certificates where node_id = ${row}.node_id and state = 'current'),
      is_awaiting = not exists (select 1 from node_certificates
        where node_id = ${row}.node_id and state = 'current' and thumbprint is not sha1_thumbprint)
    where id = ${row}.node_id;`;

const trigger = (name: string, event: string, body: string) => [
  `drop trigger ${name}`,
  `create trigger ${name} after ${event} begin ${body} end`,
];

const STATEMENTS = [
  'alter table nodes add column is_awaiting integer not null default 0',
  `update nodes set is_awaiting = 1 where id in
    (select node_id from node_certificates where state = 'current' and thumbprint = sha1_thumbprint)`,
  'create index nodes_awaiting on nodes (fqdn) where is_awaiting = 1',
  ...trigger(
    'nodes_certificate_insert',
    `insert on node_certificates when new.state = 'current'`,
    copyCertificate('new'),
  ),
  ...trigger(
    'nodes_certificate_update',
    'update on node_certificates',
    copyCertificate('old') + copyCertificate('new'),
  ),
  ...trigger(
    'nodes_certificate_delete',
    `delete on node_certificates when old.state = 'current'`,
    copyCertificate('old'),
  ),
];

export const expectedNodesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
