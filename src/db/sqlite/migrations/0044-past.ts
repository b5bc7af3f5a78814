/** What nodes ran at which time. Triggers keep it beside what they run, whichever release writes that. */

import { type Kysely, type Migration, sql } from 'kysely';
import { evidenceColumns, evidenceTimes, FIRST_PAST, pastStatements } from '../../past-tables.ts';

const NUMBER = '(select number from nodes where id = new.node_id)';
/** The last stretch of the node. */
const LAST = `(select max(started) from node_past where node_number = ${NUMBER})`;

/** Two stretches never begin at the same time, also where the clock was set back. */
const BEGIN = `
    update node_past set ended = max(new.since, started + 1)
      where node_number = ${NUMBER} and started = ${LAST} and ended is null;
    insert into node_past (node_number, started, checksum, ${evidenceColumns()})
      select number, begun, new.checksum, ${evidenceTimes('new.evidence', 'begun')} from (
        select ${NUMBER} as number, max(new.since, coalesce((
          select ended from node_past where node_number = ${NUMBER} and started = ${LAST}), 0)) as begun);`;

const strengthen = (evidence: string, column: string) =>
  `${column} = case when new.evidence = '${evidence}' then max(new.since, started) else ${column} end`;

const STATEMENTS = [
  ...pastStatements('text', 'without rowid'),
  'alter table checksum_uses add column past bigint not null default 0',
  'drop trigger checksum_uses_end',
  `create trigger checksum_uses_end after update on checksum_uses when new.uses = 0 and new.past = 0 begin
    delete from manifests where checksum = new.checksum;
    delete from checksum_uses where checksum = new.checksum; end`,
  `create trigger node_past_insert after insert on node_past begin
    insert into checksum_uses (checksum, uses, past) values (new.checksum, 0, 1)
      on conflict do update set past = past + 1; end`,
  `create trigger node_past_delete after delete on node_past begin
    update checksum_uses set past = past - 1 where checksum = old.checksum; end`,
  ...FIRST_PAST,
  `create trigger past_of_new_node after insert on node_running begin
    insert or ignore into past_nodes (number, node_id, fqdn) select number, id, fqdn from nodes where id = new.node_id; end`,
  `create trigger past_of_first_checksum after insert on node_running when new.checksum is not null begin ${BEGIN} end`,
  `create trigger past_of_other_checksum after update of checksum on node_running
    when new.checksum is not old.checksum and new.checksum is not null begin ${BEGIN} end`,
  `create trigger past_of_evidence after update of evidence on node_running
    when new.checksum is old.checksum and new.evidence is not old.evidence begin
    update node_past set ${strengthen('Told', 'told_at')}, ${strengthen('Served', 'served_at')},
        ${strengthen('Declared', 'declared_at')}
      where node_number = ${NUMBER} and started = ${LAST} and ended is null; end`,
];

export const pastMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
