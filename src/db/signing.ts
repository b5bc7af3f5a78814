/** Rows of who may sign the versions of configurations. A configuration that sets nothing of it has no row. */

import { isSameSigning, NO_SIGNING, type Signing } from '../domain/signing.ts';
import type { Db } from './database.ts';

export async function findSigning(db: Db, configurationId: string): Promise<Signing> {
  const row = await db
    .selectFrom('configuration_signing')
    .select(['require', 'allowed_signers as allowedSigners'])
    .where('configuration_id', '=', configurationId)
    .executeTakeFirst();
  return row ?? NO_SIGNING;
}

export async function saveSigning(trx: Db, configurationId: string, signing: Signing): Promise<void> {
  await trx.deleteFrom('configuration_signing').where('configuration_id', '=', configurationId).execute();
  if (isSameSigning(signing, NO_SIGNING)) return;
  const { require, allowedSigners: allowed_signers } = signing;
  const row = { configuration_id: configurationId, require, allowed_signers };
  await trx.insertInto('configuration_signing').values(row).execute();
}
