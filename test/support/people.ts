/**
 * Users with the rights that a test wants, and grants that are given and taken away, written directly into the server's
 * database file.
 */

import type { Database, Db } from '../../src/db/database.ts';
import type { GrantKind, GrantLevel, Permission } from '../../src/domain/permissions.ts';
import { newId } from '../../src/lib/ids.ts';
import { hashPassword } from '../../src/security/passwords.ts';
import type { Client } from './client.ts';
import { withDatabase } from './database.ts';
import { createToken, type Hawser, signIn } from './hawser.ts';

const PASSWORD = 'a-password-of-a-test-user';

/** All users share one hash. */
let passwordHash: Promise<string> | undefined;

export interface Grant {
  on: GrantKind;
  /** The name of the configuration or composite. */
  name: string;
  level: GrantLevel;
}

export interface UserWish {
  username: string;
  /** Names of built-in roles. */
  roles?: readonly string[];
  /** What a role of the user's own allows. */
  permissions?: readonly Permission[];
  grants?: readonly Grant[];
}

/** A client with a session of the user. */
export interface Person extends Client {
  userId: string;
  username: string;
  /** The session, as Cookie header. */
  session: string;
  /** The same client, without the rest. */
  client: Client;
  /** A client with a token that has these scopes. */
  withToken(...scopes: string[]): Promise<Client>;
}

/** Makes the user and signs in. */
export async function makeUser(hawser: Hawser, wish: UserWish): Promise<Person> {
  passwordHash ??= hashPassword(PASSWORD);
  const hash = await passwordHash;
  const userId = await withDatabase(hawser, (database) => insertUser(database, wish, hash));
  const session = await signIn(hawser.client(), wish.username, PASSWORD);
  const client = hawser.client().with({ Cookie: session });
  return {
    ...client,
    userId,
    username: wish.username,
    session,
    client,
    async withToken(...scopes) {
      const token = await createToken(hawser.client(), session, scopes);
      return hawser.client().with({ Authorization: `Bearer ${token}` });
    },
  };
}

async function insertUser(database: Database, wish: UserWish, hash: string): Promise<string> {
  const { username, roles = [], permissions, grants = [] } = wish;
  const [userId, now] = [newId(), Date.now()];
  await database.write.transaction().execute(async (trx) => {
    await trx
      .insertInto('users')
      .values({
        id: userId,
        username,
        username_key: username.toLowerCase(),
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
    const roleIds = permissions === undefined ? [] : [await insertRole(trx, username, permissions, now)];
    for (const name of roles) {
      const role = trx.selectFrom('roles').select('id').where('name', '=', name);
      roleIds.push((await role.executeTakeFirstOrThrow()).id);
    }
    for (const role_id of roleIds)
      await trx.insertInto('user_roles').values({ user_id: userId, role_id }).execute();
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
  return userId;
}

/** @returns the id of a new role of the user's own */
async function insertRole(
  trx: Db,
  username: string,
  permissions: readonly Permission[],
  now: number,
): Promise<string> {
  const [id, name] = [newId(), `role-of-${username}`];
  const role = { id, name, name_key: name.toLowerCase(), description: null, is_system: 0 };
  await trx
    .insertInto('roles')
    .values({ ...role, created_at: now, modified_at: now })
    .execute();
  for (const permission of permissions)
    await trx.insertInto('role_permissions').values({ role_id: id, permission }).execute();
  return id;
}

/** Gives the person this level on a configuration, and removes any level from before. */
export async function grant(
  hawser: Hawser,
  person: Person,
  configuration: string,
  level: GrantLevel | null,
): Promise<void> {
  await withDatabase(hawser, async ({ write }) => {
    const { id } = await write
      .selectFrom('configurations')
      .select('id')
      .where('name', '=', configuration)
      .executeTakeFirstOrThrow();
    await write
      .deleteFrom('grants')
      .where('resource_id', '=', id)
      .where('principal_id', '=', person.userId)
      .execute();
    if (level === null) return;
    await write
      .insertInto('grants')
      .values({
        resource_kind: 'configuration',
        resource_id: id,
        principal_type: 'User',
        principal_id: person.userId,
        level,
        granted_at: Date.now(),
        granted_by: null,
      })
      .execute();
  });
}

/** Gives the level to a new group, of which the person is the only member. */
export async function grantThroughGroup(
  hawser: Hawser,
  person: Person,
  configuration: string,
  level: GrantLevel,
): Promise<void> {
  const now = Date.now();
  const group = { id: newId(), name: `group-${now}`, name_key: `group-${now}`, description: null };
  await withDatabase(hawser, async ({ write }) => {
    await write
      .insertInto('groups')
      .values({ ...group, created_at: now, modified_at: now })
      .execute();
    await write.insertInto('group_members').values({ group_id: group.id, user_id: person.userId }).execute();
    const { id } = await write
      .selectFrom('configurations')
      .select('id')
      .where('name', '=', configuration)
      .executeTakeFirstOrThrow();
    await write
      .insertInto('grants')
      .values({
        resource_kind: 'configuration',
        resource_id: id,
        principal_type: 'Group',
        principal_id: group.id,
        level,
        granted_at: now,
        granted_by: null,
      })
      .execute();
  });
}
