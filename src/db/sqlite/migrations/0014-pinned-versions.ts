/**
 * A node may be pinned to one version. The indexes hold all that an assignment says, so that counting the nodes of each
 * distinct assignment of a configuration reads no row.
 */

import { type Kysely, type Migration, sql } from 'kysely';

const index = (target: 'configuration' | 'composite') => [
  `drop index assignments_by_${target}`,
  `create index assignments_by_${target}
    on assignments (${target}_id, major_version, prerelease_channel, version)`,
];

const STATEMENTS = [
  `alter table assignments add column version text
    check (version is null or (major_version is null and prerelease_channel is null))`,
  ...index('configuration'),
  ...index('composite'),
];

export const pinnedVersionsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
