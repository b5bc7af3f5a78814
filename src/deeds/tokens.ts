/** Personal access tokens. A token is shown once, when it is created, and is stored as a hash. */

import { findAccount } from '../db/accounts.ts';
import type { Db } from '../db/database.ts';
import { type PageQuery, pageOf } from '../db/rows.ts';
import { DAY, toOptionalTimestamp, toTimestamp } from '../lib/clock.ts';
import { conflict, invalidField, notFound, unauthenticated } from '../lib/errors.ts';
import { sha256Hex } from '../lib/hash.ts';
import { newId, newSecret } from '../lib/ids.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';
import { TOKEN_PREFIX } from '../security/identify.ts';
import { USERS } from '../security/users.ts';

/** What a token is to be called, and what it may be used for. */
export interface WantedToken {
  name: string;
  /** Permissions and kinds of grants; none: all that the owner may. */
  scopes: string[];
  /** Epoch milliseconds; absent: in 90 days; null: never. */
  expiresAt?: number | null | undefined;
}

const DEFAULT_LIFETIME = 90 * DAY;
/** So many characters of a token are enough to tell tokens apart, and too few to help guessing one. */
const SHOWN_CHARACTERS = 12;

/** Whose token it is: its owner, and what the audit entry says of the owner where that is not the caller. */
export interface TokenOwner {
  userId: string;
  /** By which the token is exchanged. Absent for one that somebody makes. */
  federationId?: string;
  audited?: Record<string, unknown>;
}

/**
 * Creates a token of the caller.
 * @returns the token as it is shown this once
 * @throws HawserError validation_failed where it would expire in the past, unauthenticated where the caller was
 *   deactivated meanwhile
 */
export async function createToken(trx: Db, { principal, actor }: Caller, wanted: WantedToken) {
  const { userId } = principal;
  // Deactivation revokes the tokens that exist; one that is created just after it would live on.
  if ((await findAccount(trx, userId))?.is_active !== 1) {
    throw unauthenticated('The session or token is not valid');
  }
  return insertToken(trx, actor, { userId }, wanted);
}

/**
 * Stores a new token of this owner, and records it.
 * @returns the token as it is shown this once
 * @throws HawserError validation_failed where it would expire in the past
 */
export async function insertToken(trx: Db, actor: Actor, owner: TokenOwner, wanted: WantedToken) {
  const { name, scopes } = wanted;
  const now = actor.at;
  const expiresAt = wanted.expiresAt === undefined ? now + DEFAULT_LIFETIME : wanted.expiresAt;
  if (expiresAt !== null && expiresAt <= now) throw invalidField('/expiresAt', 'This time has passed');
  const token = newSecret(TOKEN_PREFIX);
  const row = {
    id: newId(),
    user_id: owner.userId,
    name,
    prefix: token.slice(0, SHOWN_CHARACTERS),
    token_hash: sha256Hex(token),
    scopes: JSON.stringify(scopes),
    expires_at: expiresAt,
    created_at: now,
    federation_id: owner.federationId ?? null,
  };
  await trx.insertInto('access_tokens').values(row).execute();
  const shown = { expiresAt: toOptionalTimestamp(expiresAt) };
  const details = { ...owner.audited, name, scopes, ...shown };
  await recordAudit(trx, actor, { action: 'token.created', resourceId: row.id, details });
  const tokenPrefix = row.prefix;
  return { token, tokenId: row.id, name, tokenPrefix, scopes, ...shown, createdAt: toTimestamp(now) };
}

type TokenRow = Awaited<ReturnType<typeof listTokens>>['rows'][number];

/** Lists a user's tokens, newest first. */
export function listTokens(db: Db, userId: string, query: PageQuery) {
  return pageOf(ownTokens(db, userId).selectAll().orderBy('created_at', 'desc').orderBy('id'), query);
}

/** A token as the API shows it. */
export function toToken(row: TokenRow) {
  return {
    id: row.id,
    name: row.name,
    tokenPrefix: row.prefix,
    scopes: JSON.parse(row.scopes) as string[],
    expiresAt: toOptionalTimestamp(row.expires_at),
    lastUsedAt: toOptionalTimestamp(row.last_used_at),
    isRevoked: row.revoked_at !== null,
    createdAt: toTimestamp(row.created_at),
  };
}

/**
 * Revokes a token of this owner. A token that is revoked already keeps its time.
 * @throws HawserError not_found
 */
export async function revokeToken(
  trx: Db,
  actor: Actor,
  { userId, audited }: TokenOwner,
  tokenId: string,
): Promise<void> {
  const token = await ownTokens(trx, userId)
    .select(['name', 'revoked_at'])
    .where('id', '=', tokenId)
    .executeTakeFirst();
  if (!token) throw notFound('No such token');
  if (token.revoked_at !== null) return;
  await trx.updateTable('access_tokens').set({ revoked_at: actor.at }).where('id', '=', tokenId).execute();
  const details = { ...audited, name: token.name };
  await recordAudit(trx, actor, { action: 'token.revoked', resourceId: tokenId, details });
}

function ownTokens(db: Db, userId: string) {
  return db.selectFrom('access_tokens').where('user_id', '=', userId);
}

/** @throws HawserError not_found; conflict `not_a_service_account` */
export async function requireServiceAccount(db: Db, userId: string): Promise<TokenOwner> {
  const user = await USERS.require(db, userId);
  if (user.account_type !== 'ServiceAccount')
    throw conflict(
      'not_a_service_account',
      'This user is no service account: people make their tokens themselves',
    );
  return ownerOf(user);
}

/** Another user than the caller, as the owner of tokens. */
export function ownerOf({ id: userId, username }: { id: string; username: string }): TokenOwner {
  return { userId, audited: { userId, username } };
}
