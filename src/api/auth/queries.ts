/** Reads and writes of sign-in: accounts, sessions, attempts, tokens. */

import type { Db } from '../../db/open.ts';
import { nameKey } from '../../domain/names.ts';
import { sha256Hex } from '../../lib/hash.ts';

export function findAccountByName(db: Db, username: string) {
  return db.selectFrom('users').selectAll().where('username_key', '=', nameKey(username)).executeTakeFirst();
}

export function findAccount(db: Db, userId: string) {
  return db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst();
}

export async function setAttemptState(
  db: Db,
  userId: string,
  state: { failures: number; lockoutEnd: number | null },
): Promise<void> {
  await db
    .updateTable('users')
    .set({ access_failed_count: state.failures, lockout_end: state.lockoutEnd })
    .where('id', '=', userId)
    .execute();
}

/** Stores a session under the hash of its secret, and clears out those that are over. */
export async function insertSession(
  db: Db,
  session: { secret: string; userId: string; now: number; expiresAt: number },
): Promise<void> {
  const { secret, userId, now, expiresAt } = session;
  await db.deleteFrom('sessions').where('expires_at', '<=', now).execute();
  const row = { token_hash: sha256Hex(secret), user_id: userId, created_at: now, expires_at: expiresAt };
  await db.insertInto('sessions').values(row).execute();
}

/** @returns whether there was such a session */
export async function deleteSession(db: Db, tokenHash: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('token_hash', '=', tokenHash)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

export async function setPassword(
  db: Db,
  change: { userId: string; hash: string; mustChange: boolean; now: number; keepSession: string | null },
): Promise<void> {
  const { userId, hash, mustChange, now, keepSession } = change;
  await db
    .updateTable('users')
    .set({ password_hash: hash, require_password_change: mustChange ? 1 : 0, modified_at: now })
    .where('id', '=', userId)
    .execute();
  const others = db.deleteFrom('sessions').where('user_id', '=', userId);
  await (keepSession === null ? others : others.where('token_hash', '<>', keepSession)).execute();
}

/** Ends all sessions of a user and revokes all tokens, those already revoked keeping their time. */
export async function endAccess(db: Db, userId: string, now: number): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', userId).execute();
  await db
    .updateTable('access_tokens')
    .set({ revoked_at: now })
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .execute();
}

/**
 * Counts an attempt from a source, which the column `address` names, within its running minute.
 * @returns attempts in this window, this one included, and when the window began
 */
export async function countAttempt(
  db: Db,
  source: string,
  now: number,
  windowLength: number,
): Promise<{ attempts: number; windowStart: number }> {
  await db
    .deleteFrom('login_attempts')
    .where('window_start', '<=', now - windowLength)
    .execute();
  const row = await db
    .insertInto('login_attempts')
    .values({ address: source, window_start: now, attempts: 1 })
    .onConflict((conflict) =>
      conflict
        .column('address')
        .doUpdateSet((update) => ({ attempts: update('login_attempts.attempts', '+', 1) })),
    )
    .returning(['attempts', 'window_start as windowStart'])
    .executeTakeFirstOrThrow();
  return row;
}

/** Names of the roles (own and through groups) and of the groups of a user, sorted. */
export async function listMemberships(
  db: Db,
  userId: string,
): Promise<{ roles: string[]; groups: string[] }> {
  const groups = await db
    .selectFrom('group_members')
    .innerJoin('groups', 'groups.id', 'group_members.group_id')
    .select(['groups.id', 'groups.name'])
    .where('group_members.user_id', '=', userId)
    .orderBy('groups.name')
    .execute();
  const ownRoles = db.selectFrom('user_roles').select('role_id').where('user_id', '=', userId);
  const groupRoles = db
    .selectFrom('group_roles')
    .select('role_id')
    .where(
      'group_id',
      'in',
      groups.map((group) => group.id),
    );
  const roles = await db
    .selectFrom('roles')
    .select('name')
    .where((where) => where.or([where('id', 'in', ownRoles), where('id', 'in', groupRoles)]))
    .orderBy('name')
    .execute();
  return { roles: roles.map((role) => role.name), groups: groups.map((group) => group.name) };
}

export async function insertToken(
  db: Db,
  token: {
    id: string;
    userId: string;
    name: string;
    prefix: string;
    secret: string;
    scopes: readonly string[];
  } & {
    expiresAt: number | null;
    now: number;
  },
): Promise<void> {
  await db
    .insertInto('access_tokens')
    .values({
      id: token.id,
      user_id: token.userId,
      name: token.name,
      prefix: token.prefix,
      token_hash: sha256Hex(token.secret),
      scopes: JSON.stringify(token.scopes),
      expires_at: token.expiresAt,
      last_used_at: null,
      revoked_at: null,
      created_at: token.now,
    })
    .execute();
}

/** A user's tokens, newest first. */
export async function listTokens(db: Db, userId: string, { take, skip }: { take: number; skip: number }) {
  const own = db.selectFrom('access_tokens').where('user_id', '=', userId);
  const { total } = await own.select((of) => of.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await own
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(take)
    .offset(skip)
    .execute();
  return { rows, total };
}

export function findToken(db: Db, userId: string, tokenId: string) {
  return db
    .selectFrom('access_tokens')
    .selectAll()
    .where('id', '=', tokenId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

export async function revokeToken(db: Db, tokenId: string, now: number): Promise<void> {
  await db.updateTable('access_tokens').set({ revoked_at: now }).where('id', '=', tokenId).execute();
}
