/** Whether variables in the parameters of a configuration are replaced, which alters what nodes get. An older release replaces none. */

import { type Kysely, type Migration, sql } from 'kysely';
import { TEXT } from './baseline/columns.ts';

const RAISING = [
  ['insert', 'new.variables is not null'],
  ['update of variables', 'new.variables is distinct from old.variables'],
  ['delete', 'old.variables is not null'],
] as const;

export const variablesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const column = `variables ${TEXT} check (variables in ('Off', 'On'))`;
    await sql.raw(`alter table configuration_settings add column ${column}`).execute(db);
    for (const [event, when] of RAISING)
      await sql
        .raw(
          `create trigger generation_configuration_settings_${event.split(' ')[0]} after ${event} on configuration_settings
            for each row when (${when}) execute function raise_generation_once()`,
        )
        .execute(db);
  },
};
