/** A registration key may say who may sign what its nodes run. */

import { type Kysely, type Migration, sql } from 'kysely';
import { TEXT } from './baseline/columns.ts';

export const signersOfKeysMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(`alter table registration_keys add column signers ${TEXT}`).execute(db);
  },
};
