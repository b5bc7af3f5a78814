/** All that SQLite has after its migrations 0001 to 0019, in one step. */

import { type Kysely, type Migration, sql } from 'kysely';
import { ACCESS_TABLES } from './baseline/access-tables.ts';
import { CELL_TRIGGERS } from './baseline/cell-triggers.ts';
import { COUNT_TRIGGERS } from './baseline/count-triggers.ts';
import { FEED_TRIGGERS } from './baseline/feed-triggers.ts';
import { FIRST_ROWS, SYSTEM_TYPES } from './baseline/first-rows.ts';
import { NODE_TABLES } from './baseline/node-tables.ts';
import { RECORD_TABLES } from './baseline/record-tables.ts';
import { SITE_TABLES } from './baseline/site-tables.ts';
import { TURN_TRIGGERS } from './baseline/turn-triggers.ts';

const TABLES = [...ACCESS_TABLES, ...SITE_TABLES, ...NODE_TABLES, ...RECORD_TABLES, ...FIRST_ROWS];
const TRIGGERS = [...TURN_TRIGGERS, ...FEED_TRIGGERS, ...COUNT_TRIGGERS, ...CELL_TRIGGERS];

export const baselineMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of TABLES) await sql.raw(statement).execute(db);
    // A migration is given no clock. These times are only shown.
    const now = Date.now();
    for (const { id, name, description, precedence } of SYSTEM_TYPES) {
      await sql`insert into scope_types
          (id, name, name_key, description, precedence, is_system, is_enabled, value_mode, created_at, updated_at)
        values (${id}, ${name}, ${name.toLowerCase()}, ${description}, ${precedence}, 1, 1, 'Unrestricted',
          ${now}, ${now})`.execute(db);
    }
    for (const statement of TRIGGERS) await sql.raw(statement).execute(db);
  },
};
