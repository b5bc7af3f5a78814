// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { BUILT_IN_ROLES, PERMISSION_NAMES, PERMISSIONS } from '../../src/domain/permissions.ts';
import { MINUTE } from '../../src/lib/clock.ts';
import { auditedDuring } from '../support/audit.ts';
import type { Reply } from '../support/client.ts';
import { withDatabase } from '../support/database.ts';
import { startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const ROLES = '/api/v1/roles';
const UNKNOWN = '3f0e0000-0000-4000-8000-000000000000';
const MEMBERS = ['id', 'name', 'description', 'permissions', 'isSystemRole', 'createdAt', 'modifiedAt'];
const ADMINISTRATOR = BUILT_IN_ROLES[0]?.id;

describe('roles', () => {
  const hawser = started(startHawser);
  const roleOf = (id: string) => `${ROLES}/${id}`;
  const create = (name: unknown, permissions: unknown = [], more: Record<string, unknown> = {}) =>
    hawser.admin.post(ROLES, { name, permissions, ...more });
  const made = async (name: string, permissions: unknown = []) => ok(201, create(name, permissions));
  const hold = (userId: string, roleId: string) =>
    withDatabase(hawser, ({ write }) =>
      write.insertInto('user_roles').values({ user_id: userId, role_id: roleId }).execute(),
    );

  it('are the four built-in ones at first, listed by name, a page at a time', async () => {
    const reply = await hawser.admin.get(ROLES);
    const roles = await ok(200, reply);
    expect(reply.headers['x-total-count']).to.equal('4');
    expect(roles.map((role: { name: string }) => role.name)).to.deep.equal([
      ...['Administrator', 'Author', 'Operator', 'Viewer'],
    ]);
    for (const role of roles) {
      expect(role).to.have.all.keys(MEMBERS);
      const builtIn = BUILT_IN_ROLES.find(({ id }) => id === role.id);
      expect(role).to.include({ isSystemRole: true, description: builtIn?.description });
      expect(role.permissions).to.have.members([...(builtIn?.permissions ?? [])]);
      expect(await ok(200, hawser.admin.get(roleOf(role.id)))).to.deep.equal(role);
    }
    const page = await hawser.admin.get(`${ROLES}/?take=2&skip=1`);
    expect(page.json.map((role: { name: string }) => role.name)).to.deep.equal(['Author', 'Operator']);
    expect(page.headers['link']).to.equal(`<${ROLES}/?take=2&skip=3>; rel="next"`);
  });

  it('are created with permissions that count once, in the order of the catalogue', async () => {
    const wish = ['nodes.write', 'nodes.read', 'nodes.write', 'users.manage'];
    let reply: Reply | undefined;
    const [entry, ...others] = await auditedDuring(hawser, async () => {
      reply = await hawser.admin.post(`${ROLES}/`, { name: '  Night shift ', permissions: wish });
    });
    if (!reply) throw new Error('there was no answer');
    const role = await ok(201, reply);
    expect(role).to.have.all.keys(MEMBERS);
    expect(role).to.include({ name: 'Night shift', description: null, isSystemRole: false });
    expect(role.permissions).to.deep.equal(['users.manage', 'nodes.read', 'nodes.write']);
    expect(role.modifiedAt).to.equal(role.createdAt);
    expect(reply.headers['location']).to.equal(roleOf(role.id));
    expect(await ok(200, hawser.admin.get(roleOf(role.id)))).to.deep.equal(role);
    expect(others).to.deep.equal([]);
    expect(entry).to.include({ action: 'role.created', resourceType: 'Role', resourceId: role.id });
    expect(entry).to.include({
      actorType: 'User',
      actorName: 'admin',
      requestId: reply.headers['x-request-id'],
    });
    expect(entry?.details).to.deep.include({ name: 'Night shift', permissions: role.permissions });
  });

  it('are replaced whole: what is not said is gone', async () => {
    const role = await ok(201, create('Before', ['nodes.read', 'nodes.write'], { description: 'old' }));
    hawser.clock.advance(MINUTE);
    const change = { name: 'After', permissions: ['nodes.write', 'audit.read'] };
    let reply = role;
    const [entry, ...others] = await auditedDuring(hawser, async () => {
      reply = await ok(200, hawser.admin.put(`${roleOf(role.id)}/`, change));
    });
    expect(reply).to.include({ id: role.id, name: 'After', description: null, createdAt: role.createdAt });
    expect(reply.permissions).to.deep.equal(['nodes.write', 'audit.read']);
    expect(Date.parse(reply.modifiedAt)).to.be.at.least(Date.parse(role.modifiedAt) + MINUTE);
    expect(await ok(200, hawser.admin.get(roleOf(role.id)))).to.deep.equal(reply);
    expect(others).to.deep.equal([]);
    expect(entry).to.include({ action: 'role.updated', resourceId: role.id });
    expect(entry?.details).to.deep.include({
      name: { from: 'Before', to: 'After' },
      description: { from: 'old', to: null },
      added: ['audit.read'],
      removed: ['nodes.read'],
    });
    const lower = await ok(200, hawser.admin.put(roleOf(role.id), { ...change, name: 'after' }));
    expect(lower.name, 'its own name in another case').to.equal('after');
  });

  it('that are replaced by what they are leave no trace', async () => {
    const role = await ok(201, create('Steady', ['nodes.read', 'audit.read'], { description: 'same' }));
    hawser.clock.advance(MINUTE);
    const same = { name: ' Steady ', description: 'same', permissions: ['audit.read', 'nodes.read'] };
    const entries = await auditedDuring(hawser, async () => {
      expect(await ok(200, hawser.admin.put(roleOf(role.id), same))).to.deep.equal(role);
    });
    expect(entries).to.deep.equal([]);
  });

  it('take any printable name of up to 64 characters, and nothing else', async () => {
    for (const name of ["'; drop table roles; --", 'é'.repeat(64), '😀'.repeat(64), '<b>"%_\\', 'Rôle']) {
      expect((await made(name)).name, name).to.equal(name);
    }
    for (const name of ['   ', 'x'.repeat(65), '\u0301\u0316'.repeat(200_000), 'a\u202eb', '\ud800', 5, null])
      await expectInvalid(create(name), '/name', JSON.stringify(name)?.slice(0, 80));
    expect(await ok(200, hawser.admin.get(ROLES))).to.not.have.length(0);
  });

  it('have names that differ by more than case or the form of a character', async () => {
    await made('Straße');
    for (const name of ['STRASSE', 'operator', 'Ｏｐｅｒａｔｏｒ', ' Viewer'])
      await expectProblem(create(name), 409, 'name_taken', name);
    const other = await made('Another');
    const change = { name: 'VIEWER', permissions: ['nodes.read'] };
    const entries = await auditedDuring(hawser, () =>
      expectProblem(hawser.admin.put(roleOf(other.id), change), 409, 'name_taken'),
    );
    expect(entries, 'a refusal changes nothing').to.deep.equal([]);
    expect(await ok(200, hawser.admin.get(roleOf(other.id)))).to.deep.equal(other);
  });

  it('of one name that are created at once: one is', async () => {
    const replies = await Promise.all(['Twin', 'TWIN', 'twin', 'tWin'].map((name) => create(name)));
    expect(replies.map((reply) => reply.status).sort()).to.deep.equal([201, 409, 409, 409]);
  });

  it('refuse permissions that there are not, each by its place', async () => {
    const faults: [unknown, string, string][] = [
      [['nodes.read', 'nodes.fly'], '/permissions/1', 'unknown_permission'],
      [['NODES.READ'], '/permissions/0', 'unknown_permission'],
      [['configurations.grants'], '/permissions/0', 'unknown_permission'],
      [['__proto__'], '/permissions/0', 'unknown_permission'],
      [[null], '/permissions/0', 'invalid_type'],
      ['nodes.read', '/permissions', 'invalid_type'],
      [undefined, '/permissions', 'invalid_type'],
      [Array(1_001).fill('nodes.read'), '/permissions', 'too_big'],
    ];
    for (const [permissions, path, code] of faults) {
      const reply = await hawser.admin.post(ROLES, { name: 'Faulty', permissions });
      const what = JSON.stringify(permissions)?.slice(0, 60);
      await expectProblem(reply, 400, 'validation_failed', what);
      expect(reply.json.errors[0], what).to.include({ path, code });
    }
    const many = await made('Many', Array(1_000).fill('nodes.read'));
    expect(many.permissions).to.deep.equal(['nodes.read']);
    await expectInvalid(create('Faulty', [], { isSystemRole: true }));
    await expectInvalid(create('Faulty', [], { description: 5 }));
  });

  it('that are built in are neither changed nor deleted', async () => {
    for (const { id, name } of BUILT_IN_ROLES) {
      const before = await ok(200, hawser.admin.get(roleOf(id)));
      await expectProblem(hawser.admin.put(roleOf(id), { name, permissions: [] }), 409, 'system_role', name);
      await expectProblem(hawser.admin.delete(roleOf(id)), 409, 'system_role', name);
      expect(await ok(200, hawser.admin.get(roleOf(id)))).to.deep.equal(before);
    }
  });

  it('that do not exist answer 404', async () => {
    for (const id of [UNKNOWN, 'nothing', String(ADMINISTRATOR).replace('11', '1A'), '%00', "'--"]) {
      await expectProblem(hawser.admin.get(roleOf(id)), 404, 'not_found', id);
      const put = hawser.admin.put(roleOf(id), { name: 'x', permissions: [] });
      await expectProblem(put, 404, 'not_found', id);
      await expectProblem(hawser.admin.delete(`${roleOf(id)}/`), 404, 'not_found', id);
    }
  });

  it('change only in the state that If-Match names', async () => {
    const { id } = await made('Guarded');
    const etag = String((await hawser.admin.get(roleOf(id))).headers['etag']);
    const put = (name: string) =>
      hawser.admin.call('PUT', roleOf(id), {
        json: { name, permissions: [] },
        headers: { 'If-Match': etag },
      });
    await ok(200, put('Guarded well'));
    await expectProblem(put('Guarded again'), 412, 'precondition_failed');
    const headers = { 'If-Match': etag };
    await expectProblem(hawser.admin.call('DELETE', roleOf(id), { headers }), 412, 'precondition_failed');
  });

  describe('and who may write them', () => {
    it('nobody writes a role that may do what they may not', async () => {
      const rita = await makeUser(hawser, { username: 'rita', permissions: ['roles.manage', 'nodes.read'] });
      const own = await ok(201, rita.post(ROLES, { name: 'Readers', permissions: ['nodes.read'] }));
      const beyond = [403, 'beyond_own_permissions'] as const;
      const more = { name: 'Readers', permissions: ['nodes.read', 'audit.read'] };
      const entries = await auditedDuring(hawser, async () => {
        await expectProblem(rita.post(ROLES, { name: 'Writers', permissions: ['nodes.write'] }), ...beyond);
        await expectProblem(rita.put(roleOf(own.id), more), ...beyond);
      });
      expect(entries).to.deep.equal([]);
      await ok(200, hawser.admin.put(roleOf(own.id), more));
      const less = { name: 'Readers', permissions: ['nodes.read'] };
      await expectProblem(rita.put(roleOf(own.id), less), ...beyond);
      await expectProblem(rita.put(roleOf(own.id), { ...more, name: 'Renamed' }), ...beyond);
      expect((await ok(200, hawser.admin.get(roleOf(own.id)))).permissions).to.deep.equal(more.permissions);
      await expectProblem(rita.delete(roleOf(own.id)), ...beyond);
      await ok(200, hawser.admin.put(roleOf(own.id), less));
      await ok(204, rita.delete(roleOf(own.id)));
    });

    it('a token counts for what its scopes leave of its owner', async () => {
      const olga = await makeUser(hawser, { username: 'olga', roles: ['Administrator'] });
      const roles = await olga.withToken('roles.manage');
      const wish = { name: 'By token', permissions: ['nodes.read'] };
      await expectProblem(roles.post(ROLES, wish), 403, 'beyond_own_permissions');
      const both = await olga.withToken('roles.manage', 'nodes.read');
      let role = { id: '' };
      const [entry] = await auditedDuring(hawser, async () => {
        role = await ok(201, both.post(ROLES, wish));
      });
      expect(entry).to.include({ actorId: olga.userId, actorName: 'olga' });
      expect(entry?.details?.['tokenId']).to.be.a('string');
      await expectProblem(roles.put(roleOf(role.id), wish), 403, 'beyond_own_permissions');
      await expectProblem(roles.delete(roleOf(role.id)), 403, 'beyond_own_permissions');
      await ok(204, both.delete(roleOf(role.id)));
    });

    it('what a role loses, its holders lose with their very next request', async () => {
      const nick = await makeUser(hawser, { username: 'nick' });
      const token = await nick.withToken('nodes.read');
      const both = async (status: number) => {
        for (const client of [nick.client, token]) {
          const reply = await client.get('/api/v1/nodes');
          expect(reply.status, reply.text).to.equal(status);
        }
      };
      const { id } = await made('For Nick', ['audit.read']);
      await hold(nick.userId, id);
      await both(403);
      await ok(200, hawser.admin.put(roleOf(id), { name: 'For Nick', permissions: ['nodes.read'] }));
      await both(200);
      await ok(200, hawser.admin.put(roleOf(id), { name: 'For Nick', permissions: [] }));
      await both(403);
      await ok(200, hawser.admin.put(roleOf(id), { name: 'For Nick', permissions: ['nodes.read'] }));
      await both(200);
      await ok(204, hawser.admin.delete(roleOf(id)));
      await both(403);
      const me = await ok(200, nick.client.get('/api/v1/auth/me'));
      expect(me).to.deep.include({ roles: [], permissions: [] });
    });

    it('a deleted role is gone for good, and its name is free', async () => {
      const { id } = await made('Passing', ['nodes.read']);
      const [entry, ...others] = await auditedDuring(hawser, async () => {
        await ok(204, hawser.admin.delete(roleOf(id)));
        await expectProblem(hawser.admin.get(roleOf(id)), 404, 'not_found');
        await expectProblem(hawser.admin.delete(roleOf(id)), 404, 'not_found');
      });
      expect(others).to.deep.equal([]);
      expect(entry).to.include({ action: 'role.deleted', resourceId: id });
      expect(entry?.details).to.deep.include({ name: 'Passing', permissions: ['nodes.read'] });
      await made('passing');
    });
  });
});

describe('the catalogue of permissions', () => {
  const hawser = started(startHawser);

  it('shows every permission with what it is for to whoever is signed in', async () => {
    const nobody = await makeUser(hawser, { username: 'nobody' });
    const reply = await nobody.client.get('/api/v1/permissions');
    const catalogue = await ok(200, reply);
    expect(catalogue).to.deep.equal(
      PERMISSION_NAMES.map((name) => ({ name, description: PERMISSIONS[name] })),
    );
    expect(reply.headers['x-total-count']).to.equal(String(PERMISSION_NAMES.length));
    const token = await nobody.withToken('nodes.read');
    const page = await token.get('/api/v1/permissions/?take=2&skip=18');
    expect(page.json.map(({ name }: { name: string }) => name)).to.deep.equal(PERMISSION_NAMES.slice(18, 20));
  });
});
