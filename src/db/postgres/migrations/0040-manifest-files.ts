/** Which parameter files are in each manifest, so that it can be told who has taken one. */

import { type Kysely, type Migration, sql } from 'kysely';
import { manifestFilesStatements } from '../../outcome-tables.ts';
import { TEXT } from './baseline/columns.ts';
import { afterEach } from './baseline/trigger.ts';

const filesOf = (manifests: string) =>
  `insert into manifest_files (checksum, configuration_name, tag)
    select m.checksum, part ->> 'configurationName', file ->> 'tagObjectId'
    from ${manifests} m cross join lateral jsonb_array_elements(m.content::jsonb -> 'parts') part
      cross join lateral jsonb_array_elements(part -> 'parameters') file
    on conflict do nothing`;

const STATEMENTS = [
  ...manifestFilesStatements(TEXT),
  filesOf('manifests'),
  ...afterEach('insert', 'manifests', 'manifest_files_insert', `${filesOf('added')};`),
];

export const manifestFilesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
