// full: SQLite, PostgreSQL
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { BUILT_IN_GROUPS, BUILT_IN_ROLES } from '../../src/domain/permissions.ts';
import { MINUTE } from '../../src/lib/clock.ts';
import type { Reply } from '../support/client.ts';
import { withDatabase } from '../support/database.ts';
import { publishConfiguration, signIn, startHawser } from '../support/hawser.ts';
import { grant, makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const USERS = '/api/v1/users';
const ME = '/api/v1/auth/me';
const NODES = '/api/v1/nodes';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const PASSWORD = 'a-password-worth-having';
const MEMBERS = [
  ...['id', 'username', 'email', 'accountType', 'isActive', 'requirePasswordChange', 'lockoutEnd'],
  ...['createdAt', 'modifiedAt'],
];
const DETAILS = [...MEMBERS, 'accessFailedCount', 'roles', 'groups'];

const roleId = (name: string) => BUILT_IN_ROLES.find((role) => role.name === name)?.id ?? '';

describe('users', () => {
  const hawser = started(startHawser);

  // Sign-ins from one address are counted by the minute.
  beforeEach(() => hawser.clock.advance(MINUTE));

  const create = (wish: Record<string, unknown>) =>
    hawser.admin.post(USERS, { email: 'somebody@example.org', password: PASSWORD, ...wish });
  const signInAs = (username: string, password = PASSWORD) =>
    hawser.client().post('/api/v1/auth/login', { username, password });
  const read = async (id: string) => (await hawser.admin.get(`${USERS}/${id}`)).json;

  async function newUser(username: string, wish: Record<string, unknown> = {}): Promise<string> {
    const reply = await ok(201, create({ username, ...wish }));
    return reply.id;
  }

  /** What the audit trail says of a user, oldest first. */
  async function trail(userId: string) {
    const rows = await withDatabase(hawser, ({ read: reader }) =>
      reader
        .selectFrom('audit_entries')
        .selectAll()
        .where('resource_id', '=', userId)
        .orderBy('seq')
        .execute(),
    );
    return rows.map(({ details, ...row }) => ({ ...row, details: JSON.parse(details ?? 'null') }));
  }
  const actionsOn = async (userId: string) =>
    (await trail(userId)).map((entry) => entry.action).filter((action) => !action.startsWith('session.'));

  async function countUsers(): Promise<number> {
    return Number((await hawser.admin.get(USERS)).headers['x-total-count']);
  }

  function expectFault(reply: Reply, path: string, what: string): void {
    expect(`${what}: ${reply.status}`).to.equal(`${what}: 400`);
    expect(reply.json.code, what).to.equal('validation_failed');
    expect(reply.json.errors[0].path, what).to.equal(path);
  }

  describe('being created', () => {
    it('get a password that they must change when they first sign in', async () => {
      const reply = await create({ username: 'Ada', email: 'ada@example.org' });
      expect(reply.status).to.equal(201);
      expect(reply.json).to.have.all.keys(DETAILS);
      const { id } = reply.json;
      expect(reply.headers['location']).to.equal(`${USERS}/${id}`);
      expect(reply.json).to.include({ username: 'Ada', email: 'ada@example.org', accountType: 'User' });
      expect(reply.json).to.include({ isActive: true, requirePasswordChange: true, lockoutEnd: null });
      expect(reply.json).to.deep.include({ accessFailedCount: 0, roles: [], groups: [] });
      expect(reply.json.modifiedAt).to.equal(reply.json.createdAt);
      expect(await read(id)).to.deep.equal(reply.json);
      expect((await signInAs('ada')).json).to.include({ userId: id, requirePasswordChange: true });
    });

    it('are spared that change on demand; absent and null are the same', async () => {
      expect((await create({ username: 'adam', requirePasswordChange: false })).json).to.include({
        requirePasswordChange: false,
      });
      const nothing = { accountType: null, requirePasswordChange: null };
      expect((await create({ username: 'abel', ...nothing })).json).to.include({
        ...{ accountType: 'User', requirePasswordChange: true },
      });
    });

    it('may be service accounts, without a password and without a sign-in', async () => {
      const wish = { username: 'deployer', accountType: 'serviceaccount' };
      expectFault(await create(wish), '/password', 'a password');
      const reply = await create({ ...wish, password: null });
      expect(reply.status).to.equal(201);
      expect(reply.json).to.include({ accountType: 'ServiceAccount', requirePasswordChange: false });
      expect((await signInAs('deployer')).status).to.equal(401);
      expectFault(await create({ username: 'abby', password: null }), '/password', 'a user without one');
    });

    it('leave an entry with who made whom, from where, and no password', async () => {
      const id = await newUser('agnes', { email: 'agnes@example.org' });
      const [entry, ...others] = await trail(id);
      expect(others).to.have.length(0);
      expect(entry).to.include({ action: 'user.created', resource_type: 'User', actor_type: 'User' });
      expect(entry).to.include({ actor_name: 'admin', ip_address: '127.0.0.1' });
      expect(entry?.request_id).to.be.a('string');
      expect(entry?.details).to.include({ username: 'agnes', email: 'agnes@example.org' });
      expect(JSON.stringify(entry) + hawser.log()).to.not.include(PASSWORD);
    });

    it('have a name of their own, however it is spelled', async () => {
      const before = await countUsers();
      for (const username of ['admin', 'ADMIN', 'ａｄｍｉｎ', 'ＡＤＭＩＮ', 'ⓐdmin']) {
        const reply = await create({ username });
        expect(`${username} ${reply.status} ${reply.json.code}`).to.equal(`${username} 409 name_taken`);
      }
      const names = ['Straße', 'STRASSE', 'strasse'];
      const replies = await Promise.all(names.map((username) => create({ username })));
      expect(replies.map((reply) => reply.status).sort(), 'all at once').to.deep.equal([201, 409, 409]);
      expect(await countUsers()).to.equal(before + 1);
      expect((await create({ username: 'Ｚｏｅ' })).json.username, 'as it is kept').to.equal('Zoe');
    });

    it('are refused with what cannot be a name or an address', async () => {
      const before = await countUsers();
      const names = [
        ...[
          '',
          'a b',
          ' ada',
          '-ada',
          '.ada',
          '@ada',
          'a/b',
          '<b>',
          "x'; drop table users;--",
          'a\r\nSet-Cookie: x=y',
          'a\u0000b',
          '../admin',
        ],
        ...['ad\u200bmin', 'ad\u202emin', 'x'.repeat(65), 'x'.repeat(100_000), 5, null, ['ada']],
      ];
      for (const username of names) {
        expectFault(await create({ username }), '/username', JSON.stringify(username).slice(0, 40));
      }
      const addresses = [
        ...[
          '',
          'ada',
          'ada@',
          '@example.org',
          'a@b@example.org',
          'a da@example.org',
          'a@b.org\r\nBcc: c@d.org',
        ],
        ...['a\u0000@b.org', 'a\u202e@b.org', `${'x'.repeat(243)}@example.org`, 5, null],
      ];
      for (const email of addresses) {
        expectFault(await create({ username: 'bea', email }), '/email', JSON.stringify(email).slice(0, 40));
      }
      expect(await countUsers()).to.equal(before);
      const quoted = { username: 'x'.repeat(64), email: `o'brien;--@${'x'.repeat(239)}.org` };
      expect((await create(quoted)).json, 'the longest, with quotes').to.include(quoted);
    });

    it('are refused with a password that is too weak, too long or none', async () => {
      const before = await countUsers();
      const passwords = [
        ...['', 'eleven-char', 'password1234', 'Long-Enough-Name', 'x'.repeat(257), 'x'.repeat(1_000_000)],
        ...[5, true, ['a-password-worth-having']],
      ];
      for (const password of passwords) {
        const reply = await create({ username: 'long-enough-name', password });
        expectFault(reply, '/password', String(password).slice(0, 20));
        expect(reply.text).to.not.include('x'.repeat(100));
      }
      const weak = await create({ username: 'long-enough-name', password: 'password1234' });
      expect(weak.json.errors[0].code).to.equal('weak_password');
      const huge = await create({ username: 'bea', password: 'x'.repeat(2 ** 20) });
      expect(huge.status).to.equal(413);
      expect(await countUsers()).to.equal(before);
    });

    it('are refused with members of another shape, or none', async () => {
      const wish = { username: 'bea', email: 'bea@example.org', password: PASSWORD };
      const faults: [Record<string, unknown>, string][] = [
        [{ ...wish, accountType: 'Root' }, '/accountType'],
        [{ ...wish, requirePasswordChange: 'no' }, '/requirePasswordChange'],
        [{ ...wish, isActive: false }, '/isActive'],
        [{ ...wish, roles: [roleId('Administrator')] }, '/roles'],
        [{ ...wish, id: UNKNOWN }, '/id'],
        [{}, '/username'],
      ];
      for (const [body, path] of faults) expectFault(await hawser.admin.post(USERS, body), path, path);
      for (const body of [[], [wish], 'bea', 5, null]) {
        expect((await hawser.admin.post(USERS, body)).status, JSON.stringify(body)).to.equal(400);
      }
      expect((await hawser.admin.post(USERS)).status, 'no body').to.equal(400);
    });
  });

  describe('being read', () => {
    it('are listed by name in pages, without details', async () => {
      const reply = await hawser.admin.get(USERS);
      expect(reply.status).to.equal(200);
      for (const user of reply.json) expect(user).to.have.all.keys(MEMBERS);
      const names = reply.json.map((user: { username: string }) => user.username);
      expect(names.slice(0, 4), 'whatever their case').to.deep.equal(['abel', 'Ada', 'adam', 'admin']);
      const part = await hawser.admin.get(`${USERS}?take=2&skip=1`);
      expect(part.json).to.deep.equal(reply.json.slice(1, 3));
      expect(part.headers['x-total-count']).to.equal(String(names.length));
      expect(part.headers['link']).to.match(/rel="next"/);
      expect((await hawser.admin.get(`${USERS}?take=0`)).status).to.equal(400);
    });

    it('show roles and groups by name, and failures at sign-in', async () => {
      const { userId } = await makeUser(hawser, { username: 'carol', roles: ['Viewer', 'Author'] });
      await withDatabase(hawser, async ({ write }) => {
        const rows = BUILT_IN_GROUPS.map(({ id }) => ({ group_id: id, user_id: userId }));
        await write.insertInto('group_members').values(rows.reverse()).execute();
      });
      expect((await signInAs('carol', 'wrong')).status).to.equal(401);
      const carol = await read(userId);
      expect(carol.accessFailedCount).to.equal(1);
      expect(carol.roles, 'those of the groups are not among them').to.deep.equal([
        { id: roleId('Author'), name: 'Author', isSystemRole: true },
        { id: roleId('Viewer'), name: 'Viewer', isSystemRole: true },
      ]);
      expect(carol.groups.map((group: { name: string }) => group.name)).to.deep.equal([
        ...['Administrators', 'Operators'],
      ]);
      expect(carol.groups[0]).to.have.all.keys('id', 'name', 'description', 'createdAt', 'modifiedAt');
    });

    it('show a lock until it has run out', async () => {
      const id = await newUser('cleo');
      for (let failure = 0; failure < 5; failure += 1) await signInAs('cleo', 'wrong');
      expect(Date.parse((await read(id)).lockoutEnd)).to.be.greaterThan(hawser.clock.now());
      hawser.clock.advance(15 * MINUTE);
      expect((await read(id)).lockoutEnd).to.equal(null);
    });

    it('answer 404 where there is none, at every address and whatever else is sent', async () => {
      const change = { username: 'nobody', email: 'nobody@example.org', isActive: true };
      for (const id of [UNKNOWN, 'admin', "1'or'1'='1", UNKNOWN.replace('8', 'A'), '%00', '..%2fusers']) {
        const address = `${USERS}/${encodeURI(id)}`;
        const replies = [
          await hawser.admin.get(address),
          await hawser.admin.put(address, change),
          await hawser.admin.delete(address),
          await hawser.admin.post(`${address}/reset-password`, { newPassword: PASSWORD }),
          await hawser.admin.post(`${address}/unlock`),
          await hawser.admin.get(`${address}/roles`),
          await hawser.admin.put(`${address}/roles`, { roleIds: [] }),
        ];
        expect(
          replies.map((reply) => reply.status),
          id,
        ).to.deep.equal(replies.map(() => 404));
      }
    });
  });

  describe('being changed', () => {
    const change = (id: string, state: Record<string, unknown>) =>
      hawser.admin.put(`${USERS}/${id}`, {
        username: 'dora',
        email: 'dora@example.org',
        isActive: true,
        ...state,
      });

    it('get another name and address, and an entry with the old ones and the new', async () => {
      const id = await newUser('doris', { email: 'doris@example.org' });
      hawser.clock.advance(MINUTE);
      const reply = await change(id, {});
      expect(reply.status).to.equal(200);
      expect(reply.json).to.have.all.keys(DETAILS);
      expect(reply.json).to.include({ id, username: 'dora', email: 'dora@example.org', isActive: true });
      expect(Date.parse(reply.json.modifiedAt)).to.be.greaterThan(Date.parse(reply.json.createdAt));
      expect(await read(id)).to.deep.equal(reply.json);
      const entry = (await trail(id)).at(-1);
      expect(entry?.action).to.equal('user.updated');
      expect(entry?.details).to.deep.include({
        username: { from: 'doris', to: 'dora' },
        email: { from: 'doris@example.org', to: 'dora@example.org' },
      });
      expect((await signInAs('doris')).status).to.equal(401);
      expect((await signInAs('dora')).status).to.equal(200);
      expect((await change(id, { username: 'DORA' })).json.username, 'only the case').to.equal('DORA');
      expect((await signInAs('dora')).status).to.equal(200);
    });

    it('leave no trace where nothing is another', async () => {
      const id = await newUser('dina', { email: 'dora@example.org' });
      const before = await read(id);
      hawser.clock.advance(MINUTE);
      const reply = await change(id, { username: 'ｄｉｎａ' });
      expect(reply.status).to.equal(200);
      expect(reply.json).to.deep.equal(before);
      expect(await actionsOn(id)).to.deep.equal(['user.created']);
    });

    it('are refused the name of another, and a body that is not whole', async () => {
      const id = await newUser('dana');
      const before = await read(id);
      await expectProblem(change(id, { username: 'Admin', email: 'other@example.org' }), 409, 'name_taken');
      const faults: [Record<string, unknown>, string][] = [
        [{ username: undefined }, '/username'],
        [{ username: 'a\nb' }, '/username'],
        [{ email: undefined }, '/email'],
        [{ email: 'nowhere' }, '/email'],
        [{ isActive: undefined }, '/isActive'],
        [{ isActive: null }, '/isActive'],
        [{ isActive: 'true' }, '/isActive'],
        [{ accountType: 'ServiceAccount' }, '/accountType'],
        [{ password: PASSWORD }, '/password'],
      ];
      for (const [state, path] of faults) expectFault(await change(id, state), path, JSON.stringify(state));
      expect(await read(id)).to.deep.equal(before);
      expect(await actionsOn(id)).to.deep.equal(['user.created']);
    });

    it('are not changed for one who has read an older state', async () => {
      const id = await newUser('dunja');
      const { etag } = (await hawser.admin.get(`${USERS}/${id}`)).headers;
      const guarded = hawser.admin.with({ 'If-Match': String(etag) });
      const state = { username: 'dunja', email: 'new@example.org', isActive: true };
      expect((await guarded.put(`${USERS}/${id}`, state)).status).to.equal(200);
      expect((await guarded.put(`${USERS}/${id}`, { ...state, email: 'b@c.org' })).status).to.equal(412);
      expect((await guarded.delete(`${USERS}/${id}`)).status).to.equal(412);
      expect((await read(id)).email).to.equal('new@example.org');
    });

    it('are out with the next call when deactivated, and stay out of what they had', async () => {
      const dirk = await makeUser(hawser, { username: 'dirk', roles: ['Viewer'] });
      const token = await dirk.withToken('nodes.read');
      expect((await token.get(NODES)).status).to.equal(200);
      const state = { username: 'dirk', email: 'dirk@example.org' };
      const reply = await change(dirk.userId, { ...state, isActive: false });
      expect(reply.json).to.include({ isActive: false });
      expect((await dirk.client.get(ME)).status).to.equal(401);
      expect((await token.get(ME)).status).to.equal(401);
      expect((await signInAs('dirk', 'a-password-of-a-test-user')).status).to.equal(401);
      const entry = (await trail(dirk.userId)).findLast(({ action }) => action === 'user.updated');
      expect(entry?.details).to.deep.include({ username: 'dirk', isActive: { from: true, to: false } });
      expect(entry?.details).to.not.have.property('email');
      expect((await change(dirk.userId, { ...state, isActive: true })).json.isActive).to.equal(true);
      expect((await dirk.client.get(ME)).status, 'the session of before').to.equal(401);
      expect((await token.get(ME)).status, 'the token of before').to.equal(401);
      await signIn(hawser.client(), 'dirk', 'a-password-of-a-test-user');
    });
  });

  describe('being deleted', () => {
    it('are gone with sessions, tokens and grants, and their entries stay', async () => {
      await publishConfiguration(hawser.admin, 'web', { '1.0.0': { 'main.dsc.yaml': 'one' } });
      const emil = await makeUser(hawser, { username: 'emil', roles: ['Viewer'] });
      const token = await emil.withToken('nodes.read');
      await grant(hawser, emil, 'web', 'Read');
      const reply = await hawser.admin.delete(`${USERS}/${emil.userId}`);
      expect(reply.status).to.equal(204);
      expect(reply.text).to.equal('');
      expect((await emil.client.get(ME)).status).to.equal(401);
      expect((await token.get(ME)).status).to.equal(401);
      expect((await hawser.admin.get(`${USERS}/${emil.userId}`)).status).to.equal(404);
      expect((await hawser.admin.delete(`${USERS}/${emil.userId}`)).status, 'again').to.equal(404);
      const grants = await hawser.admin.get('/api/v1/configurations/web/permissions');
      expect(grants.text).to.not.include(emil.userId);
      const deletions = (await trail(emil.userId)).filter(({ action }) => action === 'user.deleted');
      expect(deletions).to.have.length(1);
      expect(deletions[0]?.details).to.include({ username: 'emil', email: 'emil@example.org' });
      await newUser('Emil');
    });
  });

  describe('who cannot get in', () => {
    const reset = (id: string, newPassword: unknown, client = hawser.admin) =>
      client.post(`${USERS}/${id}/reset-password`, { newPassword });
    const NEW = 'another-password-worth-having';

    it('get a new password that they must change, out of every session and lock', async () => {
      const fay = await makeUser(hawser, { username: 'fay', roles: ['Viewer'] });
      for (let failure = 0; failure < 5; failure += 1) await signInAs('fay', 'wrong');
      const reply = await reset(fay.userId, NEW);
      expect(reply.status).to.equal(204);
      expect(reply.text).to.equal('');
      expect((await fay.client.get(ME)).status).to.equal(401);
      expect(await read(fay.userId)).to.include({
        ...{ requirePasswordChange: true, lockoutEnd: null, accessFailedCount: 0 },
      });
      expect((await signInAs('fay', 'a-password-of-a-test-user')).status).to.equal(401);
      expect((await signInAs('fay', NEW)).json.requirePasswordChange).to.equal(true);
      const entry = (await trail(fay.userId)).findLast(({ action }) => action === 'password.reset');
      expect(entry?.details).to.include({ username: 'fay' });
      expect(JSON.stringify(await trail(fay.userId)) + hawser.log()).to.not.include(NEW);
    });

    it('get none that is too weak, none as a service account, none from one who may do less', async () => {
      const id = await newUser('frieda');
      for (const weak of ['', 'eleven-char', 'password1234', 'x'.repeat(1_000_000), 5, null]) {
        expectFault(await reset(id, weak), '/newPassword', String(weak).slice(0, 20));
      }
      const unknownMember = { newPassword: NEW, requirePasswordChange: false };
      const strict = await hawser.admin.post(`${USERS}/${id}/reset-password`, unknownMember);
      expectFault(strict, '/requirePasswordChange', 'an unknown member');
      const service = await newUser('fleet-bot', { accountType: 'ServiceAccount', password: undefined });
      expect((await reset(service, NEW)).json.code).to.equal('service_account');
      expect((await reset(service, NEW)).status).to.equal(409);
      const helper = await makeUser(hawser, { username: 'felix', permissions: ['users.manage'] });
      const operator = await makeUser(hawser, { username: 'flora', roles: ['Operator'] });
      await expectProblem(reset(operator.userId, NEW, helper), 403, 'beyond_own_permissions');
      expect((await operator.client.get(ME)).status, 'the session of the one it was about').to.equal(200);
      expect((await reset(id, NEW, helper)).status, 'of a user without roles').to.equal(204);
      expect(await actionsOn(service)).to.deep.equal(['user.created']);
      expect(await actionsOn(operator.userId)).to.not.include('password.reset');
    });

    it('leave no file with a first password behind', async () => {
      const file = join(hawser.dataDir, 'initial-admin-password');
      writeFileSync(file, 'whatever\n');
      expect((await reset(await newUser('fritz'), NEW)).status).to.equal(204);
      expect(existsSync(file)).to.equal(false);
    });

    it('are unlocked, and only what was locked leaves an entry', async () => {
      const id = await newUser('gina');
      const unlock = () => hawser.admin.post(`${USERS}/${id}/unlock`);
      expect((await unlock()).status, 'not locked').to.equal(204);
      expect(await actionsOn(id)).to.deep.equal(['user.created']);
      for (let failure = 0; failure < 5; failure += 1) await signInAs('gina', 'wrong');
      expect((await signInAs('gina')).status).to.equal(401);
      expect((await unlock()).status).to.equal(204);
      expect((await signInAs('gina')).status).to.equal(200);
      expect(await actionsOn(id)).to.deep.equal(['user.created', 'user.unlocked']);
      await signInAs('gina', 'wrong');
      expect((await unlock()).status, 'failures').to.equal(204);
      expect((await read(id)).accessFailedCount).to.equal(0);
      expect(await actionsOn(id)).to.deep.equal(['user.created', 'user.unlocked', 'user.unlocked']);
    });
  });

  describe('holding roles', () => {
    const set = (id: string, roleIds: unknown, client = hawser.admin) =>
      client.put(`${USERS}/${id}/roles`, { roleIds });
    const rolesOf = async (id: string) =>
      (await hawser.admin.get(`${USERS}/${id}/roles`)).json.map((role: { name: string }) => role.name);

    it('hold exactly those that were set last, by name and each once', async () => {
      const id = await newUser('hanna');
      const given = await set(id, [roleId('Viewer'), roleId('Operator').toUpperCase(), roleId('Viewer')]);
      expect(given.status).to.equal(200);
      expect(given.json).to.deep.equal([
        { id: roleId('Operator'), name: 'Operator', isSystemRole: true },
        { id: roleId('Viewer'), name: 'Viewer', isSystemRole: true },
      ]);
      const list = await hawser.admin.get(`${USERS}/${id}/roles`);
      expect(list.json).to.deep.equal(given.json);
      expect(list.headers['x-total-count']).to.equal('2');
      expect((await hawser.admin.get(`${USERS}/${id}/roles?take=1&skip=1`)).json).to.deep.equal([
        given.json[1],
      ]);
      expect((await set(id, [roleId('Viewer'), roleId('Operator')])).status, 'the same again').to.equal(200);
      expect((await set(id, [roleId('Author'), roleId('Viewer')])).json).to.have.length(2);
      expect((await set(id, [])).json).to.deep.equal([]);
      const entries = (await trail(id)).filter(({ action }) => action === 'user.roles_changed');
      const changes = entries.map(({ details: { added, removed } }) => ({ added, removed }));
      expect(changes).to.deep.equal([
        { added: ['Operator', 'Viewer'], removed: [] },
        { added: ['Author'], removed: ['Operator'] },
        { added: [], removed: ['Author', 'Viewer'] },
      ]);
    });

    it('may do what those allow with the very next call, and no longer', async () => {
      const ilse = await makeUser(hawser, { username: 'ilse' });
      const token = await ilse.withToken('nodes.read');
      for (const client of [ilse.client, token]) expect((await client.get(NODES)).status).to.equal(403);
      await set(ilse.userId, [roleId('Viewer')]);
      for (const client of [ilse.client, token]) expect((await client.get(NODES)).status).to.equal(200);
      await set(ilse.userId, []);
      for (const client of [ilse.client, token]) expect((await client.get(NODES)).status).to.equal(403);
    });

    it('are refused roles that there are not, too many, or no list at all', async () => {
      const id = await newUser('ines');
      await set(id, [roleId('Viewer')]);
      const faults: [unknown, string][] = [
        [[roleId('Author'), roleId('Author'), UNKNOWN], '/roleIds/2'],
        [[roleId('Author'), 'Operator'], '/roleIds/1'],
        [["' or 1=1 --"], '/roleIds/0'],
        [[5], '/roleIds/0'],
        [[null], '/roleIds/0'],
        [Array.from({ length: 1_001 }, () => roleId('Author')), '/roleIds'],
        [roleId('Author'), '/roleIds'],
        [{}, '/roleIds'],
        [null, '/roleIds'],
        [undefined, '/roleIds'],
      ];
      for (const [roleIds, path] of faults) {
        expectFault(await set(id, roleIds), path, JSON.stringify(roleIds)?.slice(0, 60) ?? 'none');
      }
      const more = await hawser.admin.put(`${USERS}/${id}/roles`, { roleIds: [], groupIds: [] });
      expectFault(more, '/groupIds', 'an unknown member');
      expect((await hawser.admin.put(`${USERS}/${id}/roles`)).status, 'no body').to.equal(400);
      expect(await rolesOf(id)).to.deep.equal(['Viewer']);
      expect(await actionsOn(id)).to.deep.equal(['user.created', 'user.roles_changed']);
    });

    it('are given none by one who holds less, while what they hold may stay or be taken', async () => {
      const helper = await makeUser(hawser, {
        username: 'ivan',
        permissions: ['users.manage', 'nodes.read'],
      });
      const id = await newUser('iris');
      await set(id, [roleId('Operator')]);
      for (const role of ['Administrator', 'Viewer']) {
        await expectProblem(
          set(id, [roleId('Operator'), roleId(role)], helper),
          403,
          'beyond_own_permissions',
          role,
        );
      }
      const me = await helper.get(ME);
      const self = await set(me.json.userId, [roleId('Administrator')], helper);
      expect(self.json.code, 'not to oneself either').to.equal('beyond_own_permissions');
      expect((await set(id, [roleId('Operator')], helper)).status, 'the same set').to.equal(200);
      expect(await rolesOf(id)).to.deep.equal(['Operator']);
      expect((await set(id, [], helper)).json).to.deep.equal([]);
      expect(await actionsOn(id)).to.have.length(3);
    });

    it('are given none by a token of an administrator that names too few scopes', async () => {
      const id = await newUser('irma');
      const admin = await makeUser(hawser, { username: 'ida', roles: ['Administrator'] });
      const narrow = await admin.withToken('users.manage');
      expect((await set(id, [roleId('Viewer')], narrow)).json.code).to.equal('beyond_own_permissions');
      const wide = await admin.withToken(
        'users.manage',
        'nodes.read',
        'reports.read',
        'server.settings.read',
      );
      expect((await set(id, [roleId('Viewer')], wide)).status).to.equal(200);
      expect((await set(id, [roleId('Operator')], wide)).json.code).to.equal('beyond_own_permissions');
    });

    it('are not set for one who has read an older state of the user', async () => {
      const id = await newUser('ivo');
      const { etag } = (await hawser.admin.get(`${USERS}/${id}`)).headers;
      const guarded = hawser.admin.with({ 'If-Match': String(etag) });
      expect((await set(id, [roleId('Viewer')], guarded)).status).to.equal(200);
      expect((await set(id, [roleId('Author')], guarded)).status).to.equal(412);
      expect(await rolesOf(id)).to.deep.equal(['Viewer']);
    });
  });
});
