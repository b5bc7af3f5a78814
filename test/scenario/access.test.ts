// everyday: SQLite
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import type { Route } from '../../src/http/route.ts';
import { type AccessWorld, startAccessWorld } from '../support/access-world.ts';
import type { Client, Reply } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { withDatabase } from '../support/database.ts';
import { createToken, type Hawser, type NodeUnderTest } from '../support/hawser.ts';
import { itWith } from '../support/optional-tools.ts';
import { makeUser } from '../support/people.ts';
import { addressOf, declaredRoutes, describeAccess, isPlainGet, neededQuery } from '../support/routes.ts';

const GOLDEN = join(PROJECT, 'test/golden/routes.txt');
/** The required interface, where the machine has it. */
const REQUIRED = '/work/shared/routes.txt';

const label = ({ method, path }: Route) => `${method} ${path}`;
const isPublic = (route: Route) => route.access.kind === 'public';
const isForNodes = (route: Route) => route.access.kind.startsWith('node:self');
/** Opened by a token that is nobody's. */
const isForMetrics = (route: Route) => route.access.kind === 'metrics';
const isForCallers = (route: Route) => !isPublic(route) && !isForMetrics(route);

describe('the table of routes', () => {
  let routes: Route[];
  before(async () => {
    routes = await declaredRoutes();
  });

  it('is the one that was agreed on, with who may call what', () => {
    const lines = routes.map((route) => `${label(route)}  ${describeAccess(route.access)}`).sort();
    const table = `${lines.join('\n')}\n`;
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, table);
    const advice = 'run again with UPDATE_GOLDEN=1 and review the difference';
    expect(table, advice).to.equal(readFileSync(GOLDEN, 'utf8'));
  });

  it('names no route twice', () => {
    const shapes = routes.map((route) => label(route).replace(/\{(\*?)\w+\}/g, '{$1}'));
    expect(new Set(shapes).size).to.equal(shapes.length);
  });

  const list = { isMet: existsSync(REQUIRED), otherwise: 'shared/routes.txt is not beside the project' };
  itWith([list], 'spells the required routes as required', () => {
    const plain = (text: string) => text.replace(/\/$/, '');
    const shape = (text: string) => plain(text).replace(/\{(\*?)\w+\}/g, '{$1}');
    const required = readFileSync(REQUIRED, 'utf8')
      .split('\n')
      .filter((line) => /^[A-Z]+ \//.test(line))
      .map(plain);
    const spelling = new Map(required.map((line) => [shape(line), line]));
    for (const route of routes) {
      const wanted = spelling.get(shape(label(route)));
      if (wanted !== undefined) expect(label(route)).to.equal(wanted);
    }
  });
});

describe('access to every route', () => {
  let world: AccessWorld;
  let hawser: Hawser;
  let node: NodeUnderTest;
  let other: NodeUnderTest;
  let routes: Route[];

  before(async () => {
    routes = await declaredRoutes();
    world = await startAccessWorld({ HAWSER_METRICS_TOKEN: 'a-token-for-the-metrics' });
    ({ hawser, node } = world);
    other = await hawser.registerNode('web-02.example.org');
  });
  after(() => world.close());

  const address = (route: Route) => addressOf(route, world.valuesOf(route));

  async function expectOfEachRoute(
    client: Client,
    selected: (route: Route) => boolean,
    check: (reply: Reply, route: Route, name: string) => void,
  ): Promise<void> {
    const chosen = routes.filter(selected);
    expect(chosen).to.not.have.length(0);
    for (const route of chosen) {
      const reply = await client.call(route.method, address(route));
      check(reply, route, label(route));
      if (reply.status < 400) continue;
      expect(reply.headers['content-type'], label(route)).to.match(/^application\/problem\+json/);
      expect(reply.headers['x-request-id'], label(route)).to.be.a('string');
    }
  }

  const expectRefusal = (status: number, code: string) => (reply: Reply, _route: Route, name: string) => {
    expect(`${name} ${reply.status} ${reply.text && reply.json.code}`).to.equal(`${name} ${status} ${code}`);
  };

  it('is closed to nobody in particular, with and without a trailing slash', async () => {
    const nobody = hawser.client();
    await expectOfEachRoute(nobody, (route) => !isPublic(route), expectRefusal(401, 'unauthenticated'));
    for (const route of routes.filter((candidate) => !isPublic(candidate))) {
      const reply = await nobody.call(route.method, `${address(route)}/`);
      expect(reply.status, `${label(route)} with a slash`).to.equal(401);
      expect(reply.headers).to.have.property('www-authenticate');
    }
  });

  it('is open without credentials only where the table says public', async () => {
    const nobody = hawser.client();
    await expectOfEachRoute(nobody, isPublic, (reply, _route, name) => {
      expect(reply.status, name).to.not.be.oneOf([401, 403, 404, 405]);
    });
    // What leads to the address with the slash is another thing without it.
    for (const route of routes.filter(isPublic).filter(({ answers }) => !(302 in answers))) {
      const [plain, slashed] = await Promise.all(
        ['', '/'].map((slash) => nobody.call(route.method, `${address(route)}${slash}`)),
      );
      expect(slashed?.status, label(route)).to.equal(plain?.status);
    }
  });

  it('is given to an administrator, with and without a trailing slash alike', async () => {
    for (const route of routes.filter(isPlainGet)) {
      const [path, query] = [address(route), neededQuery(route)];
      const [plain, slashed] = await Promise.all(
        ['', '/'].map((slash) => hawser.admin.get(`${path}${slash}${query}`)),
      );
      expect(plain?.status, path).to.equal(200);
      expect(slashed?.status, path).to.equal(200);
      expect(slashed?.headers['etag'], path).to.equal(plain?.headers['etag']);
      expect(slashed?.bytes.length, path).to.equal(plain?.bytes.length);
    }
  });

  it('is closed to a token that is none', async () => {
    const client = hawser.client().with({ Authorization: 'Bearer pat_garbage' });
    await expectOfEachRoute(client, (route) => !isPublic(route), expectRefusal(401, 'unauthenticated'));
  });

  it('is closed to a token that is none even over the connection of a registered node', async () => {
    const client = node.client.with({ Authorization: 'Bearer pat_garbage' });
    await expectOfEachRoute(client, (route) => !isPublic(route), expectRefusal(401, 'unauthenticated'));
  });

  it('is closed to a certificate that no node holds, and the connection ends', async () => {
    const client = hawser.client(await makeClientCertificate({ commonName: 'web-01.example.org' }));
    await expectOfEachRoute(
      client,
      (route) => !isPublic(route),
      (reply, route, name) => {
        expectRefusal(401, 'unauthenticated')(reply, route, name);
        // Git asks without credentials first, every time, and then again over the same connection.
        expect(reply.headers['connection'], name).to.equal(route.caller === 'git' ? 'keep-alive' : 'close');
      },
    );
  });

  it("is closed to a node's certificate on every route that is not for nodes", async () => {
    const selected = (route: Route) => isForCallers(route) && !isForNodes(route);
    await expectOfEachRoute(node.client, selected, expectRefusal(403, 'forbidden'));
  });

  it('of a node is closed to every other node', async () => {
    await expectOfEachRoute(other.client, isForNodes, expectRefusal(403, 'forbidden'));
  });

  it('is closed to a user who may do nothing, but for what is open to every user', async () => {
    const nobody = await makeUser(hawser, { username: 'nora', permissions: [] });
    const selected = (route: Route) => isForCallers(route) && route.access.kind !== 'user';
    await expectOfEachRoute(nobody, selected, (reply, route, name) => {
      if (route.access.kind === 'grant' && !route.access.permission)
        expectRefusal(404, 'not_found')(reply, route, name);
      else expectRefusal(403, 'forbidden')(reply, route, name);
    });
  });

  it('is closed to every session, token and certificate where it has a token of its own', async () => {
    for (const client of [hawser.client().with({ Cookie: hawser.session }), hawser.admin, node.client])
      await expectOfEachRoute(client, isForMetrics, expectRefusal(401, 'unauthenticated'));
  });

  it('is closed to a token without scopes, but for the question who it is', async () => {
    const token = await createToken(hawser.client(), hawser.session, []);
    const client = hawser.client().with({ Authorization: `Bearer ${token}` });
    await expectOfEachRoute(client, isForCallers, (reply, { access }, name) => {
      if (access.kind === 'user' && access.anyScopes) expect(reply.status, name).to.equal(200);
      else expect(reply.status, name).to.equal(403);
    });
  });

  it('is closed to a token of an administrator that names another scope', async () => {
    const token = await createToken(hawser.client(), hawser.session, ['audit.read']);
    const client = hawser.client().with({ Authorization: `Bearer ${token}` });
    const isAudit = ({ access }: Route) => access.kind === 'permission' && access.permission === 'audit.read';
    const selected = (route: Route) => isForCallers(route) && route.access.kind !== 'user' && !isAudit(route);
    await expectOfEachRoute(client, selected, (reply, _route, name) => {
      expect(reply.status, name).to.be.oneOf([403, 404]);
    });
  });

  it('is closed to one who must change the password first', async () => {
    const client = await makeUser(hawser, { username: 'mara', permissions: ['nodes.read'] });
    await withDatabase(hawser, ({ write }) =>
      write.updateTable('users').set({ require_password_change: 1 }).where('username', '=', 'mara').execute(),
    );
    const selected = (route: Route) =>
      isForCallers(route) && !(route.access.kind === 'user' && route.access.duringPasswordChange);
    await expectOfEachRoute(client, selected, expectRefusal(403, 'password_change_required'));
    const open = routes.filter(({ access }) => access.kind === 'user' && access.duringPasswordChange);
    expect(open.map((route) => route.path.split('/').at(-1)).sort()).to.deep.equal([
      ...['change-password', 'logout', 'logout-redirect', 'me', 'password', 'sign-out'],
    ]);
  });
});
