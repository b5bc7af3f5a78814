/**
 * Nodes that await their certificate are marked: those that came from another server and have not called yet, and those that
 * are expected, of whose certificate nothing is known. Triggers keep the mark beside the end of the certificate.
 */

import { type Kysely, type Migration, sql } from 'kysely';
import { afterEach } from './baseline/trigger.ts';

const copyCertificate = (rows: string) =>
  `update nodes set certificate_end = current_end, is_awaiting = awaits from (
        select id as node,
          (select not_after from node_certificates where node_id = id and state = 'current') as current_end,
          (not exists (select from node_certificates where node_id = id and state = 'current'
            and thumbprint is distinct from sha1_thumbprint))::integer as awaits
        from nodes where id in (${rows})) as ends
      where id = node and (certificate_end is distinct from current_end or is_awaiting <> awaits);`;

const again = (event: 'insert' | 'update' | 'delete', rows: string) => {
  const name = `nodes_certificate_${event}`;
  return [
    `drop trigger ${name} on node_certificates`,
    `drop function ${name}()`,
    ...afterEach(event, 'node_certificates', name, copyCertificate(rows)),
  ];
};

const STATEMENTS = [
  'alter table nodes add column is_awaiting integer not null default 0',
  `update nodes set is_awaiting = 1 where id in
    (select node_id from node_certificates where state = 'current' and thumbprint = sha1_thumbprint)`,
  'create index nodes_awaiting on nodes (fqdn) where is_awaiting = 1',
  ...again('insert', 'select node_id from added'),
  ...again('update', 'select node_id from gone union all select node_id from added'),
  ...again('delete', 'select node_id from gone'),
];

export const expectedNodesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
