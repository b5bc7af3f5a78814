// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import type { Client, Reply } from '../support/client.ts';
import {
  addChild,
  addCompositeDraft,
  addGroup,
  COMPOSITES,
  childrenOf,
  compositeOf,
  compositeVersionOf,
  compositeVersionsOf,
  createComposite,
  publishComposite,
} from '../support/composites.ts';
import { CONFIGURATIONS, create, MAIN } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { makeUser, type Person } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const UNKNOWN = '3f0e0000-0000-4000-8000-000000000000';

const KINDS = [
  { kind: 'a configuration', base: CONFIGURATIONS, make: create },
  { kind: 'a composite', base: COMPOSITES, make: createComposite },
];

for (const { kind, base, make } of KINDS) {
  describe(`permissions on ${kind}`, () => {
    const hawser = started(startHawser);
    let ada: Person;
    let bob: Person;

    before(async () => {
      ada = await makeUser(hawser, { username: 'ada', roles: ['Author'] });
      bob = await makeUser(hawser, { username: 'bob', roles: ['Viewer'] });
    });

    const permissionsOf = (name: string) => `${base}/${name}/permissions`;
    const give = (
      name: string,
      principalId: string,
      level: string,
      { client = hawser.admin, principalType = 'User' }: { client?: Client; principalType?: string } = {},
    ) => client.put(permissionsOf(name), { principalType, principalId, level });
    const revoke = (name: string, type: string, id: string, client = hawser.admin) =>
      client.delete(`${permissionsOf(name)}/${type}/${id}`);
    const namesSeenBy = async (client: Client) =>
      (await ok(200, client.get(base))).map((entry: { name: string }) => entry.name);

    it('its creator has Manage, and sees it listed', async () => {
      const before = Date.now();
      await ok(201, make(ada.client, 'adas'));
      const reply = await ada.client.get(`${permissionsOf('adas')}/`);
      const [grant, ...others] = await ok(200, reply);
      expect(others).to.deep.equal([]);
      expect(reply.headers['x-total-count']).to.equal('1');
      const { grantedAt, ...rest } = grant;
      expect(rest).to.deep.equal({
        principalType: 'User',
        principalId: ada.userId,
        principalName: 'ada',
        level: 'Manage',
        grantedByUserId: ada.userId,
      });
      expect(grantedAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Date.parse(grantedAt)).to.be.within(before, Date.now());
    });

    it('are granted, replaced and revoked, each from the next request on', async () => {
      await expectProblem(bob.client.get(`${base}/adas`), 404, 'not_found');
      expect(await namesSeenBy(bob.client)).to.deep.equal([]);
      const granted = await give('adas', bob.userId, 'Read', { client: ada.client });
      expect([granted.status, granted.bytes.length], granted.text).to.deep.equal([204, 0]);
      await ok(200, bob.client.get(`${base}/adas`));
      expect(await namesSeenBy(bob.client)).to.deep.equal(['adas']);
      await expectProblem(bob.client.get(permissionsOf('adas')), 403, 'forbidden');
      await ok(204, give('adas', bob.userId, 'Modify'));
      await expectProblem(bob.client.get(permissionsOf('adas')), 403, 'forbidden');
      await expectProblem(bob.client.delete(`${base}/adas`), 403, 'forbidden');
      await ok(204, give('adas', bob.userId, 'Manage'));
      const grants = await ok(200, bob.client.get(permissionsOf('adas')));
      expect(grants).to.have.length(2);
      expect(grants[1]).to.include({ principalName: 'bob', level: 'Manage' });
      await ok(204, give('adas', bob.userId, 'Read', { client: bob.client }));
      await expectProblem(bob.client.get(permissionsOf('adas')), 403, 'forbidden');
      await ok(204, revoke('adas', 'User', bob.userId, ada.client));
      await expectProblem(bob.client.get(`${base}/adas`), 404, 'not_found');
      expect(await namesSeenBy(bob.client)).to.deep.equal([]);
      await expectProblem(revoke('adas', 'User', bob.userId), 404, 'not_found');
    });

    it('take enums in any case, and give them back as contracted', async () => {
      const gid = await addGroup(hawser, 'Cases', bob);
      await ok(204, give('adas', gid.toUpperCase(), 'mODIFY', { principalType: 'gROUP' }));
      const grants = await ok(200, hawser.admin.get(permissionsOf('adas')));
      expect(grants[0]).to.include({
        principalType: 'Group',
        principalId: gid,
        principalName: 'Cases',
        level: 'Modify',
      });
      await ok(204, revoke('adas', 'GROUP', gid));
      await expectProblem(bob.client.get(`${base}/adas`), 404, 'not_found');
    });

    it("count through groups too: the highest of one's own and the groups' wins", async () => {
      const cleo = await makeUser(hawser, { username: 'cleo', roles: ['Viewer'] });
      const readers = await addGroup(hawser, 'Readers', cleo);
      const managers = await addGroup(hawser, 'Managers', cleo);
      const adas = permissionsOf('adas');
      await ok(204, give('adas', readers, 'Read', { principalType: 'Group' }));
      await ok(200, cleo.client.get(`${base}/adas`));
      expect(await namesSeenBy(cleo.client)).to.deep.equal(['adas']);
      await ok(204, give('adas', cleo.userId, 'Modify'));
      await expectProblem(cleo.client.get(adas), 403, 'forbidden');
      await ok(204, give('adas', managers, 'Manage', { principalType: 'Group' }));
      await ok(200, cleo.client.get(adas));
      expect(await namesSeenBy(cleo.client)).to.deep.equal(['adas']);
      await withDatabase(hawser, ({ write }) =>
        write.deleteFrom('group_members').where('group_id', '=', managers).execute(),
      );
      await expectProblem(cleo.client.get(adas), 403, 'forbidden');
      await ok(204, revoke('adas', 'User', cleo.userId));
      await expectProblem(cleo.client.delete(`${base}/adas`), 403, 'forbidden');
      await ok(204, revoke('adas', 'Group', readers));
      await expectProblem(cleo.client.get(`${base}/adas`), 404, 'not_found');
      // A group's id is no user's, and the other way round.
      await expectProblem(give('adas', readers, 'Read'), 404, 'not_found');
      await expectProblem(give('adas', cleo.userId, 'Read', { principalType: 'Group' }), 404, 'not_found');
      await expectProblem(revoke('adas', 'User', managers), 404, 'not_found');
      await ok(204, revoke('adas', 'Group', managers));
    });

    it('are listed by type and name, page by page', async () => {
      await ok(201, make(hawser.admin, 'listed'));
      const groups = ['g2', 'g1', 'g3'];
      for (const name of groups) {
        const id = await addGroup(hawser, name);
        await ok(204, give('listed', id, 'Read', { principalType: 'Group' }));
      }
      await ok(204, give('listed', bob.userId, 'Modify'));
      const reply = await hawser.admin.get(permissionsOf('listed'));
      const namesIn = (page: Reply) =>
        page.json.map((entry: { principalType: string; principalName: string }) => entry.principalName);
      expect(namesIn(reply)).to.deep.equal(['g1', 'g2', 'g3', 'admin', 'bob']);
      const page = await hawser.admin.get(`${permissionsOf('listed')}?skip=1&take=2`);
      expect(namesIn(page)).to.deep.equal(['g2', 'g3']);
      expect(page.headers['x-total-count']).to.equal('5');
      expect(page.headers['link']).to.match(/^<[^>]*skip=3[^>]*>; rel="next"$/);
      await expectInvalid(hawser.admin.get(`${permissionsOf('listed')}?take=0`));
    });

    it('are refused for who does not exist, and for a body that is not as contracted', async () => {
      for (const principalType of ['User', 'Group']) {
        await expectProblem(give('adas', UNKNOWN, 'Read', { principalType }), 404, 'not_found');
        await expectProblem(revoke('adas', principalType, UNKNOWN), 404, 'not_found');
      }
      const good = { principalType: 'User', principalId: bob.userId, level: 'Read' };
      const bad: [body: unknown, path: string][] = [
        [{ ...good, level: 'Owner' }, '/level'],
        [{ ...good, level: '' }, '/level'],
        [{ ...good, level: null }, '/level'],
        [{ ...good, level: 'None' }, '/level'],
        [{ ...good, principalType: 'Role' }, '/principalType'],
        [{ ...good, principalType: 1 }, '/principalType'],
        [{ ...good, principalId: 'bob' }, '/principalId'],
        [{ ...good, principalId: null }, '/principalId'],
        [{ principalType: 'User', principalId: bob.userId }, '/level'],
        [{ ...good, more: 1 }, '/more'],
        [[good], ''],
      ];
      for (const [body, path] of bad) {
        await expectInvalid(hawser.admin.put(permissionsOf('adas'), body), path, JSON.stringify(body));
      }
      for (const [type, id] of [
        ['Role', ada.userId],
        ['Users', ada.userId],
        ['%2e', ada.userId],
        ['User', 'ada'],
        ['User', ada.userId.toUpperCase()],
        ['User', '%00'],
      ] as const) {
        await expectProblem(revoke('adas', type, id), 404, 'not_found', `${type} ${id}`);
      }
      await expectProblem(give('nothing', bob.userId, 'Read'), 404, 'not_found');
      await expectProblem(bob.client.get(`${base}/adas`), 404, 'not_found');
      const wrong = await hawser.admin.call('POST', permissionsOf('adas'), { json: good });
      expect([wrong.status, wrong.headers['allow']]).to.deep.equal([405, 'GET, HEAD, OPTIONS, PUT']);
    });

    it('go with the user or group that held them, and with what they were held on', async () => {
      const dora = await makeUser(hawser, { username: 'dora', roles: ['Viewer'] });
      const group = await addGroup(hawser, 'Passing', dora);
      await ok(201, make(hawser.admin, 'passing'));
      const { id } = (await hawser.admin.get(`${base}/passing`)).json;
      await ok(204, give('passing', dora.userId, 'Read'));
      await ok(204, give('passing', group, 'Read', { principalType: 'Group' }));
      await withDatabase(hawser, async ({ write }) => {
        await write.deleteFrom('users').where('id', '=', dora.userId).execute();
        await write.deleteFrom('groups').where('id', '=', group).execute();
      });
      expect(await ok(200, hawser.admin.get(permissionsOf('passing')))).to.have.length(1);
      await ok(204, hawser.admin.delete(`${base}/passing`));
      const left = await withDatabase(hawser, ({ read }) =>
        read.selectFrom('grants').selectAll().where('resource_id', '=', id).execute(),
      );
      expect(left).to.deep.equal([]);
      await ok(201, make(hawser.admin, 'passing'));
      await expectProblem(bob.client.get(`${base}/passing`), 404, 'not_found');
    });

    it('may all be taken away: then only the override opens it', async () => {
      await ok(201, make(ada.client, 'orphan'));
      await ok(204, revoke('orphan', 'User', ada.userId, ada.client));
      await expectProblem(ada.client.get(`${base}/orphan`), 404, 'not_found');
      expect(await ok(200, hawser.admin.get(permissionsOf('orphan')))).to.deep.equal([]);
    });
  });
}

describe('a composite on which somebody holds no grant', () => {
  const hawser = started(startHawser);

  it('is to them as if it were not there, whatever they call', async () => {
    const bob = await makeUser(hawser, { username: 'bob', roles: ['Author'] });
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: 'x' } });
    await ok(201, createComposite(hawser.admin, 'site'));
    await ok(201, addCompositeDraft(hawser.admin, 'site', '1.0.0'));
    const { id } = await ok(201, addChild(hawser.admin, 'site', '1.0.0', 'web'));
    const calls = (name: string): Promise<Reply>[] => [
      bob.get(compositeOf(name)),
      bob.get(compositeVersionsOf(name)),
      bob.get(compositeVersionOf(name, '1.0.0')),
      addCompositeDraft(bob, name, '1.0.0'),
      addChild(bob, name, '1.0.0', 'web'),
      bob.put(`${childrenOf(name, '1.0.0')}/${id}`, { order: 'x' }),
      bob.delete(`${childrenOf(name, '1.0.0')}/${id}`),
      publishComposite(bob, name, '1.0.0'),
      bob.delete(compositeVersionOf(name, '1.0.0')),
      bob.get(`${compositeOf(name)}/permissions`),
      bob.put(`${compositeOf(name)}/permissions`, {}),
      bob.delete(`${compositeOf(name)}/permissions/User/${bob.userId}`),
      bob.delete(compositeOf(name)),
    ];
    const nobodys = await Promise.all(calls('nobodys'));
    for (const [at, reply] of (await Promise.all(calls('site'))).entries()) {
      await expectProblem(reply, 404, 'not_found', String(at));
      expect(reply.json).to.deep.equal(nobodys[at]?.json);
    }
    expect(await ok(200, bob.get(COMPOSITES))).to.deep.equal([]);
    const grants = [{ on: 'composite', name: 'site', level: 'Read' }] as const;
    const owner = await makeUser(hawser, { username: 'ada', grants });
    const seenBy = async (...scopes: string[]) => ok(200, (await owner.withToken(...scopes)).get(COMPOSITES));
    expect(await seenBy('composite-configurations.grants')).to.have.length(1);
    const others = ['configurations.grants', 'composite-configurations.admin-override'];
    expect(await seenBy(...others)).to.deep.equal([]);
  });
});
