/** SQLite has one server, which leads, so there is nothing to keep. */

import type { Migration } from 'kysely';

export const leadMigration: Migration = { up: async () => undefined };
