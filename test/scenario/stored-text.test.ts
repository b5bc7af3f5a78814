// full: SQLite, PostgreSQL
import { expect } from 'chai';
import type { JsonBody, Route } from '../../src/http/route.ts';
import { type AccessWorld, startAccessWorld } from '../support/access-world.ts';
import type { Client } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { createKey, type Hawser, type NodeUnderTest, signIn } from '../support/hawser.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { addressOf, declaredRoutes } from '../support/routes.ts';
import { runHawser } from '../support/spawned.ts';

const NUL = '\u0000';
const HASHED = /password$/i;
const USERS = '/api/v1/users';

/** Every variant of the value in which one text, at any depth, ends in U+0000; with the JSON Pointer of that text. */
function spoiled(value: unknown, path = ''): { path: string; body: unknown }[] {
  if (typeof value === 'string') return [{ path, body: `${value}${NUL}` }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    spoiled(member, `${path}/${name}`).map(({ path, body }) => {
      const copy = structuredClone(value) as Record<string, unknown>;
      copy[name] = body;
      return { path, body: copy };
    }),
  );
}

describe('text that is stored', () => {
  let hawser: Hawser;
  let node: NodeUnderTest;
  let world: AccessWorld;
  let session: Client;
  let routes: Route[];

  before(async () => {
    routes = await declaredRoutes();
    world = await startAccessWorld();
    ({ hawser, node } = world);
    session = hawser.client().with({ Cookie: hawser.session });
    // Administrators may not reveal secrets, so that route would refuse them before it looks at a body.
    const allowed = await runHawser(hawser.folder, {}, ['allow-reveal', '--username', 'admin']);
    expect(allowed.code, allowed.stderr).to.equal(0);
  });
  after(() => world.close());

  const call = (route: Route, json: unknown) => {
    const client = route.access.kind.startsWith('node:self') ? node.client : session;
    return client.call(route.method, addressOf(route, world.valuesOf(route)), { json });
  };

  async function expectFault(reply: ReturnType<Client['get']>, path: string): Promise<void> {
    const { json } = await expectProblem(reply, 400, 'validation_failed', path);
    expect(json.errors).to.deep.equal([
      { path, message: 'Must not have the character U+0000', code: 'control_character' },
    ]);
  }

  it('has no U+0000 in any member of any body', async () => {
    let count = 0;
    // Sign-in stores no text, and registration has a test of its own.
    for (const route of routes.filter(
      ({ body, access }) => body?.kind === 'json' && access.kind !== 'public',
    )) {
      const { schema } = route.body as JsonBody<unknown>;
      const [example] = (schema.meta()?.['examples'] ?? []) as object[];
      for (const { path, body } of spoiled(example).filter((wish) => !HASHED.test(wish.path))) {
        const code = path === '/entryPoint' ? 'invalid_path' : 'validation_failed';
        await expectProblem(call(route, body), 400, code, `${route.id} ${path}`);
        count += 1;
      }
      if (route.access.kind.startsWith('node:self')) continue;
      const named = call(route, { ...example, [`strange${NUL}`]: 1 });
      await expectProblem(named, 400, 'validation_failed', route.id);
    }
    expect(count).to.be.above(40);
  });

  it('is named by the place of the text, whatever the text may hold otherwise', async () => {
    const { admin } = hawser;
    const description = `one${NUL}`;
    await expectFault(admin.post('/api/v1/admin/registration-keys', { description }), '/description');
    await expectFault(admin.post('/api/v1/groups', { name: 'one', description }), '/description');
    await expectFault(admin.post('/api/v1/scope-types', { name: 'One', description }), '/description');
    await expectFault(
      admin.call('PATCH', '/api/v1/configurations/web', { json: { description } }),
      '/description',
    );
    await expectFault(session.post('/api/v1/auth/tokens', { name: `a${NUL}b`, scopes: [] }), '/name');
    const escaped = { headers: { 'Content-Type': 'application/json' }, body: '{"description":"\\u0000"}' };
    await expectFault(admin.call('PATCH', '/api/v1/configurations/web', escaped), '/description');
    const read = await ok(200, admin.get('/api/v1/configurations/web'));
    expect(read.description).to.equal(null);
  });

  it('is looked at in parameter files, which are documents, too', async () => {
    const put = routes.find(({ id }) => id === 'saveParameterDraft') as Route;
    const content = `parameters:\n  text: "a${NUL}b"\n`;
    await expectFault(call(put, { version: '7.0.0', content }), '/content');
    const form = { fields: { scopeTypeName: 'Default', version: '7.0.0' } };
    const part = { name: 'parametersFile', filename: 'p.yaml', content };
    const upload = hawser.admin.upload('/api/v1/configurations/web/parameters/parameter-files', {
      ...form,
      part,
    });
    await expectProblem(upload, 400, 'validation_failed: invalid_yaml');
  });

  it('is looked at in forms', async () => {
    const files = { 'main.dsc.yaml': '$schema: x\nresources: []\n' };
    const upload = (fields: Record<string, string>) =>
      hawser.admin.upload('/api/v1/configurations', { fields: { name: 'formed', ...fields }, files });
    await expectFault(upload({ description: `one${NUL}` }), '/description');
    await expectProblem(upload({ entryPoint: `main.dsc.yaml${NUL}` }), 400, 'invalid_path');
    for (const name of ['name', 'prereleaseChannel', 'version'])
      await expectProblem(upload({ [name]: `1.0.0${NUL}` }), 400, 'validation_failed', name);
    await expectProblem(hawser.admin.get('/api/v1/configurations/formed'), 404, 'not_found');
  });

  it('is not the password, of which a hash is stored', async () => {
    const password = `a${NUL}long-password`;
    const wish = { username: 'nell', email: 'nell@example.org', requirePasswordChange: false };
    const { id } = await ok(201, hawser.admin.post(USERS, { ...wish, password }));
    expect(await signIn(hawser.client(), 'nell', password)).to.be.a('string');
    const newPassword = `another${NUL}password`;
    await ok(204, hawser.admin.post(`${USERS}/${id}/reset-password`, { newPassword }));
    const login = { username: 'nell', password: newPassword };
    await ok(200, hawser.client().post('/api/v1/auth/login', login));
    await expectProblem(
      hawser.client().post('/api/v1/auth/login', { ...login, username: `nell${NUL}` }),
      401,
      'invalid_credentials',
    );
  });

  it('is not what a node sends beside it', async () => {
    const own = `/api/v1/nodes/${node.nodeId}`;
    await ok(204, node.client.put(`${own}/lcm-status`, { lcmStatus: 'Idle', agentVersion: `9${NUL}` }));
    const result = { hadErrors: false, text: `a${NUL}b` };
    const { id } = await ok(201, node.client.post(`${own}/reports`, { operation: 'Test', result }));
    expect((await ok(200, hawser.admin.get(`/api/v1/reports/${id}`))).result).to.deep.equal(result);
    await expectInvalid(node.client.post(`${own}/reports`, { operation: `Test${NUL}`, result }));
  });

  it('is neither the name of a node nor the subject of its certificate with U+0000', async () => {
    const registrationKey = await createKey(hawser.admin);
    const odd = await makeClientCertificate({ commonName: `odd${NUL}name` });
    const register = (fqdn: string) =>
      hawser.client(odd).post('/api/v1/nodes/register', { registrationKey, fqdn });
    await expectProblem(register(`odd${NUL}.example.org`), 400, 'validation_failed: invalid_host_name');
    const { nodeId } = await ok(200, register('odd.example.org'));
    const { certificate } = await ok(200, hawser.admin.get(`/api/v1/nodes/${nodeId}`));
    expect(certificate.subject).to.not.include(NUL);
  });
});
