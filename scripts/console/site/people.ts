/** The users of the seeded site, their roles and groups, and what scripts use instead of a password. */

import type { Client } from '../../../test/support/client.ts';
import { ok } from '../../../test/support/replies.ts';

export const PASSWORD = 'a-password-for-the-console';

export interface SeedUser {
  id: string;
  username: string;
  password: string;
}

/** Each has the built-in role of its name; `nobody` has none. */
export type Role = 'admin' | 'operator' | 'author' | 'viewer' | 'nobody';

export interface People {
  users: Record<Role, SeedUser>;
  group: { id: string; name: string };
  role: { id: string; name: string };
  mapping: { id: string };
  account: { id: string; username: string; token: string };
}

const NAMES: Record<Exclude<Role, 'admin'>, string> = {
  operator: 'oskar.operator',
  author: 'ada.author',
  viewer: 'vera.viewer',
  nobody: 'nora.nobody',
};

/** @param admin a client with a session of `admin` */
export async function makePeople(admin: Client, password: string): Promise<People> {
  const roles: { id: string; name: string }[] = await ok(200, admin.get('/api/v1/roles'));
  const roleOf = (name: string) => roles.find((role) => role.name === name)?.id;
  const make = async (key: keyof typeof NAMES, role: string | null): Promise<SeedUser> => {
    const username = NAMES[key];
    const user = {
      username,
      email: `${username}@example.org`,
      password: PASSWORD,
      requirePasswordChange: false,
    };
    const { id } = await ok(201, admin.post('/api/v1/users', user));
    if (role) await ok(200, admin.put(`/api/v1/users/${id}/roles`, { roleIds: [roleOf(role)] }));
    return { id, username, password: PASSWORD };
  };
  const users = {
    admin: { id: (await ok(200, admin.get('/api/v1/auth/me'))).userId, username: 'admin', password },
    operator: await make('operator', 'Operator'),
    author: await make('author', 'Author'),
    viewer: await make('viewer', 'Viewer'),
    nobody: await make('nobody', null),
  };
  const role = await makeRole(admin);
  const group = await makeGroup(admin, [users.viewer.id, users.operator.id], role.id);
  const mapping = await ok(
    201,
    admin.post('/api/v1/groups/external-mappings', {
      ...{ provider: 'entra', externalGroupId: 'b2f0c1de-0001', externalGroupName: 'Server people' },
      groupId: group.id,
    }),
  );
  await ok(201, admin.post('/api/v1/auth/tokens', { name: 'nightly export', scopes: ['nodes.read'] }));
  return { users, group, role, mapping: { id: mapping.id }, account: await makeAccount(admin) };
}

async function makeRole(admin: Client): Promise<People['role']> {
  const role = {
    ...{ name: 'Auditor', description: 'Reads what has happened.' },
    permissions: ['audit.read', 'reports.read', 'reports.read-all', 'nodes.read'],
  };
  return { id: (await ok(201, admin.post('/api/v1/roles', role))).id, name: role.name };
}

async function makeGroup(admin: Client, userIds: string[], roleId: string): Promise<People['group']> {
  const group = { name: 'Web team', description: 'The people of the shop.' };
  const { id } = await ok(201, admin.post('/api/v1/groups', group));
  await ok(200, admin.put(`/api/v1/groups/${id}/members`, { userIds }));
  await ok(200, admin.put(`/api/v1/groups/${id}/roles`, { roleIds: [roleId] }));
  return { id, name: group.name };
}

async function makeAccount(admin: Client): Promise<People['account']> {
  const username = 'pipeline';
  const account = { username, email: 'pipeline@example.org', accountType: 'ServiceAccount' };
  const { id } = await ok(201, admin.post('/api/v1/users', account));
  const path = `/api/v1/users/${id}/tokens`;
  const { token } = await ok(
    201,
    admin.post(path, { name: 'publish from the forge', scopes: ['nodes.read'] }),
  );
  return { id, username, token };
}
