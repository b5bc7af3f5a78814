// full: SQLite
import { expect } from 'chai';
import {
  GRANT_RULES,
  type GrantLevel,
  PERMISSION_NAMES,
  type Permission,
  TOKEN_SCOPES,
} from '../../src/domain/permissions.ts';
import type { Route } from '../../src/http/route.ts';
import { MINUTE } from '../../src/lib/clock.ts';
import { needsSession, permissionsOf } from '../../src/security/access.ts';
import { type AccessWorld, startAccessWorld } from '../support/access-world.ts';
import type { Client, Reply } from '../support/client.ts';
import type { Hawser, NodeUnderTest } from '../support/hawser.ts';
import { type Grant, makeUser, type Person } from '../support/people.ts';
import { addressOf, declaredRoutes, describeAccess, neededQuery } from '../support/routes.ts';

const BELOW: Record<GrantLevel, GrantLevel | null> = { Read: null, Modify: 'Read', Manage: 'Modify' };
/** Those that no route asks for yet. */
const LATER: readonly Permission[] = [
  // Asked for by a grant's access, beside the grant.
  ...Object.values(GRANT_RULES).map((rule) => rule.override),
];

/** Nothing has this ETag: whoever is let in gets 412 instead of changing what later calls need. */
const UNTOUCHED = { 'If-Match': '"nothing-has-this"' };

/** Whoever else reads a preview needs users.manage too (test/scenario/previews-life.test.ts). */
const isForItsMaker = ({ path }: Route) => path.startsWith('/api/v1/previews/{id}');
/** Beside the permission, in a way that no declaration tells: which configuration it is, only the handler knows. */
const asksForParameters = ({ path }: Route) => path.startsWith('/api/v1/nodes/{nodeId}/parameters/');
const asksForComposite = ({ path }: Route) =>
  /composite-configurations\/.*\/(?:proof|versions\/\{version\}\/nodes)/.test(path);
const asksForConfiguration = (route: Route) =>
  !asksForComposite(route) &&
  /\/proof|\/fleet\/configurations\/|\/nodes\/compare|\/versions\/\{version\}\/nodes/.test(route.path);
/** Nodes get it for themselves, and users see it. */
const isForReaders = ({ access }: Route) => access.kind === 'node:self-or-reader';
/** Whoever is signed in may call it, and finds what is theirs to read. */
const findsOwn = ({ path }: Route) =>
  path === '/api/v1/auth/tokens/{id}' ||
  path === '/api/v1/manifests/{checksum}' ||
  path === '/api/v1/nodes/{nodeId}/manifest' ||
  path.startsWith('/api/v1/change-sets/{id}');

describe('who is let in by each route', () => {
  let hawser: Hawser;
  let world: AccessWorld;
  let node: NodeUnderTest;
  let routes: Route[];
  let users = 0;

  before(async () => {
    routes = await declaredRoutes();
    world = await startAccessWorld();
    ({ hawser, node } = world);
  });
  after(() => world.close());

  /** Somebody new with these permissions and grants; a minute later, since sign-ins are limited. */
  function someone(permissions: readonly Permission[], grants: readonly Grant[] = []): Promise<Person> {
    hawser.clock.advance(MINUTE);
    users += 1;
    return makeUser(hawser, { username: `user-${users}`, permissions, grants });
  }

  const call = (client: Client, route: Route): Promise<Reply> => {
    const query = route.path.endsWith('/info/refs') ? '?service=git-upload-pack' : neededQuery(route);
    return client.call(route.method, addressOf(route, world.valuesOf(route)) + query, {
      headers: UNTOUCHED,
    });
  };

  async function expectIn(client: Client, chosen: readonly Route[]): Promise<void> {
    // Pushing is refused to everybody, whoever they are.
    for (const route of chosen.filter(({ path }) => !path.endsWith('/git-receive-pack'))) {
      const { status, text } = await call(client, route);
      expect([401, 403, 404, 405, 500], `${route.method} ${route.path}: ${status} ${text}`).to.not.include(
        status,
      );
    }
  }

  async function expectOut(client: Client, chosen: readonly Route[], expected: string): Promise<void> {
    for (const route of chosen) {
      const { status, json } = await call(client, route);
      expect(`${route.method} ${route.path}: ${status} ${json.code}`).to.equal(
        `${route.method} ${route.path}: ${expected}`,
      );
    }
  }

  const without = <T>(all: Iterable<T>, ...left: unknown[]): T[] =>
    [...all].filter((item) => !left.includes(item));
  const having = (select: (route: Route) => boolean): Route[] => {
    const chosen = routes.filter(select);
    expect(chosen).to.not.have.length(0);
    return chosen;
  };

  /** What routes ask for beside a grant. */
  const permissionsIn = (chosen: readonly Route[]): Permission[] => [
    ...new Set(chosen.flatMap(({ access }) => permissionsOf(access))),
  ];

  for (const permission of PERMISSION_NAMES.filter((name) => !LATER.includes(name))) {
    it(`where ${permission} is asked for: who has exactly it, by session or by a token of that scope`, async () => {
      const chosen = having(
        ({ access }) => 'permission' in access && permissionsOf(access).includes(permission),
      );
      const isTold = (route: Route) => !asksForParameters(route) && !asksForComposite(route);
      const isAll = ({ access }: Route) => access.kind !== 'grant';
      const enough = chosen.filter(
        (route) => isAll(route) && isTold(route) && !asksForConfiguration(route) && !isForItsMaker(route),
      );
      const exactly = await someone([permission]);
      await expectIn(exactly, enough);
      const forTokens = enough.filter(({ access }) => !needsSession(access));
      await expectIn(await exactly.withToken(permission), forTokens);
      const forSessions = enough.filter(({ access }) => needsSession(access));
      await expectOut(await exactly.withToken(permission), forSessions, '403 session_required');
      const openToTokens = chosen.filter(({ access }) => !needsSession(access));
      await expectOut(
        await exactly.withToken(...without(TOKEN_SCOPES, permission)),
        openToTokens,
        '403 forbidden',
      );
      const alone = chosen.filter(({ access }) => permissionsOf(access).length === 1);
      await expectOut(await someone(without(PERMISSION_NAMES, permission)), alone, '403 forbidden');
    });
  }

  it('asks for every permission somewhere, but for those that later routes will ask for', () => {
    const asked = new Set(
      routes.flatMap(({ access }) => ('permission' in access ? permissionsOf(access) : [])),
    );
    expect(without(PERMISSION_NAMES, ...asked).sort()).to.deep.equal([...LATER].sort());
  });

  for (const on of ['configuration', 'composite', 'parameters'] as const) {
    for (const level of ['Read', 'Modify', 'Manage'] as const) {
      it(`where ${level} on a ${on} is asked for: who holds exactly that, by session or by a token for grants`, async () => {
        const chosen = having(
          ({ access }) => access.kind === 'grant' && access.on === on && access.level === level,
        );
        const besides = permissionsIn(chosen);
        const holder = await someone(besides, [{ on, name: 'web', level }]);
        await expectIn(holder, chosen);
        await expectIn(await holder.withToken(GRANT_RULES[on].scope, ...besides), chosen);
        const otherScopes = await holder.withToken(...without(TOKEN_SCOPES, GRANT_RULES[on].scope));
        await expectOut(otherScopes, chosen, '404 not_found');
        const below = BELOW[level];
        const lower = await someone(besides, below === null ? [] : [{ on, name: 'web', level: below }]);
        await expectOut(lower, chosen, below === null ? '404 not_found' : '403 forbidden');
      });
    }
  }

  for (const [on, { override }] of Object.entries(GRANT_RULES)) {
    it(`every grant on a ${on}: who has ${override}, by session or by a token of that scope`, async () => {
      const chosen = having(({ access }) => access.kind === 'grant' && access.on === on);
      const permissions = [override, ...permissionsIn(chosen)];
      const manager = await someone(permissions);
      await expectIn(manager, chosen);
      await expectIn(await manager.withToken(...permissions), chosen);
      await expectOut(await manager.withToken(...without(TOKEN_SCOPES, override)), chosen, '404 not_found');
    });
  }

  for (const [what, on, select] of [
    ['what a node gets', 'configuration', isForReaders],
    ['what becomes of parameters on a node', 'parameters', asksForParameters],
    ['who runs a configuration', 'configuration', asksForConfiguration],
    ['who runs a composite', 'composite', asksForComposite],
  ] as const) {
    it(`${what}: who has nodes.read and Read on the ${on}`, async () => {
      const chosen = having(select);
      const grant = { on, name: 'web', level: 'Read' } as const;
      const { scope } = GRANT_RULES[on];
      const reader = await someone(['nodes.read'], [grant]);
      await expectIn(reader, chosen);
      await expectIn(await reader.withToken('nodes.read', scope), chosen);
      await expectOut(await reader.withToken('nodes.read'), chosen, '404 not_found');
      await expectOut(await reader.withToken(scope), chosen, '403 forbidden');
      await expectOut(await someone(['nodes.read']), chosen, '404 not_found');
      await expectOut(await someone([], [grant]), chosen, '403 forbidden');
    });
  }

  it('what a checksum stands for: any signed-in user who may read what it was made of', async () => {
    const chosen = having(({ path }) => path === '/api/v1/manifests/{checksum}');
    await expectIn(await someone([], [{ on: 'configuration', name: 'web', level: 'Read' }]), chosen);
    await expectOut(await someone([]), chosen, '404 not_found');
  });

  it("a node's own routes: the node with its certificate", async () => {
    await expectIn(
      node.client,
      having(({ access }) => access.kind.startsWith('node:self')),
    );
  });

  it('any signed-in user, without a single permission, and by token where no session is asked for', async () => {
    const ordinary = ({ access, path }: Route) =>
      access.kind === 'user' && !path.endsWith('/logout') && !path.endsWith('/logout-redirect');
    const user = await someone([]);
    await expectIn(
      user,
      having((route) => ordinary(route) && !findsOwn(route)),
    );
    const token = await user.withToken('nodes.read');
    const sessionOnly = ({ access }: Route) => access.kind === 'user' && access.session === true;
    await expectIn(
      token,
      having((route) => ordinary(route) && !sessionOnly(route) && !findsOwn(route)),
    );
    await expectOut(token, having(sessionOnly), '403 session_required');
  });

  it('has an address that exists for every parameter, so that no 404 hides a check', () => {
    for (const route of routes) {
      expect(addressOf(route, world.valuesOf(route)), describeAccess(route.access)).to.not.match(
        /undefined|[{}]/,
      );
    }
  });
});
