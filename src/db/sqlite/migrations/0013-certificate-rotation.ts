/**
 * Rotation of node certificates. An announcement is a change of the current certificate too, since what is remembered of
 * that names the one to come. Certificates can be counted by their end. The built-in groups say what they are for.
 */

import { type Kysely, type Migration, sql } from 'kysely';
import { BUILT_IN_GROUPS } from '../../../domain/permissions.ts';

/** The other certificate of the node, if it has one. */
const noteOthers = (row: 'new' | 'old') =>
  `insert into changes (kind, key) select 'certificates', thumbprint from node_certificates
    where node_id = ${row}.node_id and state <> ${row}.state;`;

const note = (row: 'new' | 'old') =>
  `insert into changes (kind, key) values ('certificates', ${row}.thumbprint); ${noteOthers(row)}`;

const replaceTrigger = (event: string, row: 'new' | 'old') => [
  `drop trigger changes_node_certificates_${event}`,
  `create trigger changes_node_certificates_${event} after ${event} on node_certificates begin ${note(row)} end`,
];

const STATEMENTS = [
  ...replaceTrigger('insert', 'new'),
  ...replaceTrigger('delete', 'old'),
  `create index node_certificates_by_end on node_certificates (not_after) where state = 'current'`,
];

export const certificateRotationMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
    for (const { id, description } of BUILT_IN_GROUPS)
      await sql`update groups set description = ${description} where id = ${id} and description is null`.execute(
        db,
      );
  },
};
