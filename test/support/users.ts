/** Makes users directly in the database, for tests of what users with fewer rights than `admin` can see. */

import { type Database, openDatabase } from '../../src/db/open.ts';
import type { GrantKind, GrantLevel, Permission } from '../../src/domain/permissions.ts';
import { newId } from '../../src/lib/ids.ts';
import { hashPassword } from '../../src/security/passwords.ts';
import type { Client } from './client.ts';
import { type Hawser, signIn } from './hawser.ts';

const PASSWORD = 'a-password-of-a-test-user';
let passwordHash: Promise<string> | undefined;

export interface Grant {
  on: GrantKind;
  /** The name of the configuration or composite. */
  name: string;
  level: GrantLevel;
}

export interface UserWish {
  username: string;
  permissions: readonly Permission[];
  grants?: readonly Grant[];
}

/** Opens a second connection to the database of a running server. */
export async function withDatabase<T>(hawser: Hawser, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(hawser.dataDir);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/**
 * Makes the user and signs in.
 * @returns a client with the session
 */
export async function makeUser(hawser: Hawser, wish: UserWish): Promise<Client> {
  passwordHash ??= hashPassword(PASSWORD);
  const hash = await passwordHash;
  await withDatabase(hawser, (database) => insertUser(database, wish, hash));
  return hawser.client().with({ Cookie: await signIn(hawser.client(), wish.username, PASSWORD) });
}

async function insertUser(database: Database, wish: UserWish, hash: string): Promise<void> {
  const { username, permissions, grants = [] } = wish;
  const [userId, roleId, now] = [newId(), newId(), Date.now()];
  await database.write.transaction().execute(async (trx) => {
    await trx
      .insertInto('users')
      .values({
        id: userId,
        username,
        username_key: username,
        email: `${username}@example.org`,
        account_type: 'User',
        password_hash: hash,
        is_active: 1,
        require_password_change: 0,
        lockout_end: null,
        created_at: now,
        modified_at: now,
      })
      .execute();
    const name = `role-of-${username}`;
    const role = { id: roleId, name, name_key: name, description: null, is_system: 0 };
    await trx
      .insertInto('roles')
      .values({ ...role, created_at: now, modified_at: now })
      .execute();
    await trx.insertInto('user_roles').values({ user_id: userId, role_id: roleId }).execute();
    for (const permission of permissions) {
      await trx.insertInto('role_permissions').values({ role_id: roleId, permission }).execute();
    }
    for (const { on, name, level } of grants) {
      const table = on === 'composite' ? 'composites' : 'configurations';
      const { id } = await trx
        .selectFrom(table)
        .select('id')
        .where('name', '=', name)
        .executeTakeFirstOrThrow();
      const principal = { principal_type: 'User', principal_id: userId } as const;
      await trx
        .insertInto('grants')
        .values({
          resource_kind: on,
          resource_id: id,
          ...principal,
          level,
          granted_at: now,
          granted_by: null,
        })
        .execute();
    }
  });
}
