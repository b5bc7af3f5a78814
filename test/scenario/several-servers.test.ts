// full: PostgreSQL
/** Several servers on one PostgreSQL database: what they share, and what they do at the same time. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeClient } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { addVersion, MAIN } from '../support/configurations.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { ADMIN_PASSWORD, type Hawser, publishConfiguration, signIn, startHawser } from '../support/hawser.ts';
import { openRequest } from '../support/open-request.ts';
import { assign, poll, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { newDatabase, querySharedCluster, type TestDatabase } from '../support/postgres.ts';
import { groupOf, groupsOf, nodesOf, PREVIEWS, preview, publishing } from '../support/previews.ts';
import { proofPath, ran, readProof } from '../support/proof.ts';
import { ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { runHawser, type Spawned, spawnHawser } from '../support/spawned.ts';
import { beginSession, isResumed } from '../support/tls-sessions.ts';

const LOGIN = '/api/v1/auth/login';
const PASSWORD_FILE = 'data/initial-admin-password';

describeOnPostgres('servers that start at once on an empty database', function (this: Mocha.Suite) {
  const folders: string[] = [];
  let database: TestDatabase;
  let servers: Spawned[] = [];

  beforeEach(async () => {
    database = await newDatabase();
  });
  afterEach(async () => {
    for (const { child } of servers) child.kill('SIGKILL');
    await Promise.all(servers.map(({ ended }) => ended));
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
    await database.drop();
  });

  async function start(settings: Record<string, string> = {}): Promise<Spawned> {
    const folder = mkdtempSync(join(tmpdir(), 'hawser-several-'));
    folders.push(folder);
    return spawnHawser(folder, { HAWSER_DATABASE_URL: database.url, ...settings });
  }

  const secrets = () =>
    querySharedCluster<{ name: string; text: string }>(
      `select name, encode(value, 'escape') as text from secrets order by name`,
      database.name,
    );

  it('all come up, and share one authority and one first password, which one of them shows', async () => {
    const settings = { HAWSER_ADMIN_PASSWORD: '', HAWSER_LOG_LEVEL: 'debug' };
    servers = await Promise.all([start(settings), start(settings), start(settings)]);
    const targets = await Promise.all(servers.map((server) => server.listening()));
    const [first, second] = targets.map((target) => makeClient(target));
    expect(new Set(targets.map(({ ca }) => ca)).size).to.equal(1);
    const shown = servers.flatMap(({ stderr }) =>
      [...stderr().matchAll(/^ {4}(\S+)$/gm)].map(([, text]) => text),
    );
    expect(shown).to.have.length(1);
    const files = folders.map((folder) => join(folder, PASSWORD_FILE)).filter((file) => existsSync(file));
    expect(files.map((file) => readFileSync(file, 'utf8').trim())).to.deep.equal(shown);
    const password = shown[0] ?? '';
    const kept = await secrets();
    expect(kept.map(({ name }) => name)).to.deep.equal(['ca.crt', 'ca.key', 'first-password', 'ticket-keys']);
    for (const { name, text } of kept.filter((row) => row.name !== 'ca.crt'))
      for (const server of servers) expect(server.stdout(), name).not.to.include(text.trim());
    for (const folder of folders) expect(existsSync(join(folder, 'data/tls/ca.key'))).to.equal(false);
    if (first === undefined || second === undefined) throw new Error('fewer than two servers');
    const cookie = await signIn(first, 'admin', password);
    const change = { currentPassword: password, newPassword: 'another-long-password' };
    await ok(204, second.with({ Cookie: cookie }).post('/api/v1/auth/change-password', change));
    expect((await secrets()).map(({ name }) => name)).not.to.include('first-password');
    await signIn(first, 'admin', 'another-long-password');
    for (const client of [first, second]) client.close();
  });
});

describeOnPostgres('a server that had its authority in a folder', function (this: Mocha.Suite) {
  it('brings it into the database, where the others find it, and needs its file no longer', async () => {
    const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'hawser-several-')));
    const [old = '', young = ''] = folders;
    const database = await newDatabase('migrated');
    const authorityOf = async (folder: string, url: string) => {
      const server = await spawnHawser(folder, { HAWSER_DATABASE_URL: url });
      const target = await server.listening();
      const client = makeClient(target);
      await signIn(client, 'admin', ADMIN_PASSWORD);
      client.close();
      server.child.kill('SIGTERM');
      await server.ended;
      return target.ca;
    };
    try {
      const authority = await authorityOf(old, '');
      expect(await authorityOf(old, database.url)).to.equal(authority);
      rmSync(join(old, 'data/tls'), { recursive: true });
      expect(await authorityOf(young, database.url)).to.equal(authority);
      expect(await authorityOf(old, database.url)).to.equal(authority);
    } finally {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
      await database.drop();
    }
  });
});

describeOnPostgres('a server beside one of the next release', function (this: Mocha.Suite) {
  let folder: string;
  let database: TestDatabase;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-several-'));
    database = await newDatabase('migrated');
    await say(`insert into kysely_migration values ('9999-of-tomorrow', '2099-01-01')`);
  });
  afterEach(async () => {
    rmSync(folder, { recursive: true, force: true });
    await database.drop();
  });

  const say = (statement: string) => querySharedCluster(statement, database.name);
  const settings = () => ({ HAWSER_DATABASE_URL: database.url });

  it('starts on the database that the other has migrated', async () => {
    const server = await spawnHawser(folder, settings());
    const client = makeClient(await server.listening());
    await signIn(client, 'admin', ADMIN_PASSWORD);
    client.close();
    server.child.kill('SIGTERM');
    expect((await server.ended).code).to.equal(0);
  });

  it('ends with one line where the other has changed too much', async () => {
    await say(`update oldest_release set version = '99.1.0'`);
    const { code, stderr } = await runHawser(folder, settings());
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^hawser: This is Hawser \S+, and the database needs release 99\.1\.0 or later\n$/,
    );
  });
});

describeOnPostgres('two servers on one database', function (this: Mocha.Suite) {
  let one: Hawser;
  let other: Hawser;

  before(async () => {
    one = await startHawser();
    other = await startHawser({ HAWSER_DATABASE_URL: one.databaseUrl ?? '' });
  });
  after(async () => {
    await other.close();
    await one.close();
  });

  it('resume the TLS sessions of each other, with and without a certificate', async () => {
    for (const identity of [{}, await makeClientCertificate({ commonName: 'web-01' })]) {
      const session = await beginSession(one.target(), identity);
      expect(await isResumed(one.target(), session)).to.equal(true);
      expect(await isResumed(other.target(), session)).to.equal(true);
    }
  });

  it('have certificates of their own by the same authority, and keep them over a restart', async () => {
    const nameOf = ({ dataDir }: Hawser, name: string) => readFileSync(join(dataDir, 'tls', name), 'utf8');
    expect(nameOf(one, 'ca.crt')).to.equal(nameOf(other, 'ca.crt'));
    expect(nameOf(one, 'server.crt')).not.to.equal(nameOf(other, 'server.crt'));
    const before = nameOf(other, 'server.crt');
    await other.restart();
    expect(nameOf(other, 'server.crt')).to.equal(before);
    expect(await other.admin.get('/api/v1/settings/validation')).to.include({ status: 200 });
  });

  it('know of each other’s users, tokens, sessions, settings and nodes at once', async () => {
    const user = { username: 'bob', email: 'bob@example.org', password: 'a-long-password-of-bob' };
    const { id } = await ok(201, one.admin.post('/api/v1/users', user));
    await ok(200, other.admin.get(`/api/v1/users/${id}`));
    const session = await signIn(other.client(), 'admin', ADMIN_PASSWORD);
    await ok(200, one.client().with({ Cookie: session }).get('/api/v1/auth/me'));
    await ok(200, one.admin.put('/api/v1/settings/validation', { requireSemVer: false }));
    expect((await ok(200, other.admin.get('/api/v1/settings/validation'))).requireSemVer).to.equal(false);
    const node = await one.registerNode('web-01.example.org');
    const client = other.client(node.identity);
    expect((await client.get(`/api/v1/nodes/${node.nodeId}/configuration/checksum`)).status).to.equal(404);
    await ok(204, one.admin.delete(`/api/v1/nodes/${node.nodeId}`));
    await ok(404, other.admin.get(`/api/v1/nodes/${node.nodeId}`));
    await ok(204, other.admin.delete(`/api/v1/users/${id}`));
    await ok(404, one.admin.get(`/api/v1/users/${id}`));
  });

  it('end a right at once wherever it was used', async () => {
    const eve = await makeUser(one, { username: 'eve', roles: ['Administrator'] });
    const there = other.client().with({ Cookie: eve.session });
    await ok(200, there.get('/api/v1/users'));
    await ok(200, one.admin.put(`/api/v1/users/${eve.userId}/roles`, { roleIds: [] }));
    await ok(403, there.get('/api/v1/users'));
    await ok(204, one.admin.delete(`/api/v1/users/${eve.userId}`));
    await ok(401, there.get('/api/v1/users'));
  });

  it('refuse a late body whose sender has lost the right to it at the other', async () => {
    const signedIn = one.client().with({ Cookie: one.session });
    const token = { name: 'late', scopes: ['groups.manage'] };
    const made = await ok(201, signedIn.post('/api/v1/auth/tokens', token));
    const headers = { Authorization: `Bearer ${made.token}` };
    const call = { method: 'POST', path: '/api/v1/groups', headers };
    const late = await openRequest(other.target(), null, call);
    await ok(204, signedIn.delete(`/api/v1/auth/tokens/${made.tokenId}`));
    late.end(JSON.stringify({ name: 'late' }));
    expect(await late.status).to.equal(401);
    const groups: { name: string }[] = await ok(200, other.admin.get('/api/v1/groups'));
    expect(groups.map(({ name }) => name)).not.to.include('late');
  });

  it('show the same proof and the same preview', async () => {
    await publishConfiguration(one.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    const node = await one.registerNode('web-02.example.org');
    await assign(one, node, 'web');
    const admins = [one.admin, other.admin];
    const path = proofPath('web', '1.0.0');
    for (const admin of admins)
      expect(await readProof(admin, path)).to.deep.equal({
        ...{ nodes: '0/0/0/1 of 1', reasons: { NeverPolled: 1 } },
      });
    await ran(node);
    for (const admin of admins)
      expect(await readProof(admin, path)).to.deep.equal({ nodes: '1/0/0/0 of 1', reasons: {} });
    const files = { files: { [MAIN]: '$schema: x\nresources: []\n# two\n' } };
    await ok(201, addVersion(other.admin, 'web', { version: '1.1.0' }, files));
    const made = await preview(one.admin, [publishing('web', '1.1.0')]);
    expect(made.counts).to.deep.include({ nodes: 1, changed: 1 });
    const [here, there] = await Promise.all(
      admins.map(async (admin) => [
        await ok(200, admin.get(`${PREVIEWS}/${made.id}`)),
        await groupsOf(admin, made),
        await groupOf(admin, made, '1'),
        await nodesOf(admin, made),
      ]),
    );
    expect(there).to.deep.equal(here);
  });

  it('have the new name of a scope value as soon as one of them has answered', async () => {
    const site = await createScopeType(one, 'Site');
    const berlin = await createScopeValue(one, site, 'berlin');
    await publishConfiguration(one.admin, 'named', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    const node = await one.registerNode('named.example.org');
    await assign(one, node, 'named');
    await tagNode(one, node.nodeId, berlin);
    await saveParameters(one, {
      configuration: 'named',
      scopeType: 'Site',
      value: 'berlin',
      content: 'parameters: {at: 1}',
    });
    const there = { ...node, client: other.client(node.identity) };
    const before = await ok(200, poll(there));
    const namesAt = async ({ admin }: Hawser) => {
      const values: { value: string }[] = await ok(200, admin.get(`/api/v1/scope-types/${site}/values`));
      const files: { scopeValue: string }[] = await ok(
        200,
        admin.get('/api/v1/configurations/named/parameter-files'),
      );
      const tags: { scopeValue: string }[] = await ok(200, admin.get(`/api/v1/nodes/${node.nodeId}/tags`));
      return [
        ...values.map(({ value }) => value),
        ...[...files, ...tags].map(({ scopeValue }) => scopeValue),
      ];
    };
    // Each of them has read the repository by its old name.
    for (const server of [one, other]) expect(await namesAt(server)).to.deep.equal(Array(3).fill('berlin'));
    const ways: [Hawser, Hawser, string][] = [
      [one, other, 'spree'],
      [other, one, 'havel'],
      [one, other, 'panke'],
    ];
    for (const [here, elsewhere, name] of ways) {
      await ok(
        200,
        here.admin.put(`/api/v1/scope-types/${site}/values/${berlin}`, { value: name, description: null }),
      );
      for (const server of [elsewhere, here])
        expect(await namesAt(server), name).to.deep.equal(Array(3).fill(name));
      expect((await ok(200, poll(there))).checksum, name).to.equal(before.checksum);
      expect(await pullParameters(there), name).to.contain('at: 1');
    }
  });

  it('count the sign-ins of one address together', async () => {
    const login = { username: 'nobody', password: 'wrong-password-0' };
    const statuses = [];
    for (let at = 0; at < 20; at += 1)
      for (const { client } of [one, other]) statuses.push((await client().post(LOGIN, login)).status);
    expect(statuses).to.include(429);
    for (const { client } of [one, other]) await ok(429, client().post(LOGIN, login));
  });
});
