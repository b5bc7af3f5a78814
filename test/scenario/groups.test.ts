// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { ADMINISTRATOR_ROLE_ID, BUILT_IN_GROUPS, BUILT_IN_ROLES } from '../../src/domain/permissions.ts';
import { MINUTE } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import { auditedCall, auditedDuring, expectNothingAudited } from '../support/audit.ts';
import type { Client, Reply } from '../support/client.ts';
import { CONFIGURATIONS, create as createConfiguration } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { type Hawser, startHawser } from '../support/hawser.ts';
import { grantThroughGroup, makeUser, type Person } from '../support/people.ts';
import { etagOf, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const GROUPS = '/api/v1/groups';
const UNKNOWN = '3f0e0000-0000-4000-8000-000000000000';
const MEMBERS = ['id', 'name', 'description', 'createdAt', 'modifiedAt'];
const USER = [
  ...['id', 'username', 'email', 'accountType', 'isActive', 'requirePasswordChange', 'lockoutEnd'],
  ...['createdAt', 'modifiedAt'],
];

const groupOf = (id: string) => `${GROUPS}/${id}`;
const membersOf = (id: string) => `${GROUPS}/${id}/members`;
const rolesOf = (id: string) => `${GROUPS}/${id}/roles`;
const roleId = (name: string) => BUILT_IN_ROLES.find((role) => role.name === name)?.id ?? '';
const namesIn = (users: { username: string }[]) => users.map(({ username }) => username);
const refusedBeyond = [403, 'beyond_own_permissions'] as const;

describe('groups', () => {
  const hawser = started(startHawser);
  let ann: Person;
  let ben: Person;

  const create = (name: unknown, more: Record<string, unknown> = {}) =>
    hawser.admin.post(GROUPS, { name, ...more });
  const made = async (name: string, more: Record<string, unknown> = {}) => ok(201, create(name, more));
  const shown = (id: string) => ok(200, hawser.admin.get(groupOf(id)));
  const setMembers = (id: string, userIds: unknown, client = hawser.admin) =>
    client.put(membersOf(id), { userIds });
  const setRoles = (id: string, roleIds: unknown, client = hawser.admin) =>
    client.put(rolesOf(id), { roleIds });

  before(async () => {
    ann = await makeUser(hawser, { username: 'ann' });
    ben = await makeUser(hawser, { username: 'ben' });
  });

  it('are the two built-in ones at first, each with its role', async () => {
    const reply = await hawser.admin.get(GROUPS);
    const groups = await ok(200, reply);
    expect(reply.headers['x-total-count']).to.equal('2');
    expect(groups.map((group: { name: string }) => group.name)).to.deep.equal([
      ...['Administrators', 'Operators'],
    ]);
    for (const [index, { id, roleId: held }] of BUILT_IN_GROUPS.entries()) {
      expect(groups[index]).to.have.all.keys(MEMBERS);
      expect(groups[index].description)
        .to.be.a('string')
        .and.match(/^[A-Z].+[a-z]$/);
      const group = await shown(id);
      expect(group).to.deep.include({ ...groups[index], members: [] });
      expect(group.roles.map((role: { id: string }) => role.id)).to.deep.equal([held]);
      expect(group.roles[0]).to.have.all.keys('id', 'name', 'isSystemRole');
    }
  });

  it('are created empty', async () => {
    const { reply, entries } = await auditedCall(hawser, () =>
      hawser.admin.post(`${GROUPS}/`, { name: ' Night shift  ', description: 'at night' }),
    );
    const [entry, ...others] = entries;
    const group = await ok(201, reply);
    expect(group).to.have.all.keys(...MEMBERS, 'members', 'roles');
    expect(group).to.deep.include({ name: 'Night shift', description: 'at night', members: [], roles: [] });
    expect(reply.headers['location']).to.equal(groupOf(group.id));
    expect(await shown(group.id)).to.deep.equal(group);
    expect(others).to.deep.equal([]);
    expect(entry).to.include({ action: 'group.created', resourceType: 'Group', resourceId: group.id });
    expect(entry).to.include({ actorName: 'admin', requestId: reply.headers['x-request-id'] });
    expect(entry?.details).to.include({ name: 'Night shift', description: 'at night' });
  });

  it('are renamed and described anew, and lose a description that is not said', async () => {
    const group = await made('Before', { description: 'old' });
    hawser.clock.advance(MINUTE);
    let after = group;
    const [entry] = await auditedDuring(hawser, async () => {
      after = await ok(200, hawser.admin.put(`${groupOf(group.id)}/`, { name: 'After' }));
    });
    expect(after).to.include({ id: group.id, name: 'After', description: null, createdAt: group.createdAt });
    expect(Date.parse(after.modifiedAt)).to.be.at.least(Date.parse(group.modifiedAt) + MINUTE);
    expect(await shown(group.id)).to.deep.equal(after);
    expect(entry).to.include({ action: 'group.updated', resourceId: group.id });
    expect(entry?.details).to.deep.include({
      ...{ name: { from: 'Before', to: 'After' }, description: { from: 'old', to: null } },
    });
    await ok(200, hawser.admin.put(groupOf(group.id), { name: 'AFTER' }));
  });

  it('that are changed into what they are leave no trace', async () => {
    const group = await made('Steady', { description: 'same' });
    await ok(200, setMembers(group.id, [ann.userId]));
    await ok(200, setRoles(group.id, [roleId('Viewer')]));
    const before = await shown(group.id);
    hawser.clock.advance(MINUTE);
    await expectNothingAudited(hawser, async () => {
      await ok(200, hawser.admin.put(groupOf(group.id), { name: 'Steady ', description: 'same' }));
      await ok(200, setMembers(group.id, [ann.userId, ann.userId]));
      await ok(200, setRoles(group.id, [roleId('Viewer')]));
    });
    expect(await shown(group.id)).to.deep.equal(before);
  });

  it('take any printable name of up to 64 characters, and nothing else', async () => {
    for (const name of ["'; drop table groups; --", 'é'.repeat(64), '😀'.repeat(64), '../%2e?#', 'Grüße']) {
      expect((await made(name)).name, name).to.equal(name);
    }
    const faults: unknown[] = [
      '',
      '  ',
      'x'.repeat(65),
      '\u0301\u0316'.repeat(200_000),
      'a\tb',
      'a\u0000b',
      'a\u200bb',
      'a\u202eb',
      '\udc00',
    ];
    for (const name of [...faults, 'a\u2029b', 5, null, undefined, ['x'], { a: 1 }]) {
      const reply = await create(name);
      await expectProblem(reply, 400, 'validation_failed', JSON.stringify(name)?.slice(0, 80));
      expect(reply.json.errors[0].path).to.equal('/name');
    }
    await expectProblem(create('x', { description: 'x'.repeat(4_001) }), 400, 'validation_failed');
    await expectProblem(create('x', { members: [] }), 400, 'validation_failed');
  });

  it('have names that differ by more than case or the form of a character', async () => {
    await made('Straße');
    for (const name of ['STRASSE', 'operators', 'Ｏｐｅｒａｔｏｒｓ', ' Administrators']) {
      await expectProblem(create(name), 409, 'name_taken', name);
    }
    const other = await made('Another');
    await expectNothingAudited(hawser, () =>
      expectProblem(hawser.admin.put(groupOf(other.id), { name: 'OPERATORS' }), 409, 'name_taken'),
    );
    expect(await shown(other.id)).to.deep.equal(other);
    const twins = await Promise.all(['Twin', 'TWIN', 'twin'].map((name) => create(name)));
    expect(twins.map((reply) => reply.status).sort()).to.deep.equal([201, 409, 409]);
  });

  it('that do not exist answer 404', async () => {
    for (const id of [UNKNOWN, 'nothing', '%00', "'--", UNKNOWN.toUpperCase()]) {
      await expectProblem(hawser.admin.get(groupOf(id)), 404, 'not_found', id);
      await expectProblem(hawser.admin.put(groupOf(id), { name: 'x' }), 404, 'not_found', id);
      await expectProblem(hawser.admin.delete(groupOf(id)), 404, 'not_found', id);
      await expectProblem(hawser.admin.get(membersOf(id)), 404, 'not_found', id);
      await expectProblem(setMembers(id, []), 404, 'not_found', id);
      await expectProblem(hawser.admin.get(`${rolesOf(id)}/`), 404, 'not_found', id);
      await expectProblem(setRoles(id, []), 404, 'not_found', id);
    }
  });

  describe('and their members', () => {
    it('are replaced as a whole, and shown by user name', async () => {
      const { id } = await made('Crew');
      hawser.clock.advance(MINUTE);
      const before = await shown(id);
      let list: { id: string; username: string }[] = [];
      const [entry, ...others] = await auditedDuring(hawser, async () => {
        const ids = [ben.userId, ann.userId.toUpperCase(), ben.userId];
        list = await ok(200, hawser.admin.put(`${membersOf(id)}/`, { userIds: ids }));
      });
      expect(namesIn(list)).to.deep.equal(['ann', 'ben']);
      for (const user of list) expect(user).to.have.all.keys([...USER, 'source']);
      expect(list[0]).to.include({ id: ann.userId, email: 'ann@example.org', accountType: 'User' });
      expect(list[0]).to.include({ source: 'Local' });
      expect(list[0]).to.include({ isActive: true, requirePasswordChange: false, lockoutEnd: null });
      const after = await shown(id);
      expect(after.members).to.deep.equal(list);
      expect(Date.parse(after.modifiedAt)).to.be.greaterThan(Date.parse(before.modifiedAt));
      expect(others).to.deep.equal([]);
      expect(entry).to.include({ action: 'group.members_changed', resourceId: id });
      expect(entry?.details).to.deep.include({ name: 'Crew', added: ['ann', 'ben'], removed: [] });
      const page = await hawser.admin.get(`${membersOf(id)}?take=1`);
      expect(page.json).to.deep.equal([list[0]]);
      expect(page.headers['x-total-count']).to.equal('2');
      expect(page.headers['link']).to.equal(`<${membersOf(id)}?take=1&skip=1>; rel="next"`);
      const [second] = await auditedDuring(hawser, () => ok(200, setMembers(id, [ben.userId])));
      expect(second?.details).to.deep.include({ added: [], removed: ['ann'] });
      expect(namesIn(await ok(200, hawser.admin.get(membersOf(id))))).to.deep.equal(['ben']);
      expect(await ok(200, setMembers(id, []))).to.deep.equal([]);
    });

    it('are not made of what is no user, and then stay as they are', async () => {
      const { id } = await made('Strict');
      await ok(200, setMembers(id, [ann.userId]));
      const faults: [unknown, string, string][] = [
        [[ann.userId, UNKNOWN], '/userIds/1', 'unknown_user'],
        [[ann.userId, ann.userId, roleId('Viewer')], '/userIds/2', 'unknown_user'],
        [[ann.userId, 'nobody'], '/userIds/1', 'invalid_format'],
        [["' or 1=1 --"], '/userIds/0', 'invalid_format'],
        [[null], '/userIds/0', 'invalid_type'],
        [[[ann.userId]], '/userIds/0', 'invalid_type'],
        [ann.userId, '/userIds', 'invalid_type'],
        [undefined, '/userIds', 'invalid_type'],
        [Array(10_001).fill(ann.userId), '/userIds', 'too_big'],
      ];
      await expectNothingAudited(hawser, async () => {
        for (const [userIds, path, code] of faults) {
          const reply = await setMembers(id, userIds);
          await expectProblem(reply, 400, 'validation_failed', `${path} ${code}`);
          expect(reply.json.errors[0]).to.include({ path, code });
        }
        const many = await setMembers(id, Array.from({ length: 5_000 }, newId));
        await expectProblem(many, 400, 'validation_failed');
        expect(many.json.errors).to.have.length(100);
        const other = await hawser.admin.put(membersOf(id), { userIds: [], roleIds: [] });
        await expectProblem(other, 400, 'validation_failed');
      });
      expect(namesIn((await shown(id)).members)).to.deep.equal(['ann']);
    });

    it('may be ten thousand, with a thousand roles', async () => {
      const { id } = await made('Everybody');
      const [users, roles] = await insertMany(hawser, 10_000, 1_000);
      expect(await ok(200, setMembers(id, users))).to.have.length(10_000);
      expect(await ok(200, setRoles(id, roles))).to.have.length(1_000);
      const page = await hawser.admin.get(`${membersOf(id)}?skip=9999`);
      expect(page.json).to.have.length(1);
      expect(page.headers['x-total-count']).to.equal('10000');
      expect((await shown(id)).members).to.have.length(10_000);
      await ok(200, setMembers(id, [ann.userId, ...users.slice(1)]));
      expect(await ok(200, setMembers(id, []))).to.deep.equal([]);
      await expectProblem(setRoles(id, [...roles, roles[0]]), 400, 'validation_failed');
      await ok(204, hawser.admin.delete(groupOf(id)));
    });

    it('are guarded by the ETag of the group', async () => {
      const { id } = await made('Guarded');
      const etag = await etagOf(hawser.admin, groupOf(id));
      const put = (path: string, json: unknown) =>
        hawser.admin.call('PUT', path, { json, headers: { 'If-Match': etag } });
      await ok(200, put(membersOf(id), { userIds: [ann.userId] }));
      await expectProblem(put(membersOf(id), { userIds: [] }), 412, 'precondition_failed');
      await expectProblem(put(rolesOf(id), { roleIds: [] }), 412, 'precondition_failed');
      await expectProblem(put(groupOf(id), { name: 'x' }), 412, 'precondition_failed');
      expect(namesIn((await shown(id)).members)).to.deep.equal(['ann']);
    });
  });

  describe('and their roles', () => {
    it('are replaced as a whole, and shown by name', async () => {
      const { id } = await made('Jobs');
      let list: unknown[] = [];
      const [entry, ...others] = await auditedDuring(hawser, async () => {
        list = await ok(200, setRoles(id, [roleId('Viewer'), roleId('Author'), roleId('Viewer')]));
      });
      expect(list).to.deep.equal([
        { id: roleId('Author'), name: 'Author', isSystemRole: true },
        { id: roleId('Viewer'), name: 'Viewer', isSystemRole: true },
      ]);
      expect((await shown(id)).roles).to.deep.equal(list);
      expect(others).to.deep.equal([]);
      expect(entry).to.include({ action: 'group.roles_changed', resourceId: id });
      expect(entry?.details).to.deep.include({ name: 'Jobs', added: ['Author', 'Viewer'], removed: [] });
      const page = await hawser.admin.get(`${rolesOf(id)}/?take=1&skip=1`);
      expect(page.json).to.deep.equal([list[1]]);
      expect(page.headers['x-total-count']).to.equal('2');
      expect(await ok(200, setRoles(id, []))).to.deep.equal([]);
    });

    it('are not made of what is no role', async () => {
      const { id } = await made('Jobless');
      const faults: [unknown, string][] = [
        [[roleId('Viewer'), UNKNOWN], '/roleIds/1'],
        [[ann.userId], '/roleIds/0'],
        [['Viewer'], '/roleIds/0'],
        [[5], '/roleIds/0'],
        [null, '/roleIds'],
        [Array(1_001).fill(roleId('Viewer')), '/roleIds'],
      ];
      for (const [roleIds, path] of faults) {
        const reply = await setRoles(id, roleIds);
        await expectProblem(reply, 400, 'validation_failed', path);
        expect(reply.json.errors[0].path).to.equal(path);
      }
      expect((await shown(id)).roles).to.deep.equal([]);
    });
  });

  describe('and who may give what through them', () => {
    let gus: Client;
    before(async () => {
      gus = await makeUser(hawser, { username: 'gus', permissions: ['groups.manage', 'nodes.read'] });
    });

    it('nobody lets a group hold what they do not hold themselves', async () => {
      const { id } = await ok(201, gus.post(GROUPS, { name: 'Of Gus' }));
      const own = await ok(
        201,
        hawser.admin.post('/api/v1/roles', { name: 'Own', permissions: ['nodes.read'] }),
      );
      await ok(200, setRoles(id, [own.id], gus));
      await expectNothingAudited(hawser, async () => {
        await expectProblem(setRoles(id, [own.id, roleId('Viewer')], gus), ...refusedBeyond);
        await expectProblem(setRoles(id, [ADMINISTRATOR_ROLE_ID], gus), ...refusedBeyond);
      });
      await ok(200, setRoles(id, [own.id, roleId('Viewer')]));
      // Keeping and taking away needs nothing.
      await ok(200, setRoles(id, [roleId('Viewer')], gus));
      await ok(200, setRoles(id, [roleId('Viewer'), own.id], gus));
    });

    it('a token counts for what its scopes leave of its owner', async () => {
      const olga = await makeUser(hawser, { username: 'olga', roles: ['Administrator'] });
      const { id } = await made('By token');
      const groups = await olga.withToken('groups.manage');
      await expectProblem(setRoles(id, [roleId('Viewer')], groups), ...refusedBeyond);
      await ok(200, setRoles(id, [roleId('Viewer')]));
      await expectProblem(setMembers(id, [ann.userId], groups), ...refusedBeyond);
      const viewer = ['nodes.read', 'reports.read', 'server.settings.read'];
      const enough = await olga.withToken('groups.manage', ...viewer);
      const [entry] = await auditedDuring(hawser, () => ok(200, setMembers(id, [ann.userId], enough)));
      expect(entry).to.include({ actorId: olga.userId, actorName: 'olga' });
      expect(entry?.details?.['tokenId']).to.be.a('string');
      const other = await olga.withToken('users.manage', ...viewer);
      const calls = [other.get(GROUPS), setMembers(id, [], other), other.delete(groupOf(id))];
      for (const reply of await Promise.all(calls)) await expectProblem(reply, 403, 'forbidden');
    });
  });

  it('give and take with the very next request', async () => {
    const nick = await makeUser(hawser, { username: 'nick' });
    const token = await nick.withToken('nodes.read');
    const both = async (status: number, when: string) => {
      for (const client of [nick.client, token]) {
        expect((await client.get('/api/v1/nodes')).status, when).to.equal(status);
      }
    };
    const { id } = await made('For Nick');
    await ok(200, setRoles(id, [roleId('Viewer')]));
    await both(403, 'no member yet');
    await ok(200, setMembers(id, [ann.userId, nick.userId]));
    await both(200, 'a member');
    await ok(200, setMembers(id, [ann.userId]));
    await both(403, 'no member any more');
    await ok(200, setMembers(id, [nick.userId]));
    await both(200, 'a member again');
    await ok(200, setRoles(id, []));
    await both(403, 'the group holds nothing');
    await ok(200, setRoles(id, [roleId('Operator')]));
    await both(200, 'the group holds another role');
    await ok(204, hawser.admin.delete(groupOf(id)));
    await both(403, 'the group is gone');
    expect((await ok(200, nick.client.get('/api/v1/auth/me'))).groups).to.deep.equal([]);
  });

  it('go with their grants and leave their name', async () => {
    const cleo = await makeUser(hawser, { username: 'cleo' });
    await ok(201, createConfiguration(hawser.admin, 'web'));
    await grantThroughGroup(hawser, cleo, 'web', 'Read');
    await ok(200, cleo.client.get(`${CONFIGURATIONS}/web`));
    const [name] = (await ok(200, cleo.client.get('/api/v1/auth/me'))).groups;
    const groups: { id: string; name: string }[] = await ok(200, hawser.admin.get(GROUPS));
    const id = groups.find((group) => group.name === name)?.id ?? '';
    const [entry, ...others] = await auditedDuring(hawser, async () => {
      await ok(204, hawser.admin.delete(`${groupOf(id)}/`));
      await expectProblem(hawser.admin.delete(groupOf(id)), 404, 'not_found');
    });
    expect(others).to.deep.equal([]);
    expect(entry).to.include({ action: 'group.deleted', resourceId: id });
    expect(entry?.details).to.deep.include({ name, members: ['cleo'], roles: [] });
    await expectProblem(cleo.client.get(`${CONFIGURATIONS}/web`), 404, 'not_found');
    const grants = await ok(200, hawser.admin.get(`${CONFIGURATIONS}/web/permissions`));
    expect(grants.map((grant: { principalName: string }) => grant.principalName)).to.deep.equal(['admin']);
    await made(name);
  });
});

describe('the last administrator', () => {
  let hawser: Hawser;
  let ann: Person;
  let ben: Person;
  let gus: Client;
  let groupIds: string[];
  const last = [409, 'last_administrator'] as const;

  beforeEach(async () => {
    hawser = await startHawser();
    ann = await makeUser(hawser, { username: 'ann' });
    ben = await makeUser(hawser, { username: 'ben' });
    gus = await makeUser(hawser, { username: 'gus', permissions: ['groups.manage'] });
    groupIds = [];
    for (const { userId, username } of [ann, ben]) {
      const { id } = await ok(201, hawser.admin.post(GROUPS, { name: `Of ${username}` }));
      await ok(200, hawser.admin.put(rolesOf(id), { roleIds: [ADMINISTRATOR_ROLE_ID] }));
      await ok(200, hawser.admin.put(membersOf(id), { userIds: [userId] }));
      groupIds.push(id);
    }
    await withDatabase(hawser, ({ write }) =>
      write.deleteFrom('user_roles').where('role_id', '=', ADMINISTRATOR_ROLE_ID).execute(),
    );
  });
  afterEach(() => hawser.close());

  const ways: Record<string, (id: string) => Promise<Reply>> = {
    'a member leaves': (id) => gus.put(membersOf(id), { userIds: [] }),
    'the group loses its role': (id) => gus.put(rolesOf(id), { roleIds: [] }),
    'the group is deleted': (id) => gus.delete(groupOf(id)),
  };

  for (const [way, take] of Object.entries(ways)) {
    it(`stays when ${way}, also when two are taken at once`, async () => {
      const replies = await Promise.all(groupIds.map(take));
      expect(replies.filter(({ status }) => status < 300)).to.have.length(1);
      const [refused, ...others] = replies.filter(({ status }) => status >= 300);
      expect(others).to.deep.equal([]);
      if (refused) await expectProblem(refused, ...last);
      const counts = await Promise.all([ann, ben].map(({ client }) => client.get('/api/v1/users')));
      expect(counts.map(({ status }) => status).sort(), 'one of them still may').to.deep.equal([200, 403]);
    });
  }

  it('is none who cannot sign in', async () => {
    await withDatabase(hawser, ({ write }) =>
      write.updateTable('users').set({ is_active: 0 }).where('username', '=', 'ben').execute(),
    );
    const [ofAnn = '', ofBen = ''] = groupIds;
    for (const take of Object.values(ways)) await expectProblem(take(ofAnn), ...last);
    await ok(204, gus.delete(groupOf(ofBen)));
  });

  it('does not keep built-in groups from going', async () => {
    for (const { id } of BUILT_IN_GROUPS) await ok(204, gus.delete(groupOf(id)));
    await hawser.restart();
    const again = hawser.client().with({ Cookie: ann.session });
    const groups: { name: string }[] = await ok(200, again.get(GROUPS));
    expect(groups.map(({ name }) => name)).to.deep.equal(['Of ann', 'Of ben']);
  });
});

/** Users and roles by the thousand, straight into the database. @returns their ids */
async function insertMany(hawser: Hawser, users: number, roles: number): Promise<[string[], string[]]> {
  const now = Date.now();
  const times = { created_at: now, modified_at: now };
  const userIds = Array.from({ length: users }, newId);
  const roleIds = Array.from({ length: roles }, newId);
  await withDatabase(hawser, ({ write }) =>
    write.transaction().execute(async (trx) => {
      for (const id of userIds) {
        const names = { username: id, username_key: id, email: `${id}@example.org` };
        const flags = { account_type: 'User', is_active: 1, require_password_change: 0 } as const;
        const row = { id, ...names, ...flags, password_hash: null, lockout_end: null, ...times };
        await trx.insertInto('users').values(row).execute();
      }
      for (const id of roleIds) {
        const row = { id, name: id, name_key: id, description: null, is_system: 0, ...times };
        await trx.insertInto('roles').values(row).execute();
      }
    }),
  );
  return [userIds, roleIds];
}
