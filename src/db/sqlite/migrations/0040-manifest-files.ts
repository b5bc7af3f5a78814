/** Which parameter files are in each manifest, so that it can be told who has taken one. */

import { type Kysely, type Migration, sql } from 'kysely';
import { manifestFilesStatements } from '../../outcome-tables.ts';

const filesOf = (manifests: string, { checksum, content }: { checksum: string; content: string }) =>
  `insert or ignore into manifest_files (checksum, configuration_name, tag)
    select ${checksum}, part.value ->> 'configurationName', file.value ->> 'tagObjectId'
    from ${manifests} json_each(${content}, '$.parts') part, json_each(part.value, '$.parameters') file`;

const STATEMENTS = [
  ...manifestFilesStatements('text', 'without rowid'),
  filesOf('manifests m,', { checksum: 'm.checksum', content: 'm.content' }),
  `create trigger manifest_files_insert after insert on manifests
    begin ${filesOf('', { checksum: 'new.checksum', content: 'new.content' })}; end`,
];

export const manifestFilesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
