// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { z } from 'zod';
import { Components } from '../../src/http/openapi/components.ts';
import { queryOf } from '../../src/http/openapi/requests.ts';
import type { Route } from '../../src/http/route.ts';
import { type AccessWorld, startAccessWorld } from '../support/access-world.ts';
import { createToken, type Hawser, type NodeUnderTest } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { addressOf, declaredRoutes, isPlainGet, neededQuery } from '../support/routes.ts';

const isList = ({ method, answers }: Route) => method === 'GET' && answers[200]?.schema instanceof z.ZodArray;

/** What lists take that are not paged as all others are. */
const UNPAGED: Record<string, string[]> = {
  listActivity: ['take', 'before'],
  listNodeTimeline: ['take', 'before', 'kinds'],
  search: ['q'],
  listEvents: ['after', 'wait'],
  listIdentityProviders: [],
  getJoiningRules: [],
};

/** The names of what a list can be asked for. */
const membersOf = (route: Route) => Object.keys(queryOf(route, new Components())?.['properties'] ?? {});

describe('the query of a list', () => {
  let hawser: Hawser;
  let node: NodeUnderTest;
  let world: AccessWorld;
  let routes: Route[];
  let lists: Route[];

  before(async () => {
    routes = await declaredRoutes();
    lists = routes.filter(isList);
    world = await startAccessWorld();
    ({ hawser, node } = world);
  });
  after(() => world.close());

  const address = (route: Route) => addressOf(route, world.valuesOf(route));

  async function expectRefused(path: string, member: string, code: string): Promise<void> {
    const { json } = await expectProblem(hawser.admin.get(path), 400, 'validation_failed', path);
    const fault = json.errors.find((error: { path: string }) => error.path === `/${member}`);
    expect(fault?.code, `${path} ${JSON.stringify(json.errors)}`).to.equal(code);
  }

  it('may be empty, or as short as it can be, and every list of the interface is among those looked at here', async () => {
    expect(lists.map(({ id }) => id)).to.include.members([
      ...['listNodes', 'listAuditEntries', 'listReports', 'listNodeReports', 'listNodeStatusHistory'],
      ...['listRetentionRuns', 'listScopeTypes', 'listParameterMajors', 'listPermissions', 'listTokens'],
      ...['listConfigurations', 'listComposites', 'listUsers', 'listRegistrationKeys'],
    ]);
    for (const route of lists) {
      const paging = UNPAGED[route.id] ?? ['take', 'skip'];
      expect(membersOf(route), route.id).to.include.members(paging);
      await ok(200, hawser.admin.get(`${address(route)}${neededQuery(route)}`));
    }
  });

  it('has no member that the list does not know', async () => {
    for (const route of lists) {
      await expectRefused(`${address(route)}?nonsense=1`, 'nonsense', 'unrecognized_keys');
      await expectRefused(`${address(route)}?take=1&Take=1`, 'Take', 'unrecognized_keys');
    }
  });

  it('asks for no page that is none', async () => {
    for (const route of lists.filter(({ id }) => UNPAGED[id] === undefined))
      for (const query of ['take=0', 'take=1001', 'skip=-1', 'skip=x', 'take=1&take=2']) {
        const path = `${address(route)}${neededQuery(route) || '?'}&${query}`;
        const { json } = await expectProblem(hawser.admin.get(path), 400, 'validation_failed', path);
        expect(json.errors.map(({ path: member }: { path: string }) => member)).to.include(
          `/${query.slice(0, 4)}`,
        );
      }
    const odd = [
      'take=',
      'take=1.5',
      'take=1e2',
      'take=0x10',
      'take=%zz',
      'skip=',
      'skip=99999999999999999999',
    ];
    for (const query of odd)
      await expectProblem(hawser.admin.get(`/api/v1/nodes?${query}`), 400, 'validation_failed', query);
    for (const query of ['take=1', 'take=1000', 'skip=0', 'skip=999999999999999'])
      await ok(200, hawser.admin.get(`/api/v1/nodes?${query}`));
  });

  it('has no member of a strange name either', async () => {
    for (const name of ['_', 'constructor', '__proto__', 'take[]', 'toString'])
      await expectRefused(`/api/v1/nodes?${name}=1`, name, 'unrecognized_keys');
    await expectRefused('/api/v1/nodes?a%2Fb=1', 'a~1b', 'unrecognized_keys');
    await expectRefused('/api/v1/nodes?=1', '', 'unrecognized_keys');
    await expectRefused('/api/v1/nodes/?nonsense', 'nonsense', 'unrecognized_keys');
  });

  it('is told all its faults at once, and what there is', async () => {
    const { json } = await hawser.admin.get('/api/v1/retention/runs?limit=0&one=1&two=2');
    expect(json.errors.map(({ path }: { path: string }) => path)).to.have.members(['/limit', '/one', '/two']);
    expect(json.errors[2].message).to.equal('No such member; there are limit, take, skip, from, to');
  });

  it('has no control character in any text', async () => {
    for (const route of lists)
      for (const member of membersOf(route))
        for (const character of ['%00', '%1f', '%7F'])
          await expectRefused(`${address(route)}?${member}=a${character}b`, member, 'control_character');
  });

  it('may have every other character', async () => {
    for (const text of ['%20', '%7E', '%C2%80', '%C3%BC', '%F0%9F%99%82'])
      expect(await ok(200, hawser.admin.get(`/api/v1/nodes?fqdn=${text}`))).to.deep.equal([]);
  });

  it('is not looked at before it is known that the caller may read the list', async () => {
    const token = await createToken(hawser.client(), hawser.session, []);
    const nobody = hawser.client().with({ Authorization: `Bearer ${token}` });
    for (const route of lists.filter(({ access }) => access.kind !== 'public')) {
      const path = `${address(route)}?nonsense=%00`;
      await expectProblem(hawser.client().get(path), 401, 'unauthenticated', path);
      await expectProblem(nobody.get(path), 403, 'forbidden', path);
    }
  });

  it('is refused to HEAD as to GET', async () => {
    expect((await hawser.admin.call('HEAD', '/api/v1/nodes?nonsense=1')).status).to.equal(400);
  });

  it('is the only one that is judged so: what answers with one thing ignores what it does not know', async () => {
    for (const route of routes.filter((each) => isPlainGet(each) && !isList(each)))
      await ok(200, hawser.admin.get(`${address(route)}${neededQuery(route) || '?'}&nonsense=1`));
  });

  it('is ignored where nodes call', async () => {
    const own = `/api/v1/nodes/${node.nodeId}`;
    for (const path of ['configuration', 'configuration/checksum', 'configuration/bundle', 'lcm-config'])
      await ok(200, node.client.get(`${own}/${path}?nonsense=%00`));
    const report = { operation: 'Test', result: { hadErrors: false } };
    await ok(201, node.client.post(`${own}/reports?nonsense=1`, report));
  });
});
