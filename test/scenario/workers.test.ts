// full: SQLite
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { childrenOf } from '../../scripts/bench/cpu.ts';
import { type Client, type Identity, makeClient, type Target } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { describeOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { ADMIN_PASSWORD, createKey, createToken, git, signIn } from '../support/hawser.ts';
import { type OpenRequest, openRequest } from '../support/open-request.ts';
import { parsePrometheus, sumOf } from '../support/prometheus.ts';
import { ok } from '../support/replies.ts';
import { DEFAULT_ID, NODE_ID, SCOPE_TYPES } from '../support/scopes.ts';
import { runHawser, type Spawned, spawnHawser } from '../support/spawned.ts';
import { beginSession, isResumed } from '../support/tls-sessions.ts';
import { unzipTexts } from '../support/unzip.ts';

const MAIN = { 'main.dsc.yaml': '$schema: x\nresources: []\n' };
const TOKEN = 'a-metrics-token-for-tests';
const SCOPES = [
  'nodes.read',
  'nodes.write',
  'nodes.delete',
  'nodes.assign-configuration',
  'registration-keys.manage',
  'configurations.create',
  'configurations.admin-override',
  'parameters.admin-override',
  'scopes.admin-override',
];
/** Enough that every worker has some: connections are dealt out in turn. */
const CONNECTIONS = 6;

/** Two processes behind one port. What a client has been told through one must be so through all. */
describeOnSqlite('a server of two workers', function () {
  this.timeout(180_000);
  let folder: string;
  let hawser: Spawned;
  let target: Target;
  let admins: Client[];

  const began = Date.now() - 1_000;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-workers-'));
    hawser = await spawnHawser(folder, { HAWSER_WORKERS: '2', HAWSER_METRICS_TOKEN: TOKEN });
    target = await hawser.listening();
    admins = await signInOverMany();
  });
  after(async () => {
    for (const client of admins) client.close();
    hawser.child.kill('SIGKILL');
    await hawser.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  async function signInOverMany(): Promise<Client[]> {
    const first = makeClient(target);
    const session = await signIn(first, 'admin', ADMIN_PASSWORD);
    const token = await createToken(first, session, SCOPES);
    first.close();
    return Array.from({ length: CONNECTIONS }, () =>
      makeClient(target).with({ Authorization: `Bearer ${token}` }),
    );
  }

  const admin = (at: number): Client => admins[at % CONNECTIONS] as Client;
  const statuses = (replies: readonly { status: number }[]) => replies.map(({ status }) => status).sort();
  const workers = (): number[] => childrenOf(Number(hawser.child.pid));

  async function publish(at: number, name: string, version: string): Promise<void> {
    const path = `/api/v1/configurations/${name}/versions`;
    expect((await admin(at).upload(path, { fields: { version }, files: MAIN })).status).to.equal(201);
    expect((await admin(at + 1).put(`${path}/${version}/publish`)).status).to.equal(200);
  }

  async function register(fqdn: string, certificate: Identity): Promise<{ id: string; clients: Client[] }> {
    const clients = Array.from({ length: CONNECTIONS }, () => makeClient(target, certificate));
    const registrationKey = await createKey(admin(0));
    const reply = await ok(
      200,
      (clients[0] as Client).post('/api/v1/nodes/register', { registrationKey, fqdn }),
    );
    return { id: reply.nodeId, clients };
  }

  it('refuses a late body whose sender has lost the right to it, whichever worker took that away', async () => {
    const first = makeClient(target);
    const session = await signIn(first, 'admin', ADMIN_PASSWORD);
    const signedIn = first.with({ Cookie: session });
    const made = await signedIn.post('/api/v1/auth/tokens', { name: 'late', scopes: ['groups.manage'] });
    const headers = { Authorization: `Bearer ${made.json.token}` };
    const call = { method: 'POST', path: '/api/v1/groups', headers };
    const late: OpenRequest[] = [];
    for (let count = 0; count < CONNECTIONS; count += 1) late.push(await openRequest(target, null, call));
    expect((await signedIn.delete(`/api/v1/auth/tokens/${made.json.tokenId}`)).status).to.equal(204);
    for (const [at, open] of late.entries()) open.end(JSON.stringify({ name: `late ${at}` }));
    const answers = await Promise.all(late.map(({ status }) => status));
    expect(new Set(answers)).to.deep.equal(new Set([401]));
    const groups: { name: string }[] = (await signedIn.get('/api/v1/groups')).json;
    expect(groups.filter(({ name }) => name.startsWith('late'))).to.deep.equal([]);
    first.close();
  });

  it('shows each write to the next request, whichever worker answers it', async () => {
    const fields = { name: 'web', version: '1.0.0' };
    expect((await admin(0).upload('/api/v1/configurations', { fields, files: MAIN })).status).to.equal(201);
    const node = await register('web-01', await makeClientCertificate({ commonName: 'web-01' }));
    await publish(1, 'web', '1.1.0');
    const assign = { configurationName: 'web' };
    expect((await admin(2).put(`/api/v1/nodes/${node.id}/configuration`, assign)).status).to.equal(204);
    const expectEverywhere = async (version: string) => {
      const seen = await Promise.all([
        ...admins.map(
          async (client) => (await client.get('/api/v1/configurations/web')).json.latestPublishedVersion,
        ),
        ...node.clients.map(
          async (client) =>
            (await client.get(`/api/v1/nodes/${node.id}/configuration/checksum`)).json.version,
        ),
      ]);
      expect(new Set(seen), version).to.deep.equal(new Set([version]));
    };
    for (let round = 2; round < 22; round += 1) {
      const version = `1.${round}.0`;
      await publish(round, 'web', version);
      await expectEverywhere(version);
    }
    const withdrawal = '/api/v1/configurations/web/versions/1.21.0/withdraw';
    for (let round = 0; round < 5; round += 1) {
      expect((await admin(round).put(withdrawal, { reason: `round ${round}` })).status).to.equal(200);
      await expectEverywhere('1.20.0');
      expect((await admin(round + 1).delete(withdrawal)).status).to.equal(204);
      await expectEverywhere('1.21.0');
    }
    const folderOfWeb = join(folder, 'repos/configurations/web.git');
    const person = ['-c', 'user.name=Carol', '-c', 'user.email=carol@example.org'];
    git(folderOfWeb, ...person, 'tag', '-a', 'withdrawn/v1.21.0', '-m', 'from outside', 'v1.21.0');
    await eventually(() => expectEverywhere('1.20.0'));
    git(folderOfWeb, 'tag', '-d', 'withdrawn/v1.21.0');
    await eventually(() => expectEverywhere('1.21.0'));
    expect((await admin(3).delete(`/api/v1/nodes/${node.id}/configuration`)).status).to.equal(204);
    for (const client of node.clients) {
      const reply = await client.get(`/api/v1/nodes/${node.id}/configuration/checksum`);
      expect(reply.json.code).to.equal('no_configuration_assigned');
    }
    expect((await admin(4).delete(`/api/v1/nodes/${node.id}`)).status).to.equal(204);
    for (const client of node.clients) {
      expect((await client.get(`/api/v1/nodes/${node.id}/configuration/checksum`)).status).to.equal(401);
      client.close();
    }
  });

  it('tells in its lists what the version list shows, and dates a change once, whichever worker is asked', async () => {
    const fields = { name: 'dated', version: '1.0.0' };
    expect((await admin(0).upload('/api/v1/configurations', { fields, files: MAIN })).status).to.equal(201);
    for (let round = 1; round < 11; round += 1) {
      await publish(round, 'dated', `1.${round}.0`);
      const dates = new Set<string>();
      // The first answer of each worker may be the one for which it reads the refs.
      for (const client of [...admins, ...admins]) {
        const { updatedAt, ...shown } = await ok(200, client.get('/api/v1/configurations/dated'));
        dates.add(updatedAt);
        expect(shown).to.include({ versionCount: round + 1, latestPublishedVersion: `1.${round}.0` });
        expect(await ok(200, client.get('/api/v1/configurations/dated/versions'))).to.have.length(round + 1);
      }
      expect([...dates], `1.${round}.0`).to.have.length(1);
    }
  });

  it('gives a node the parameters of its scopes as they are now, whichever worker changed these', async () => {
    let turn = 0;
    /** Through another connection each time, and so in turn through another worker. */
    const call = async (method: string, path: string, body?: unknown) => {
      turn += 1;
      const reply = await admin(turn).call(method, path, body === undefined ? {} : { json: body });
      expect(reply.status, `${method} ${path} ${reply.text}`).to.be.lessThan(300);
      return reply.text === '' ? undefined : reply.json;
    };
    const fields = { name: 'scoped', version: '1.0.0' };
    const configuration = await admin(0).upload('/api/v1/configurations', { fields, files: MAIN });
    await call('PUT', '/api/v1/configurations/scoped/versions/1.0.0/publish');
    const types = { Default: DEFAULT_ID, Node: NODE_ID } as Record<string, string>;
    for (const name of ['Zone', 'Tier']) types[name] = (await call('POST', SCOPE_TYPES, { name })).id;
    const values: Record<string, string> = {};
    for (const [type, value] of [
      ['Zone', 'north'],
      ['Zone', 'south'],
      ['Tier', 'front'],
    ] as const)
      values[value] = (await call('POST', `${SCOPE_TYPES}/${types[type]}/values`, { value })).id;
    const save = async (type: string, scopeValue?: string, version = '1.0.0') => {
      const path = `/api/v1/parameters/${types[type]}/${configuration.json.id}`;
      const content = `parameters: {from: ${scopeValue ?? type}}`;
      // A later version of a file says nothing on purpose.
      const said = version === '1.0.0' ? { content } : { isPassthrough: true };
      await call('PUT', path, { version, ...said, ...(scopeValue && { scopeValue }) });
      const query = scopeValue ? `?scopeValue=${scopeValue}` : '';
      await call('PUT', `${path}/versions/${version}/publish${query}`);
    };
    await save('Default');
    await save('Zone', 'north');
    await save('Zone', 'south');
    await save('Tier', 'front');
    const certificate = await makeClientCertificate({ commonName: 'scoped-01' });
    let node = await register('scoped-01', certificate);
    const path = () => `/api/v1/nodes/${node.id}`;
    const assign = () => call('PUT', `${path()}/configuration`, { configurationName: 'scoped' });
    await assign();
    /** What the node gets through every worker, by its next poll and its bundle. */
    const expectFrom = async (from: string) => {
      const polls = await Promise.all(
        node.clients.map((client) => client.get(`${path()}/configuration/checksum`)),
      );
      expect(new Set(polls.map(({ json }) => json.checksum)).size, from).to.equal(1);
      for (const client of node.clients) {
        const { bytes, headers } = await client.get(`${path()}/configuration/bundle`);
        expect(headers['etag']).to.equal(`"${polls[0]?.json.checksum}"`);
        expect((await unzipTexts(bytes))['parameters.yaml']).to.equal(`parameters:\n  from: ${from}\n`);
      }
    };
    const tag = (value: string) => call('POST', `${path()}/tags`, { scopeValueId: values[value] });
    const untag = (value: string) => call('DELETE', `${path()}/tags/${values[value]}`);
    const reorder = (...names: string[]) =>
      call('PUT', `${SCOPE_TYPES}/reorder`, { scopeTypeIds: names.map((name) => types[name]) });
    await expectFrom('Default');
    await tag('north');
    await expectFrom('north');
    await untag('north');
    await expectFrom('Default');
    await tag('south');
    await tag('front');
    await expectFrom('front');
    await reorder('Default', 'Tier', 'Zone', 'Node');
    await expectFrom('south');
    types['Spare'] = (await call('POST', SCOPE_TYPES, { name: 'Spare' })).id;
    await expectFrom('south');
    await reorder('Default', 'Spare', 'Zone', 'Tier', 'Node');
    await expectFrom('front');
    await call('DELETE', `${SCOPE_TYPES}/${types['Spare']}`);
    await expectFrom('front');
    await untag('front');
    await save('Node', 'scoped-01');
    await expectFrom('scoped-01');
    // A node that registers again keeps its tags. After it was deleted, a node of the same name has none.
    for (const client of node.clients) client.close();
    node = await register('scoped-01', certificate);
    await expectFrom('scoped-01');
    await save('Node', 'scoped-01', '1.1.0');
    await expectFrom('south');
    await call('DELETE', path());
    for (const client of node.clients) client.close();
    node = await register('scoped-01', await makeClientCertificate({ commonName: 'scoped-01' }));
    await assign();
    await expectFrom('Default');
    for (const client of node.clients) client.close();
  });

  it('has one of those who want the same thing at once get it', async () => {
    const fields = { name: 'wanted', version: '1.0.0' };
    const creations = admins.map((client) =>
      client.upload('/api/v1/configurations', { fields, files: MAIN }),
    );
    expect(statuses(await Promise.all(creations))).to.deep.equal([201, 409, 409, 409, 409, 409]);
    const path = '/api/v1/configurations/wanted';
    const publications = admins.map((client) => client.put(`${path}/versions/1.0.0/publish`));
    expect(statuses(await Promise.all(publications))).to.deep.equal([200, 409, 409, 409, 409, 409]);
    const { etag } = (await admin(0).get(path)).headers;
    const changes = admins.map((client, at) =>
      client.call('PATCH', path, { json: { description: `${at}` }, headers: { 'If-Match': String(etag) } }),
    );
    expect(statuses(await Promise.all(changes))).to.deep.equal([200, 412, 412, 412, 412, 412]);
  });

  it('keeps every version of a repository that all write to at once', async () => {
    const versions = Array.from({ length: 30 }, (_, at) => `2.${at}.0`);
    await Promise.all(versions.map((version, at) => publish(at, 'wanted', version)));
    const tags = git(join(folder, 'repos/configurations/wanted.git'), 'tag').split('\n').filter(Boolean);
    expect(tags.sort()).to.deep.equal(['v1.0.0', ...versions.map((version) => `v${version}`)].sort());
    git(join(folder, 'repos/configurations/wanted.git'), 'fsck', '--strict');
    for (const client of admins)
      expect((await client.get('/api/v1/configurations/wanted')).json.versionCount).to.equal(31);
  });

  it('has each worker resume the TLS sessions of the others', async () => {
    const { id, clients } = await register('web-02', await makeClientCertificate({ commonName: 'web-02' }));
    for (const client of clients) client.close();
    const session = await beginSession(target);
    const reused: boolean[] = [];
    for (let at = 0; at < 4; at += 1) reused.push(await isResumed(target, session));
    expect(reused).to.deep.equal([true, true, true, true]);
    expect((await admin(0).delete(`/api/v1/nodes/${id}`)).status).to.equal(204);
  });

  it('adds up in its metrics what all workers have counted', async () => {
    const client = makeClient(target).with({ Authorization: `Bearer ${TOKEN}` });
    const read = async () => parsePrometheus((await client.get('/metrics')).text);
    const count = async () => {
      const families = await read();
      const route = '/api/v1/configurations/{name}';
      return sumOf(families, 'hawser_http_request_duration_seconds_count', { route, method: 'GET' });
    };
    const before = await count();
    for (const each of admins) expect((await each.get('/api/v1/configurations/wanted')).status).to.equal(200);
    expect(await count()).to.equal(before + CONNECTIONS);
    // What cannot be added up is that of the oldest process.
    const started = sumOf(await read(), 'process_start_time_seconds') * 1_000;
    expect(started).to.be.within(began, Date.now());
    client.close();
  });

  it('has all workers change their log level at a signal, also where systemd sends it to each of them', async () => {
    const tellers = () =>
      new Set(
        hawser
          .stdout()
          .split('\n')
          .filter((line) => line.includes('"path":"/health"'))
          .map((line) => JSON.parse(line).worker),
      );
    // Over new connections, because those that are kept may all lead to one worker.
    const askAll = async () => {
      const clients = Array.from({ length: CONNECTIONS }, () => makeClient(target));
      await Promise.all(clients.map((each) => each.get('/health')));
      for (const client of clients) client.close();
    };
    await askAll();
    expect(tellers().size).to.equal(0);
    for (const pid of workers()) process.kill(pid, 'SIGUSR2');
    hawser.child.kill('SIGUSR2');
    await hawser.logged('"logLevel":"debug"');
    await eventually(async () => {
      await askAll();
      expect(tellers().size).to.equal(2);
    });
    hawser.child.kill('SIGUSR2');
    await hawser.logged('"logLevel":"info"');
  });

  it('goes on when a worker is killed in the middle of writing, and starts another', async () => {
    const before = workers();
    expect(before).to.have.length(2);
    const work = Promise.allSettled(
      Array.from({ length: 12 }, (_, at) => publish(at, 'wanted', `3.${at}.0`).then(() => `3.${at}.0`)),
    );
    process.kill(before[0] as number, 'SIGKILL');
    const kept = (await work).flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    await eventually(async () => expect(workers().filter((pid) => !before.includes(pid))).to.have.length(1));
    for (const client of admins) client.close();
    admins = await signInOverMany();
    // The lock that the killed one held is free, and what it left on the disk is no obstacle.
    await publish(0, 'wanted', '4.0.0');
    const tags = git(join(folder, 'repos/configurations/wanted.git'), 'tag').split('\n');
    expect(tags).to.include.members(['v4.0.0', ...kept.map((version) => `v${version}`)]);
    git(join(folder, 'repos/configurations/wanted.git'), 'fsck', '--strict');
  });

  it('ends with all its workers when it is told to', async () => {
    const all = workers();
    hawser.child.kill('SIGTERM');
    expect((await hawser.ended).code).to.equal(0);
    for (const pid of all) expect(() => process.kill(pid, 0)).to.throw();
  });
});

describeOnSqlite('workers that cannot start', () => {
  it('end the server with their exit code, and say why', async function () {
    this.timeout(180_000);
    const folder = mkdtempSync(join(tmpdir(), 'hawser-workers-'));
    const holder = await spawnHawser(join(folder, 'one'));
    const { port } = await holder.listening();
    const settings = { HAWSER_WORKERS: '2', HAWSER_PORT: String(port) };
    const { code, stderr } = await runHawser(join(folder, 'two'), settings);
    expect(code).to.equal(1);
    expect(stderr).to.include(`another program listens on port ${port} already`);
    holder.child.kill('SIGKILL');
    await holder.ended;
    rmSync(folder, { recursive: true, force: true });
  });
});
