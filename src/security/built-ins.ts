/** The built-in roles and groups, and the user `admin`, which every server has from its first start. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database, Db } from '../db/database.ts';
import { keepsSecrets, writeSecret } from '../db/secrets.ts';
import { ADMINISTRATOR_ROLE_ID, BUILT_IN_GROUPS, BUILT_IN_ROLES } from '../domain/permissions.ts';
import { newId } from '../lib/ids.ts';
import { writeSecretFile } from '../lib/secret-file.ts';
import { hashPassword } from './passwords.ts';

export const ADMIN = 'admin';
/** A file in the data folder with the first password, from the first start to the first change of a password. */
export const PASSWORD_FILE = 'initial-admin-password';

/** Gives the built-in roles the permissions of this release, and makes the groups on the first start. */
export async function ensureBuiltIns(database: Database, now: number): Promise<void> {
  await database.write.transaction().execute(async (trx) => {
    const before = await trx.selectFrom('roles').select('id').where('is_system', '=', 1).execute();
    const known = new Set(before.map((row) => row.id));
    for (const role of BUILT_IN_ROLES) await ensureRole(trx, role, known.has(role.id), now);
    if (known.size === 0) await createGroups(trx, now);
  });
}

type BuiltInRole = (typeof BUILT_IN_ROLES)[number];

async function ensureRole(trx: Db, role: BuiltInRole, exists: boolean, now: number): Promise<void> {
  const { id, name, description, permissions } = role;
  if (!exists) {
    const times = { created_at: now, modified_at: now };
    const row = { id, name, name_key: name.toLowerCase(), description, is_system: 1, ...times };
    await trx.insertInto('roles').values(row).execute();
  }
  await trx.deleteFrom('role_permissions').where('role_id', '=', id).execute();
  const rows = permissions.map((permission) => ({ role_id: id, permission }));
  await trx.insertInto('role_permissions').values(rows).execute();
}

async function createGroups(trx: Db, now: number): Promise<void> {
  for (const { id, name, description, roleId } of BUILT_IN_GROUPS) {
    const times = { created_at: now, modified_at: now };
    const row = { id, name, name_key: name.toLowerCase(), description, ...times };
    await trx.insertInto('groups').values(row).execute();
    await trx.insertInto('group_roles').values({ group_id: id, role_id: roleId }).execute();
  }
}

export interface FirstAdmin {
  dataDir: string;
  /** From the environment. With null a random password is made, which must be changed at the first sign-in. */
  password: string | null;
  randomPassword: () => string;
  now: number;
}

/**
 * Makes the user `admin` if there are no users.
 * @returns the random password, to be shown once; null when a password was given or there are users
 */
export async function ensureFirstAdmin(database: Database, options: FirstAdmin): Promise<string | null> {
  const anyone = await database.read.selectFrom('users').select('id').limit(1).executeTakeFirst();
  if (anyone) return null;
  const random = options.password === null ? options.randomPassword() : null;
  const hash = await hashPassword(random ?? options.password ?? '');
  // The file is written first, so that a crash never leaves a user whose password nobody can read.
  if (random !== null) await writeSecretFile(join(options.dataDir, PASSWORD_FILE), `${random}\n`);
  // Such a crash can leave a file with a password that is not used now.
  else await forgetInitialPassword(options.dataDir);
  await database.write.transaction().execute(async (trx) => {
    const id = newId();
    await trx
      .insertInto('users')
      .values({
        id,
        username: ADMIN,
        username_key: ADMIN,
        email: `${ADMIN}@localhost`,
        account_type: 'User',
        password_hash: hash,
        is_active: 1,
        require_password_change: random === null ? 0 : 1,
        lockout_end: null,
        created_at: options.now,
        modified_at: options.now,
      })
      .execute();
    await trx.insertInto('user_roles').values({ user_id: id, role_id: ADMINISTRATOR_ROLE_ID }).execute();
    // The folder with the file may be gone before anybody has read it.
    if (random !== null && keepsSecrets(trx)) await writeSecret(trx, 'first-password', Buffer.from(random));
  });
  return random;
}

/** Where the first password of `admin` is: in the file that the server wrote, or whoever started it has set it. */
export type FirstPassword = 'file' | 'setting';

/** @returns null once somebody has signed in, or has given a user another password */
export async function findFirstPassword(db: Db): Promise<FirstPassword | null> {
  const [user, another] = await db
    .selectFrom('users')
    .select(['username_key', 'require_password_change', 'created_at', 'modified_at'])
    .limit(2)
    .execute();
  const isAsMade = user?.username_key === ADMIN && user.created_at === user.modified_at;
  if (another !== undefined || user === undefined || !isAsMade) return null;
  const signedIn = await db
    .selectFrom('audit_entries')
    .select('seq')
    .where('action', '=', 'session.created')
    .limit(1)
    .executeTakeFirst();
  if (signedIn !== undefined) return null;
  return user.require_password_change === 1 ? 'file' : 'setting';
}

/** Removes the file with the first password, if it exists. It is called on every change of a password. */
export async function forgetInitialPassword(dataDir: string): Promise<void> {
  await rm(join(dataDir, PASSWORD_FILE), { force: true });
}
