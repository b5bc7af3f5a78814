/** Whether variables in the parameters of a configuration are replaced, which alters what nodes get. An older release replaces none. */

import { type Kysely, type Migration, sql } from 'kysely';

const RAISING = [
  ['insert', 'new.variables is not null'],
  ['update of variables', 'new.variables is not old.variables'],
  ['delete', 'old.variables is not null'],
] as const;

export const variablesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table configuration_settings
      add column variables text check (variables in ('Off', 'On'))`.execute(db);
    for (const [event, when] of RAISING)
      await sql
        .raw(
          `create trigger generation_configuration_settings_${event.split(' ')[0]} after ${event} on configuration_settings
            when ${when} begin update generation set value = value + 1 where id = 1; end`,
        )
        .execute(db);
  },
};
