/** How the last report of a node went that names a checksum, and which configurations are in each manifest. */

import { type Kysely, type Migration, sql } from 'kysely';
import { outcomeStatements } from '../../outcome-tables.ts';

const partsOf = (manifests: string, { checksum, content }: { checksum: string; content: string }) =>
  `insert or ignore into manifest_parts (checksum, configuration_name, version)
    select ${checksum}, part.value ->> 'configurationName', part.value ->> 'version'
    from ${manifests} json_each(${content}, '$.parts') part`;

const STATEMENTS = [
  ...outcomeStatements('text', 'without rowid'),
  partsOf('manifests m,', { checksum: 'm.checksum', content: 'm.content' }),
  `create trigger manifest_parts_insert after insert on manifests
    begin ${partsOf('', { checksum: 'new.checksum', content: 'new.content' })}; end`,
  ...['insert', 'update', 'delete'].map(
    (event) => `create trigger running_generation_node_outcomes_${event} after ${event} on node_outcomes
      begin update running_generation set value = value + 1 where id = 1; end`,
  ),
];

export const outcomesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
