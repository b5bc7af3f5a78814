// full: SQLite, PostgreSQL
/** The second port, at which browsers are asked for no certificate, and none is taken. */

import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type ConnectionOptions, connect } from 'node:tls';
import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/lib/log.ts';
import { startServer } from '../../src/server.ts';
import { type Client, makeClient, type Target } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { databaseSettings } from '../support/engine.ts';
import {
  ADMIN_PASSWORD,
  createKey,
  type Hawser,
  type NodeUnderTest,
  signIn,
  startHawser,
  TestClock,
} from '../support/hawser.ts';
import { statusesOf } from '../support/raw-tls.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { runHawser, spawnHawser } from '../support/spawned.ts';

const ME = '/api/v1/auth/me';

describe('the second port', () => {
  let hawser: Hawser;
  let node: NodeUnderTest;
  let target: Target;
  let client: Client;

  before(async () => {
    // Servers on PostgreSQL share the keys of TLS sessions, and so do both ports.
    hawser = await startHawser({ HAWSER_UI_PORT: '0' });
    node = await hawser.registerNode('web-01.example.org');
    target = { ...hawser.target(), port: hawser.server.ui?.port ?? 0 };
    client = makeClient(target, node.identity);
  });
  after(async () => {
    client.close();
    await hawser.close();
  });

  /** One request over a connection of its own, and the TLS session that the server gave out with it. */
  async function shakeHands(port: number, options: ConnectionOptions = {}) {
    const socket = connect({ ...target, host: '127.0.0.1', servername: 'localhost', port, ...options });
    let received = '';
    let session = options.session;
    let reused = false;
    socket.on('secureConnect', () => (reused = socket.isSessionReused()));
    socket.on('session', (given: Buffer) => (session = given));
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
    const path = `/api/v1/nodes/${node.nodeId}/lcm-config`;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    await once(socket, 'close');
    return { status: statusesOf(received)[0], session, reused };
  }

  it('is another one, with an address of its own', () => {
    const { server } = hawser;
    expect(server.ui?.url).to.equal(`https://localhost:${server.ui?.port}`);
    expect(server.ui?.port).to.not.equal(server.port);
  });

  it('takes no certificate: a node gets 200 on the first port and 401 here', async () => {
    const own = `/api/v1/nodes/${node.nodeId}`;
    for (const path of ['lcm-config', 'configuration', 'configuration/checksum', 'configuration/bundle']) {
      await expectProblem(client.get(`${own}/${path}`), 401, 'unauthenticated', path);
    }
    expect((await node.client.get(`${own}/lcm-config`)).status).to.equal(200);
    const report = await client.post(`${own}/reports`, { operation: 'Test', result: { hadErrors: false } });
    expect(report.status).to.equal(401);
  });

  it('does not register a node by its certificate', async () => {
    const identity = await makeClientCertificate({ commonName: 'web-02.example.org' });
    const other = makeClient(target, identity);
    const registrationKey = await createKey(hawser.admin);
    const body = { registrationKey, fqdn: 'web-02.example.org' };
    await expectProblem(other.post('/api/v1/nodes/register', body), 400, 'client_certificate_required');
    other.close();
    expect((await hawser.client(identity).post('/api/v1/nodes/register', body)).status).to.equal(200);
  });

  it('serves the console and people as the first port does', async () => {
    expect((await client.get('/')).headers['location']).to.equal('/ui/');
    expect((await client.get('/ui/')).text).to.equal((await hawser.client().get('/ui/')).text);
    const cookie = await signIn(client, 'admin', ADMIN_PASSWORD);
    for (const each of [client, hawser.client()])
      expect((await each.get(ME, { Cookie: cookie })).json.username).to.equal('admin');
    expect((await client.with({ Cookie: hawser.session }).get('/api/v1/nodes')).status).to.equal(200);
  });

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
    it(`does not resume a TLS session that began with a certificate at the first port (${version})`, async () => {
      const only = { minVersion: version, maxVersion: version };
      const first = await shakeHands(hawser.server.port, { ...only, ...node.identity });
      expect(first.status).to.equal(200);
      const { session } = first;
      expect(await shakeHands(target.port, { ...only, ...node.identity, session })).to.include({
        status: 401,
        reused: false,
      });
      const second = await shakeHands(target.port, { ...only, ...node.identity });
      expect(second.status).to.equal(401);
      expect(
        await shakeHands(target.port, { ...only, ...node.identity, session: second.session }),
      ).to.include({ status: 401, reused: true });
    });
});

describe('the second port, as openssl sees it', () => {
  it('asks for no certificate, where the first does', async () => {
    const hawser = await startHawser({ HAWSER_UI_PORT: '0' });
    const asks = async (port = 0) => {
      const args = ['s_client', '-connect', `127.0.0.1:${port}`, '-tls1_2', '-state'];
      const child = execFile('openssl', args);
      child.stdin?.end();
      const [said] = await Promise.all([text(child.stderr as Readable), once(child, 'close')]);
      expect(said).to.match(/read server certificate\b/);
      return /read server certificate request/.test(said);
    };
    const { server } = hawser;
    expect([await asks(server.port), await asks(server.ui?.port)]).to.deep.equal([true, false]);
    await hawser.close();
  });
});

describe('the second port of other servers', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-ui-port-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** The common name of the certificate that the server shows. */
  async function shownAt(port: number): Promise<string> {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return String(CN);
  }

  it('shows the new certificate after it was taken anew, and closes with the first', async () => {
    const [cert, key] = [join(folder, 'server.crt'), join(folder, 'server.key')];
    const write = async (commonName: string) => {
      const made = await makeClientCertificate({ commonName });
      writeFileSync(cert, made.cert);
      writeFileSync(key, made.key, { mode: 0o600 });
    };
    await write('first.example.org');
    const config = readConfig({
      ...{ HAWSER_HOST: '127.0.0.1', HAWSER_PORT: '0', HAWSER_UI_PORT: '0' },
      ...{ HAWSER_DATA_DIR: join(folder, 'data'), HAWSER_REPOS_DIR: join(folder, 'repos') },
      ...{ HAWSER_TLS_CERT: cert, HAWSER_TLS_KEY: key },
      ...(await databaseSettings(join(folder, 'data'))),
    });
    const options = { config, clock: new TestClock(), log: createLog('silent') };
    const server = await startServer({ ...options, showFirstPassword: () => undefined });
    const ports = [server.port, server.ui?.port ?? 0];
    for (const port of ports) expect(await shownAt(port)).to.equal('first.example.org');
    await write('second.example.org');
    await server.reloadTls();
    for (const port of ports) expect(await shownAt(port)).to.equal('second.example.org');
    await server.close();
    for (const port of ports) {
      const refused = await shownAt(port).catch(({ code }) => code);
      expect(refused).to.equal('ECONNREFUSED');
    }
  });

  it('believes a trusted proxy about the address of its client, and not about a certificate', async () => {
    const hawser = await startHawser({
      ...{ HAWSER_TLS: 'off', HAWSER_UI_PORT: '0', HAWSER_TRUSTED_PROXIES: '127.0.0.1' },
    });
    try {
      expect(hawser.server.ui?.url).to.equal(`http://127.0.0.1:${hawser.server.ui?.port}`);
      const { cert } = await makeClientCertificate({ commonName: 'web-01.example.org' });
      const certificate = `:${new X509Certificate(cert).raw.toString('base64')}:`;
      const proxied = { 'Client-Cert': certificate, 'X-Forwarded-For': '192.0.2.7' };
      const byProxy = (port: number) => makeClient({ ...hawser.target(), port }).with(proxied);
      const [first, second] = [byProxy(hawser.server.port), byProxy(hawser.server.ui?.port ?? 0)];
      const register = async (client: Client) => {
        const registrationKey = await createKey(hawser.admin);
        return client.post('/api/v1/nodes/register', { registrationKey, fqdn: 'web-01.example.org' });
      };
      expect((await register(second)).json.code).to.equal('client_certificate_required');
      expect(hawser.log()).to.match(/"level":"warn".*"header":/);
      const registered = await ok(200, register(first));
      const path = `/api/v1/nodes/${registered.nodeId}/lcm-config`;
      expect((await first.get(path)).status).to.equal(200);
      expect((await second.get(path)).status).to.equal(401);
      await signIn(second, 'admin', ADMIN_PASSWORD);
      const { json: entries } = await hawser.admin.get('/api/v1/audit?action=session.created&take=1');
      expect(entries[0]).to.include({ ipAddress: '192.0.2.7' });
      for (const client of [first, second]) client.close();
    } finally {
      await hawser.close();
    }
  });

  it('is named where it is taken already', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await runHawser(folder, { HAWSER_UI_PORT: String(port) });
    other.close();
    expect(stderr).to.equal(`hawser: HAWSER_UI_PORT: another program listens on port ${port} already\n`);
    expect(code).to.equal(1);
  });

  it('has its address in the log', async () => {
    const server = await spawnHawser(folder, { HAWSER_UI_PORT: '0' });
    const { ca, port: first } = await server.listening();
    const port = Number(/"uiUrl":"https:\/\/localhost:(\d+)"/.exec(server.stdout())?.[1]);
    expect(port).to.not.equal(first);
    const client = makeClient({ port, ca });
    expect((await client.get('/ui/')).status).to.equal(200);
    client.close();
    server.child.kill('SIGTERM');
    expect((await server.ended).code).to.equal(0);
  });
});
