/** How the last report of a node went that names a checksum, and which configurations are in each manifest. */

import { type Kysely, type Migration, sql } from 'kysely';
import { outcomeStatements } from '../../outcome-tables.ts';
import { TEXT } from './baseline/columns.ts';
import { everyEvent } from './baseline/feed-triggers.ts';
import { afterEach } from './baseline/trigger.ts';

const partsOf = (manifests: string) =>
  `insert into manifest_parts (checksum, configuration_name, version)
    select m.checksum, part ->> 'configurationName', part ->> 'version'
    from ${manifests} m cross join lateral jsonb_array_elements(m.content::jsonb -> 'parts') part
    on conflict do nothing`;

const STATEMENTS = [
  ...outcomeStatements(TEXT),
  partsOf('manifests'),
  ...afterEach('insert', 'manifests', 'manifest_parts_insert', `${partsOf('added')};`),
  ...everyEvent('running_generation', 'node_outcomes'),
];

export const outcomesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
