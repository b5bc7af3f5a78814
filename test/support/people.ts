/**
 * Users with built-in roles, and grants that are given and taken away, written directly into the server's database
 * file.
 */

import type { GrantLevel } from '../../src/domain/permissions.ts';
import { newId } from '../../src/lib/ids.ts';
import { hashPassword } from '../../src/security/passwords.ts';
import type { Client } from './client.ts';
import { createToken, type Hawser, signIn } from './hawser.ts';
import { withDatabase } from './users.ts';

const PASSWORD = 'a-long-enough-password';

/** Hashing is slow on purpose, so all users share one hash. */
let hash: Promise<string> | undefined;

export interface Person {
  userId: string;
  username: string;
  /** A session, as Cookie header. */
  session: string;
  /** A client with that session. */
  client: Client;
  /** A client with a token that has these scopes. */
  withToken(...scopes: string[]): Promise<Client>;
}

/** @param roles names of built-in roles */
export async function addUser(hawser: Hawser, username: string, ...roles: string[]): Promise<Person> {
  hash ??= hashPassword(PASSWORD);
  const now = Date.now();
  const user = {
    id: newId(),
    username,
    username_key: username.toLowerCase(),
    email: `${username}@example.org`,
    account_type: 'User' as const,
    password_hash: await hash,
    is_active: 1,
    require_password_change: 0,
    lockout_end: null,
    created_at: now,
    modified_at: now,
  };
  await withDatabase(hawser, async ({ write }) => {
    await write.insertInto('users').values(user).execute();
    for (const role of roles) {
      const { id } = await write
        .selectFrom('roles')
        .select('id')
        .where('name', '=', role)
        .executeTakeFirstOrThrow();
      await write.insertInto('user_roles').values({ user_id: user.id, role_id: id }).execute();
    }
  });
  const session = await signIn(hawser.client(), username, PASSWORD);
  return {
    userId: user.id,
    username,
    session,
    client: hawser.client().with({ Cookie: session }),
    async withToken(...scopes) {
      const token = await createToken(hawser.client(), session, scopes);
      return hawser.client().with({ Authorization: `Bearer ${token}` });
    },
  };
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
