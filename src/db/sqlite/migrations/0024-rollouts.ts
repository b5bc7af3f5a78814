/** What is counted of rollouts. A manifest is kept, too, for whoever got the last bundle of it. */

import { type Kysely, type Migration, sql } from 'kysely';
import { rolloutStatements } from '../../rollout-tables.ts';

const use = (value: string) =>
  `insert into checksum_uses (checksum, uses) select ${value}, 1 where ${value} is not null
    on conflict do update set uses = uses + 1;`;
const leave = (value: string) => `update checksum_uses set uses = uses - 1 where checksum = ${value};`;

const CHECKSUMS = ['checksum', 'served_checksum'] as const;
const useAll = CHECKSUMS.map((column) => use(`new.${column}`)).join(' ');
const leaveAll = CHECKSUMS.map((column) => leave(`old.${column}`)).join(' ');

const STATEMENTS = [
  ...rolloutStatements('text', 'without rowid'),
  ...(['configurations', 'composites'] as const).map(
    (table) => `create trigger rollouts_of_${table} after delete on ${table}
      begin delete from rollout_counts where kind = '${table}' and resource_id = old.id; end`,
  ),
  ...['insert', 'delete', 'update'].map((event) => `drop trigger checksum_uses_node_${event}`),
  `create trigger checksum_uses_node_insert after insert on node_running begin ${useAll} end`,
  `create trigger checksum_uses_node_delete after delete on node_running begin ${leaveAll} end`,
  // One trigger for both columns, because a manifest that goes from one to the other must be used first and left then.
  `create trigger checksum_uses_node_update after update of checksum, served_checksum on node_running
    when old.checksum is not new.checksum or old.served_checksum is not new.served_checksum
    begin ${useAll} ${leaveAll} end`,
  `insert into checksum_uses (checksum, uses)
    select served_checksum, count(*) from node_running where served_checksum is not null group by served_checksum
    on conflict do update set uses = uses + excluded.uses`,
];

export const rolloutsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
