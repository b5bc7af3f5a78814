/** Reads and writes of sign-in: accounts, sessions, attempts. */

import { nameKey } from '../domain/names.ts';
import { sha256Hex } from '../lib/hash.ts';
import type { Db } from './database.ts';
import { removeSecret } from './secrets.ts';

export function findAccountByName(db: Db, username: string) {
  return db.selectFrom('users').selectAll().where('username_key', '=', nameKey(username)).executeTakeFirst();
}

export function findAccount(db: Db, userId: string) {
  return db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst();
}

/** Puts one hash of a password in the place of another one of the same password, unless that has changed meanwhile. */
export async function replaceHash(
  db: Db,
  userId: string,
  { before, after }: { before: string | null; after: string },
): Promise<void> {
  await db
    .updateTable('users')
    .set({ password_hash: after })
    .where('id', '=', userId)
    .where('password_hash', '=', before)
    .execute();
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

export interface NewSession {
  secret: string;
  userId: string;
  now: number;
  expiresAt: number;
  /** By which it was begun; absent for a sign-in with a password. */
  identity?: { id: string; providerSession: string | null; endsAt: number };
}

/** Stores a session under the hash of its secret, and deletes the sessions that have expired. */
export async function insertSession(db: Db, session: NewSession): Promise<void> {
  const { secret, userId, now, expiresAt, identity } = session;
  await db.deleteFrom('sessions').where('expires_at', '<=', now).execute();
  const row = {
    ...{ token_hash: sha256Hex(secret), user_id: userId, created_at: now, expires_at: expiresAt },
    identity_id: identity?.id ?? null,
    provider_session: identity?.providerSession ?? null,
    ends_at: identity?.endsAt ?? null,
  };
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
  // While the first password works, it must be changed before any other.
  await removeSecret(db, 'first-password');
  const others = db.deleteFrom('sessions').where('user_id', '=', userId);
  await (keepSession === null ? others : others.where('token_hash', '<>', keepSession)).execute();
}

/** Ends all sessions of a user and revokes all tokens. A token that is revoked already keeps its time. */
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
 * Counts an attempt from a source, which stands in the column `address`, within its current window.
 * @param windowLength milliseconds; a window begins with the first attempt
 * @returns the attempts in this window, this one included, and the time at which the window began
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
  return db
    .insertInto('login_attempts')
    .values({ address: source, window_start: now, attempts: 1 })
    .onConflict((conflict) =>
      conflict
        .column('address')
        .doUpdateSet((update) => ({ attempts: update('login_attempts.attempts', '+', 1) })),
    )
    .returning(['attempts', 'window_start as windowStart'])
    .executeTakeFirstOrThrow();
}

/** The names of a user's roles, those held through groups too, and of the user's groups, both sorted. */
export async function listMemberships(
  db: Db,
  userId: string,
): Promise<{ roles: string[]; groups: string[] }> {
  const memberships = db.selectFrom('group_memberships').select('group_id').where('user_id', '=', userId);
  const groups = await db
    .selectFrom('groups')
    .select(['id', 'name'])
    .where('id', 'in', memberships)
    .orderBy('name')
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
