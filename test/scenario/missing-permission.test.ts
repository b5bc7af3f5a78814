// full: SQLite
import { expect } from 'chai';
import { PERMISSION_NAMES, type Permission } from '../../src/domain/permissions.ts';
import type { Route } from '../../src/http/route.ts';
import { needsSession, permissionsOf } from '../../src/security/access.ts';
import { type AccessWorld, startAccessWorld } from '../support/access-world.ts';
import type { Client, Reply } from '../support/client.ts';
import type { Hawser, NodeUnderTest } from '../support/hawser.ts';
import { makeUser, type Person } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { addressOf, declaredRoutes } from '../support/routes.ts';

const NODES = '/api/v1/nodes';

describe('a refusal for lack of a permission', () => {
  let hawser: Hawser;
  let node: NodeUnderTest;
  let world: AccessWorld;
  let routes: Route[];

  before(async () => {
    routes = await declaredRoutes();
    world = await startAccessWorld();
    ({ hawser, node } = world);
  });
  after(() => world.close());

  const asking = () => routes.filter(({ access }) => permissionsOf(access).length > 0);
  const call = (client: Client, route: Route) =>
    client.call(route.method, addressOf(route, world.valuesOf(route)));
  const person = (username: string, ...permissions: Permission[]): Promise<Person> =>
    makeUser(hawser, { username, permissions });

  async function expectMissing(
    reply: Promise<Reply>,
    permission: string | undefined,
    by: string,
    what = '',
  ): Promise<void> {
    const { json } = await expectProblem(reply, 403, 'forbidden', what);
    expect(json.missing, what).to.deep.equal({ permission, by });
  }

  it('names the permission and the user, on every route that asks for one', async () => {
    const nobody = await person('nora');
    expect(asking()).to.have.length.above(50);
    for (const route of asking())
      await expectMissing(call(nobody, route), permissionsOf(route.access)[0], 'User', route.id);
  });

  it('names the token where its owner holds the permission, with other scopes and with none', async () => {
    const everything = await person('ella', ...PERMISSION_NAMES);
    const none = await everything.withToken();
    const grants = await everything.withToken('configurations.grants');
    const openToTokens = asking().filter(({ access }) => !needsSession(access));
    for (const route of openToTokens)
      for (const token of [none, grants])
        await expectMissing(call(token, route), permissionsOf(route.access)[0], 'Token', route.id);
    const { json } = await grants.get(NODES);
    expect(json.detail).to.equal(
      'This needs the permission nodes.read, which is not among the scopes of this token',
    );
  });

  it('names the user where both lack it, and where the token names what the user does not hold', async () => {
    const reader = await person('rita', 'nodes.read');
    await expectMissing((await reader.withToken('nodes.read')).get('/api/v1/users'), 'users.manage', 'User');
    await expectMissing((await reader.withToken()).get('/api/v1/users'), 'users.manage', 'User');
    const token = await reader.withToken('users.manage');
    await expectMissing(token.get('/api/v1/users'), 'users.manage', 'User');
    await expectMissing(token.get(NODES), 'nodes.read', 'Token');
  });

  it('says nothing to those who have not shown who they are, and to nodes', async () => {
    for (const [client, status] of [
      [hawser.client(), 401],
      [hawser.client().with({ Authorization: 'Bearer pat_none' }), 401],
      [node.client, 403],
    ] as const) {
      const reply = await client.get('/api/v1/users');
      expect(reply.status).to.equal(status);
      expect(reply.json).to.not.have.property('missing');
    }
  });

  it('is not that of a grant that is too low, nor that of a token without scopes where none is asked for', async () => {
    const grants = [{ on: 'configuration', name: 'web', level: 'Read' }] as const;
    const author = await makeUser(hawser, { username: 'ada', permissions: [], grants });
    const low = await expectProblem(author.delete('/api/v1/configurations/web'), 403, 'forbidden');
    const scopeless = await expectProblem(
      (await author.withToken()).get('/api/v1/configurations'),
      403,
      'forbidden',
    );
    for (const { json } of [low, scopeless]) expect(json).to.not.have.property('missing');
  });

  describe('of which either of two would do', () => {
    const report = async () => {
      const result = { hadErrors: false };
      const path = `${NODES}/${node.nodeId}/reports`;
      const { id } = await ok(201, node.client.post(path, { operation: 'Test', result }));
      return `/api/v1/reports/${id}`;
    };

    it('does not come to who holds one of them, and to a token that names one of them', async () => {
      const path = await report();
      const one = await person('rosa', 'reports.read');
      const all = await person('rolf', 'reports.read-all');
      for (const client of [one, all, await one.withToken('reports.read')])
        expect(await ok(200, client.get(path))).to.include({ operation: 'Test' });
      expect(await ok(200, (await all.withToken('reports.read-all')).get(path))).to.be.an('object');
      await expectMissing(all.get(`${NODES}/${node.nodeId}/reports`), 'reports.read', 'User');
      await expectMissing(one.get('/api/v1/reports'), 'reports.read-all', 'User');
    });

    it('names the first of them, but the second where only that one is kept from a token', async () => {
      const path = await report();
      await expectMissing((await person('nils')).get(path), 'reports.read', 'User');
      const both = await person('bodo', 'reports.read', 'reports.read-all');
      await expectMissing((await both.withToken('nodes.read')).get(path), 'reports.read', 'Token');
      const second = await person('sven', 'reports.read-all');
      await expectMissing((await second.withToken('nodes.read')).get(path), 'reports.read-all', 'Token');
    });
  });
});
