/** Tokens of others that work once. */

import { fromNumericDate, HOUR } from '../lib/clock.ts';
import { sha256Hex } from '../lib/hash.ts';
import type { Db } from './database.ts';

/** How long the id of a token without an end is remembered. */
const DEFAULT = 24 * HOUR;

/**
 * Notes that a token is used. In the transaction of what it is used for.
 * @param expiresAt seconds since the epoch
 * @returns whether it was not used before
 */
export async function useToken(
  trx: Db,
  { issuer, id, expiresAt }: { issuer: string; id: string; expiresAt: number | undefined },
  now: number,
): Promise<boolean> {
  await trx.deleteFrom('used_tokens').where('expires_at', '<=', now).execute();
  // A clock that is behind may find a token good a little after its end.
  const until = expiresAt === undefined ? now + DEFAULT : fromNumericDate(expiresAt) + HOUR;
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('used_tokens')
    .values({ id_hash: sha256Hex(JSON.stringify([issuer, id])), expires_at: until })
    .onConflict((conflict) => conflict.column('id_hash').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}
