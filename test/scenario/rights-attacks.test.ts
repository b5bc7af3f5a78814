// everyday: SQLite, PostgreSQL
/** How somebody with one permission, or with one token, tried to get at what is not theirs: each way is closed. */

import { expect } from 'chai';
import { MINUTE } from '../../src/lib/clock.ts';
import { auditedDuring } from '../support/audit.ts';
import { MAIN, post, versionsOf } from '../support/configurations.ts';
import { createKey, publishConfiguration, signIn, startHawser } from '../support/hawser.ts';
import { configurationId } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const USERS = '/api/v1/users';
const GROUPS = '/api/v1/groups';
const KEYS = '/api/v1/admin/registration-keys';
const WEB = '/api/v1/configurations/web';
const NEW_PASSWORD = 'another-password-worth-having';
/** Of everybody whom `makeUser` makes. */
const OLD_PASSWORD = 'a-password-of-a-test-user';

describe('an attacker', () => {
  const hawser = started(startHawser);

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
  });
  // Sign-ins from one address are counted by the minute.
  beforeEach(() => hawser.clock.advance(MINUTE));

  const grant = (path: string, principalType: 'User' | 'Group', principalId: string, level: string) =>
    ok(204, hawser.admin.put(`${path}/permissions`, { principalType, principalId, level }));

  it('with a token for configurations alone writes no parameters that its owner may only read', async () => {
    const mallory = await makeUser(hawser, { username: 'mallory-token' });
    await grant(WEB, 'User', mallory.userId, 'Manage');
    await grant(`${WEB}/parameters`, 'User', mallory.userId, 'Read');
    const token = await mallory.withToken('configurations.grants');
    const set = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'web')}`;
    const entries = await auditedDuring(hawser, async () => {
      const draft = { version: '1.0.0', content: 'parameters: {}\n' };
      for (const client of [token, mallory.client]) {
        await expectProblem(client.put(set, draft), 403, 'forbidden');
        const own = { principalType: 'User', principalId: mallory.userId, level: 'Manage' };
        await expectProblem(client.put(`${WEB}/parameters/permissions`, own), 403, 'forbidden');
        const itself = `${WEB}/parameters/permissions/User/${mallory.userId}`;
        await expectProblem(client.delete(itself), 403, 'forbidden');
      }
    });
    expect(entries).to.deep.equal([]);
    await ok(200, token.get(`${set}/versions`));
  });

  it('with groups.manage alone does not join the group that may publish', async () => {
    const mallory = await makeUser(hawser, { username: 'mallory-groups' });
    const { id: roleId } = await ok(
      201,
      hawser.admin.post('/api/v1/roles', { name: 'Group keeper', permissions: ['groups.manage'] }),
    );
    await ok(200, hawser.admin.put(`${USERS}/${mallory.userId}/roles`, { roleIds: [roleId] }));
    const { id: groupId } = await ok(201, hawser.admin.post(GROUPS, { name: 'Web team' }));
    await grant(WEB, 'Group', groupId, 'Manage');
    const members = { userIds: [mallory.userId] };
    const refused = await mallory.client.put(`${GROUPS}/${groupId}/members`, members);
    await expectProblem(refused, 403, 'beyond_own_permissions');
    expect(refused.json.detail).to.include('a configuration').and.to.not.include('web');
    const external = { provider: 'entra', externalGroupId: 'mine', groupId };
    await expectProblem(
      mallory.client.post(`${GROUPS}/external-mappings`, external),
      403,
      'beyond_own_permissions',
    );
    await expectProblem(post(mallory.client, versionsOf('web'), { version: '6.6.6' }), 404, 'not_found');
  });

  it('with users.manage alone becomes nobody who holds grants, and lets no administrator in again', async () => {
    const mallory = await makeUser(hawser, { username: 'mallory-users', permissions: ['users.manage'] });
    const author = await makeUser(hawser, { username: 'author' });
    await grant(WEB, 'User', author.userId, 'Manage');
    const former = await makeUser(hawser, { username: 'former', roles: ['Administrator'] });
    const state = { username: 'former', email: 'former@example.org', isActive: false };
    await ok(200, hawser.admin.put(`${USERS}/${former.userId}`, state));
    const beyond = [403, 'beyond_own_permissions'] as const;
    const entries = await auditedDuring(hawser, async () => {
      for (const { userId, username } of [author, former]) {
        const email = 'mallory@example.org';
        const reset = mallory.post(`${USERS}/${userId}/reset-password`, { newPassword: NEW_PASSWORD });
        await expectProblem(reset, ...beyond);
        await expectProblem(mallory.post(`${USERS}/${userId}/unlock`), ...beyond);
        const renamed = { username: `${username}-before`, email, isActive: username === 'author' };
        await expectProblem(mallory.put(`${USERS}/${userId}`, renamed), ...beyond);
        await expectProblem(mallory.delete(`${USERS}/${userId}`), ...beyond);
      }
      await expectProblem(mallory.put(`${USERS}/${former.userId}`, { ...state, isActive: true }), ...beyond);
      const taken = { username: 'author', email: 'x@example.org', password: NEW_PASSWORD };
      await expectProblem(mallory.post(USERS, taken), 409, 'name_taken');
    });
    expect(entries).to.deep.equal([]);
    await ok(200, author.client.get(WEB));
    expect((await former.client.get(WEB)).status).to.equal(401);
  });

  it('with a token does not set the password of its owner, nor with a session that is open', async () => {
    const root = await makeUser(hawser, { username: 'root', roles: ['Administrator'] });
    const everything = await ok(200, root.client.get('/api/v1/permissions'));
    const token = await root.withToken(
      ...everything.map(({ name }: { name: string }) => name),
      ...['configurations.grants', 'composite-configurations.grants', 'parameters.grants'],
    );
    const own = `${USERS}/${root.userId}/reset-password`;
    const entries = await auditedDuring(hawser, async () => {
      for (const newPassword of [NEW_PASSWORD, 'short']) {
        for (const path of [own, `${own}/`]) {
          await expectProblem(token.post(path, { newPassword }), 403, 'session_required');
          await expectProblem(root.client.post(path, { newPassword }), 403, 'forbidden');
        }
      }
    });
    expect(entries).to.deep.equal([]);
    await signIn(hawser.client(), 'root', OLD_PASSWORD);
    await ok(200, root.client.get('/api/v1/auth/me'));
    // A token of users.manage alone has less than its owner, so it renames and unlocks nobody either.
    const narrow = await root.withToken('users.manage');
    const renamed = { username: 'toor', email: 'root@example.org', isActive: true };
    await expectProblem(narrow.put(`${USERS}/${root.userId}`, renamed), 403, 'beyond_own_permissions');
    await expectProblem(narrow.post(`${USERS}/${root.userId}/unlock`), 403, 'beyond_own_permissions');
    await ok(204, root.client.post(`${USERS}/${root.userId}/unlock`));
  });

  it('with registration-keys.manage alone makes no key that takes over a node', async () => {
    const keys = await makeUser(hawser, {
      username: 'mallory-keys',
      permissions: ['registration-keys.manage'],
    });
    const entries = await auditedDuring(hawser, async () => {
      const refused = await keys.post(KEYS, { allowReregistration: true });
      await expectProblem(refused, 403, 'beyond_own_permissions');
      expect(refused.json.detail).to.include('nodes.delete');
    });
    expect(entries).to.deep.equal([]);
    await ok(201, keys.post(KEYS, { allowReregistration: false }));
    await createKey(keys);
    const both = await makeUser(hawser, {
      ...{ username: 'keeper-of-keys', permissions: ['registration-keys.manage', 'nodes.delete'] },
    });
    await createKey(both, { allowReregistration: true });
    const root = await makeUser(hawser, { username: 'key-root', roles: ['Administrator'] });
    const narrow = await root.withToken('registration-keys.manage');
    await expectProblem(narrow.post(KEYS, { allowReregistration: true }), 403, 'beyond_own_permissions');
    await createKey(await root.withToken('registration-keys.manage', 'nodes.delete'), {
      allowReregistration: true,
    });
  });
});
