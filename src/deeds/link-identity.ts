/** Lets a user sign in by an identity of a provider, and no longer. */

import type { Db } from '../db/database.ts';
import { notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';
import { USERS } from '../security/users.ts';

/** Lets the user sign in by the identity, with an entry in the audit trail. @returns the id of the identity */
export async function insertIdentity(
  trx: Db,
  actor: Actor,
  { id: userId, username }: { id: string; username: string },
  identity: { provider: string; issuer: string; subject: string },
): Promise<string> {
  const id = newId();
  const { at } = actor;
  await trx
    .insertInto('identities')
    .values({ id, user_id: userId, ...identity, last_sign_in_at: at, created_at: at })
    .execute();
  const details = { username, ...identity };
  await recordAudit(trx, actor, { action: 'identity.linked', resourceId: userId, details });
  return id;
}

/** @throws HawserError not_found */
export async function removeIdentity(
  trx: Db,
  { actor }: Caller,
  { id: userId, identityId }: { id: string; identityId: string },
): Promise<void> {
  const { username } = await USERS.require(trx, userId);
  // The database deletes its groups and its sessions too.
  const removed = await trx
    .deleteFrom('identities')
    .where('id', '=', identityId)
    .where('user_id', '=', userId)
    .returning(['provider', 'issuer', 'subject'])
    .executeTakeFirst();
  if (removed === undefined) throw notFound('No such identity');
  const details = { username, ...removed };
  await recordAudit(trx, actor, { action: 'identity.removed', resourceId: userId, details });
}
