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

/** @param admitted the ids of the tags that count from now on, where versions must be signed that need not be before */
export async function saveSigning(
  trx: Db,
  configurationId: string,
  signing: Signing,
  admitted: readonly string[],
): Promise<void> {
  if (isSameSigning(signing, NO_SIGNING)) {
    await trx.deleteFrom('configuration_signing').where('configuration_id', '=', configurationId).execute();
    return;
  }
  const { require, allowedSigners: allowed_signers } = signing;
  const isNew = require === 'Version' && (await findSigning(trx, configurationId)).require === 'Off';
  const columns = { require, allowed_signers, ...(isNew && { admitted: JSON.stringify(admitted) }) };
  await trx
    .insertInto('configuration_signing')
    .values({ configuration_id: configurationId, admitted: '[]', ...columns })
    .onConflict((conflict) => conflict.column('configuration_id').doUpdateSet(columns))
    .execute();
}
