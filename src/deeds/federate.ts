/** Says whose tokens may become tokens of a service account. */

import type { Selectable } from 'kysely';
import type { Db } from '../db/database.ts';
import type { FederationsTable } from '../db/sign-in-tables.ts';
import { invalidField, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';
import { requireOwnToken } from '../security/delegation.ts';
import { requireServiceAccount } from './tokens.ts';

/** Which tokens of which issuer become tokens of the account, and what these may do. */
export interface NewFederation {
  issuer: string;
  /** What a token must say, exactly. */
  claims: Readonly<Record<string, string | number | boolean>>;
  scopes: readonly string[];
  lifetimeMinutes: number;
}

/** Oldest first. */
export function federationsOf(db: Db, userId: string) {
  return db.selectFrom('federations').where('user_id', '=', userId).orderBy('created_at').orderBy('id');
}

/**
 * @param issuers those whose tokens this server takes
 * @throws HawserError not_found; conflict `not_a_service_account`; invalid for the issuer; forbidden `beyond_own_permissions`
 */
export async function createFederation(
  trx: Db,
  { principal, actor }: Caller,
  { accountId, issuers }: { accountId: string; issuers: readonly string[] },
  { issuer, claims, scopes, lifetimeMinutes }: NewFederation,
): Promise<Selectable<FederationsTable>> {
  if (!issuers.includes(issuer))
    throw invalidField('/issuer', 'HAWSER_FEDERATION_ISSUERS does not name this issuer', 'unknown_issuer');
  const account = await requireServiceAccount(trx, accountId);
  await requireOwnToken(trx, principal, { accountId, scopes });
  const row = {
    ...{ id: newId(), user_id: accountId, issuer, lifetime_minutes: lifetimeMinutes, created_at: actor.at },
    ...{ claims: JSON.stringify(claims), scopes: JSON.stringify(scopes) },
  };
  await trx.insertInto('federations').values(row).execute();
  const details = { ...account.audited, federationId: row.id, issuer, claims, scopes, lifetimeMinutes };
  await recordAudit(trx, actor, { action: 'federation.created', resourceId: accountId, details });
  return row;
}

/** The tokens that came by it are revoked. @throws HawserError not_found; conflict `not_a_service_account` */
export async function deleteFederation(
  trx: Db,
  { actor }: Caller,
  { id: accountId, federationId }: { id: string; federationId: string },
): Promise<void> {
  const account = await requireServiceAccount(trx, accountId);
  const row = await federationsOf(trx, accountId)
    .select(['issuer', 'claims'])
    .where('id', '=', federationId)
    .executeTakeFirst();
  if (row === undefined) throw notFound('No such federation');
  await trx
    .updateTable('access_tokens')
    .set({ revoked_at: actor.at })
    .where('federation_id', '=', federationId)
    .where('revoked_at', 'is', null)
    .execute();
  await trx.deleteFrom('federations').where('id', '=', federationId).execute();
  const details = { ...account.audited, federationId, issuer: row.issuer, claims: JSON.parse(row.claims) };
  await recordAudit(trx, actor, { action: 'federation.deleted', resourceId: accountId, details });
}
