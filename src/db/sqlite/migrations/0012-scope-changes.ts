/**
 * The changes of nodes' scopes, which processes remember together with the nodes. A change of tags names the certificates
 * of the node, as a change of its assignment does (migration 0009). A change of a scope type concerns all nodes.
 */

import { type Kysely, type Migration, sql } from 'kysely';

const noteCertificatesOf = (row: 'new' | 'old') =>
  `insert into changes (kind, key)
    select 'certificates', thumbprint from node_certificates where node_id = ${row}.node_id;`;

const noteScope = (row: 'new' | 'old') => `insert into changes (kind, key) values ('scopes', ${row}.id);`;

/** A value that is added or deleted is not listed here, because no node is tagged with it. */
const TRIGGERS = [
  ['node_tags', 'insert', noteCertificatesOf('new')],
  ['node_tags', 'update', noteCertificatesOf('old') + noteCertificatesOf('new')],
  ['node_tags', 'delete', noteCertificatesOf('old')],
  ['scope_types', 'insert', noteScope('new')],
  ['scope_types', 'update of name, precedence, is_enabled', noteScope('new')],
  ['scope_types', 'delete', noteScope('old')],
  ['scope_values', 'update of value', noteScope('new')],
] as const;

export const scopeChangesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const [table, event, body] of TRIGGERS) {
      const [kind] = event.split(' ');
      const statement = `create trigger changes_${table}_${kind} after ${event} on ${table} begin ${body} end`;
      await sql.raw(statement).execute(db);
    }
  },
};
