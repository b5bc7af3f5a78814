/** What nodes ran at which time. Triggers keep it beside what they run, whichever release writes that. */

import { type Kysely, type Migration, sql } from 'kysely';
import { evidenceColumns, evidenceTimes, FIRST_PAST, pastStatements } from '../../past-tables.ts';
import { NOTES_KEY } from '../advisory-keys.ts';
import { TEXT } from './baseline/columns.ts';
import { useChecksums } from './baseline/count-triggers.ts';
import { afterEach, differences, type Event } from './baseline/trigger.ts';

const last = (number: string) => `(select max(started) from node_past where node_number = ${number})`;

/**
 * Two stretches never begin at the same time, also where the clock was set back.
 * @param changed a query for the rows of `node_running` that name something else than before
 */
const begin = (changed: string) => `
      update node_past p set ended = greatest(c.since, p.started + 1)
        from (select n.number, a.since, ${last('n.number')} as begun
          from (${changed}) a join nodes n on n.id = a.node_id) c
        where p.node_number = c.number and p.started = c.begun and p.ended is null;
      insert into node_past (node_number, started, checksum, ${evidenceColumns()})
        select number, begun, checksum, ${evidenceTimes('evidence', 'begun')} from (
          select n.number, a.checksum, a.evidence, greatest(a.since, coalesce((
            select ended from node_past where node_number = n.number order by started desc limit 1), 0)) as begun
          from (${changed}) a join nodes n on n.id = a.node_id) c;`;

const strengthen = (evidence: string, column: string) =>
  `${column} = case when c.evidence = '${evidence}' then greatest(c.since, p.started) else p.${column} end`;

const running = (event: Event) =>
  `${differences(event, 'checksum')} union all ${differences(event, 'served_checksum as checksum')}`;

/** A manifest ends with the last that names it: a node or a report, which are counted in `uses`, or the past. */
function leave(counted: 'uses' | 'past', changes: string): string {
  const less = `(select checksum, sum(by) as by from (${changes}) as changes
        where checksum is not null group by checksum having sum(by) < 0 order by checksum) as less`;
  return `with ended as (
        delete from checksum_uses using ${less}
        where checksum_uses.checksum = less.checksum and uses + past + by <= 0 returning checksum_uses.checksum)
      delete from manifests using ended where manifests.checksum = ended.checksum;
      update checksum_uses set ${counted} = ${counted} + by from ${less}
        where checksum_uses.checksum = less.checksum;`;
}

const STATEMENTS = [
  ...pastStatements(TEXT),
  'alter table checksum_uses add column past bigint not null default 0',
  ...(['update', 'delete'] as const).flatMap((event) => [
    `drop function checksum_uses_node_${event} cascade`,
    ...afterEach(
      event,
      'node_running',
      `checksum_uses_node_${event}`,
      (event === 'update' ? useChecksums(running(event)) : '') + leave('uses', running(event)),
    ),
  ]),
  'drop function checksum_uses_report_delete cascade',
  ...afterEach(
    'delete',
    'report_checksums',
    'checksum_uses_report_delete',
    leave('uses', differences('delete', 'checksum')),
  ),
  ...afterEach(
    'insert',
    'node_past',
    'node_past_insert',
    `insert into checksum_uses (checksum, uses, past)
        select checksum, 0, count(*) from added group by checksum order by checksum
        on conflict (checksum) do update set past = checksum_uses.past + excluded.past;`,
  ),
  ...afterEach('delete', 'node_past', 'node_past_delete', leave('past', differences('delete', 'checksum'))),
  `create trigger turn before insert or update or delete on node_past
    for each statement execute function take_turn(${NOTES_KEY})`,
  ...FIRST_PAST,
  ...afterEach(
    'insert',
    'node_running',
    'past_of_new_node',
    `insert into past_nodes (number, node_id, fqdn)
        select n.number, n.id, n.fqdn from added a join nodes n on n.id = a.node_id on conflict do nothing;
      ${begin('select * from added where checksum is not null')}`,
  ),
  ...afterEach(
    'update',
    'node_running',
    'past_of_changes',
    `${begin(`select a.* from added a join gone g on g.node_id = a.node_id
          where a.checksum is not null and a.checksum is distinct from g.checksum`)}
      update node_past p set ${strengthen('Told', 'told_at')}, ${strengthen('Served', 'served_at')},
          ${strengthen('Declared', 'declared_at')}
        from (select n.number, a.since, a.evidence, ${last('n.number')} as begun
          from added a join gone g on g.node_id = a.node_id join nodes n on n.id = a.node_id
          where a.checksum = g.checksum and a.evidence is distinct from g.evidence) c
        where p.node_number = c.number and p.started = c.begun and p.ended is null;`,
  ),
];

export const pastMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
