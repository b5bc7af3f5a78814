/** What is counted of rollouts. A manifest is kept, too, for whoever got the last bundle of it. */

import { type Kysely, type Migration, sql } from 'kysely';
import { rolloutStatements } from '../../rollout-tables.ts';
import { TEXT } from './baseline/columns.ts';
import { leaveChecksums, useChecksums } from './baseline/count-triggers.ts';
import { afterEach, differences, type Event } from './baseline/trigger.ts';

const changes = (event: Event) =>
  `${differences(event, 'checksum')} union all ${differences(event, 'served_checksum as checksum')}`;

const bodies = {
  insert: useChecksums(changes('insert')),
  update: useChecksums(changes('update')) + leaveChecksums(changes('update')),
  delete: leaveChecksums(changes('delete')),
};

const STATEMENTS = [
  ...rolloutStatements(TEXT),
  ...(['configurations', 'composites'] as const).flatMap((table) =>
    afterEach(
      'delete',
      table,
      `rollouts_of_${table}`,
      `delete from rollout_counts where kind = '${table}' and resource_id in (select id from gone);`,
    ),
  ),
  ...(['insert', 'update', 'delete'] as const).flatMap((event) => [
    `drop function checksum_uses_node_${event} cascade`,
    ...afterEach(event, 'node_running', `checksum_uses_node_${event}`, bodies[event]),
  ]),
  `insert into checksum_uses (checksum, uses)
    select served_checksum, count(*) from node_running where served_checksum is not null group by served_checksum
    on conflict (checksum) do update set uses = checksum_uses.uses + excluded.uses`,
];

export const rolloutsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
