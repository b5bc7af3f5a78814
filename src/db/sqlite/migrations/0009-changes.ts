/** The changes that caches must be told of, made by any process, in the order of their commits. */

import { type Kysely, type Migration, sql } from 'kysely';

/** The number of rows that are kept. A process that is further behind clears its caches. */
const KEPT = 10_000;

const note = (kind: string, key: string) => `insert into changes (kind, key) values ('${kind}', ${key});`;

/** A change of a node's assignment names its certificates, because both are read and remembered by thumbprint. */
const noteCertificatesOf = (row: 'new' | 'old') =>
  `insert into changes (kind, key)
    select 'certificates', thumbprint from node_certificates where node_id = ${row}.node_id;`;

const trigger = (table: string, event: string, body: string) =>
  `create trigger changes_${table}_${event} after ${event} on ${table} begin ${body} end`;

const STATEMENTS = [
  'create table changes (seq integer primary key autoincrement, kind text not null, key text not null)',
  trigger('node_certificates', 'insert', note('certificates', 'new.thumbprint')),
  trigger('node_certificates', 'delete', note('certificates', 'old.thumbprint')),
  trigger(
    'node_certificates',
    'update',
    note('certificates', 'old.thumbprint') + note('certificates', 'new.thumbprint'),
  ),
  trigger('assignments', 'insert', noteCertificatesOf('new')),
  trigger('assignments', 'update', noteCertificatesOf('new')),
  trigger('assignments', 'delete', noteCertificatesOf('old')),
  ...['configurations', 'composites'].flatMap((table) => [
    trigger(table, 'insert', note(table, 'new.name')),
    trigger(table, 'update', note(table, 'new.name')),
    trigger(table, 'delete', note(table, 'old.name')),
  ]),
  // Parameters have no row whose change could raise the generation.
  `create trigger changes_of_parameters after insert on changes when new.kind = 'parameters'
    begin update generation set value = value + 1 where id = 1; end`,
  `create trigger changes_pruned after insert on changes
    begin delete from changes where seq <= new.seq - ${KEPT}; end`,
];

export const changesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
