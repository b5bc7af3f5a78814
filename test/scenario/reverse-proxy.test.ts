// full: SQLite
/** Hawser without TLS behind a real nginx or Apache that is configured as docs/reverse-proxy.md says. */

import { randomBytes, X509Certificate } from 'node:crypto';
import { request } from 'node:https';
import { join } from 'node:path';
import { expect } from 'chai';
import { DAY, HOUR } from '../../src/lib/clock.ts';
import { startApache } from '../support/apache.ts';
import { auditedDuring } from '../support/audit.ts';
import type { Target } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { filesIn, gitClient } from '../support/git-client.ts';
import {
  ADMIN_PASSWORD,
  createKey,
  createToken,
  type Hawser,
  type NodeUnderTest,
  publishConfiguration,
  signIn,
  startHawser,
} from '../support/hawser.ts';
import { LcmAgent } from '../support/lcm-agent.ts';
import { startNginx } from '../support/nginx.ts';
import { describeWith } from '../support/optional-tools.ts';
import type { ProxyProgram } from '../support/proxy-program.ts';
import { ok } from '../support/replies.ts';
import { announce, call, rotate, withCertificate, withNewCertificate } from '../support/rotation.ts';
import { unzipTexts } from '../support/unzip.ts';

const HEADER = 'X-SSL-Client-Cert';
const MIB = 1024 * 1024;
const FILES = { 'main.dsc.yaml': '$schema: x\nresources: []\n' };
const SCOPES = [
  'configurations.create',
  'configurations.admin-override',
  'registration-keys.manage',
  'nodes.read',
  'nodes.assign-configuration',
  'audit.read',
  'server.settings.write',
];

const BEHIND = {
  HAWSER_TLS: 'off',
  HAWSER_TRUSTED_PROXIES: '127.0.0.1',
  HAWSER_CLIENT_CERT_HEADER: HEADER,
};

/** From here on every client, agent and git of the tests goes by the proxy. */
async function goBy({ port }: ProxyProgram, hawser: Hawser): Promise<void> {
  hawser.server = { ...hawser.server, port, url: `https://localhost:${port}` };
  hawser.session = await signIn(hawser.client(), 'admin', ADMIN_PASSWORD);
  const token = await createToken(hawser.client(), hawser.session, SCOPES);
  hawser.admin = hawser.client().with({ Authorization: `Bearer ${token}` });
}

const pathOf = ({ nodeId }: NodeUnderTest, rest: string) => `/api/v1/nodes/${nodeId}/${rest}`;
const checksumOf = (each: NodeUnderTest) => pathOf(each, 'configuration/checksum');

describeWith(['nginx'], 'behind nginx', () => {
  let hawser: Hawser;
  let nginx: ProxyProgram;
  let node: NodeUnderTest;
  let other: NodeUnderTest;

  before(async () => {
    hawser = await startHawser(BEHIND);
    nginx = await startNginx(hawser);
    await goBy(nginx, hawser);
    node = await hawser.registerNode('web-01.example.org');
    other = await hawser.registerNode('web-02.example.org');
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': FILES });
    for (const each of [node, other]) {
      await ok(204, hawser.admin.put(pathOf(each, 'configuration'), { configurationName: 'web' }));
    }
  });
  after(async () => {
    await nginx?.stop();
    await hawser?.close();
  });

  it('polls, pulls and reports with the certificate that nginx has asked for', async () => {
    const checksum = await node.client.get(checksumOf(node));
    expect(checksum.status, checksum.text).to.equal(200);
    const known = { 'If-None-Match': String(checksum.headers['etag']) };
    expect((await node.client.get(checksumOf(node), known)).status).to.equal(304);
    const bundle = await node.client.get(pathOf(node, 'configuration/bundle'));
    expect(await unzipTexts(bundle.bytes)).to.deep.equal(FILES);
    const report = { operation: 'Test', result: { hadErrors: false, messages: [], results: [] } };
    await ok(201, node.client.post(pathOf(node, 'reports'), report));
  });

  it("refuses another node's certificate, and no certificate", async () => {
    expect((await other.client.get(checksumOf(node))).status).to.equal(403);
    expect((await hawser.client().get(checksumOf(node))).status).to.equal(401);
  });

  it('takes no certificate that the client has written into a header itself, however it is spelt', async () => {
    const escaped = encodeURIComponent(node.identity.cert);
    const der = new X509Certificate(node.identity.cert).raw.toString('base64');
    const attempts: Record<string, string>[] = [
      { [HEADER]: escaped },
      { [HEADER.toLowerCase()]: escaped },
      { [HEADER.replaceAll('-', '_')]: escaped },
      { 'Client-Cert': `:${der}:` },
    ];
    for (const headers of attempts) {
      const what = Object.keys(headers).join();
      expect((await hawser.client().get(checksumOf(node), headers)).status, what).to.equal(401);
      expect((await other.client.get(checksumOf(node), headers)).status, what).to.equal(403);
      expect((await other.client.get(checksumOf(other), headers)).status, what).to.equal(200);
    }
  });

  it('answers what is wrong with an expired certificate itself, in its own form', async () => {
    const [notBefore, notAfter] = [Date.now() - 2 * DAY, Date.now() - DAY];
    const expired = await makeClientCertificate({ commonName: 'old', notBefore, notAfter });
    const client = hawser.client(expired);
    const polled = await client.get(checksumOf(node));
    expect(polled.json).to.include({ status: 401, code: 'unauthenticated' });
    const registrationKey = await createKey(hawser.admin);
    const registered = await client.post('/api/v1/nodes/register', {
      registrationKey,
      fqdn: 'old.example.org',
    });
    expect(registered.json).to.include({ status: 400, code: 'certificate_expired' });
  });

  it('takes large uploads through, and says itself what is too large', async () => {
    const upload = (version: string, bytes: number) =>
      hawser.admin.upload('/api/v1/configurations/web/versions', {
        fields: { version },
        files: { ...FILES, 'large.bin': randomBytes(bytes) },
      });
    await ok(201, upload('1.1.0', 20 * MIB));
    const refused = await upload('1.2.0', 51 * MIB);
    expect(refused.json).to.include({ status: 413 });
    expect(refused.headers['content-type']).to.match(/^application\/problem\+json/);
  });

  it('lets git clone', async () => {
    const git = gitClient(hawser);
    const token = await createToken(hawser.client(), hawser.session, SCOPES);
    const { code, output } = await git.run('clone', '-q', git.url('configurations/web', token), 'web');
    expect(code, output).to.equal(0);
    expect(filesIn(join(git.folder, 'web'))).to.deep.equal(FILES);
    git.close();
  });

  it('keeps sessions to TLS and to this site', async () => {
    const signedIn = await hawser
      .client()
      .post('/api/v1/auth/login', { username: 'admin', password: ADMIN_PASSWORD });
    expect(signedIn.headers['set-cookie']?.[0]).to.match(/; Secure; SameSite=Strict$/);
    expect(signedIn.headers['strict-transport-security']).to.equal('max-age=31536000');
    const post = (origin: string) =>
      hawser
        .client()
        .with({ Cookie: hawser.session, Origin: origin })
        .post('/api/v1/admin/registration-keys', {});
    expect((await post(`https://localhost:${nginx.port}`)).status).to.equal(201);
    expect((await post(`http://localhost:${nginx.port}`)).status).to.equal(403);
  });

  it("knows the client's address, whatever the client says of it", async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.7', Forwarded: 'for=203.0.113.7' };
    const attempt = { username: 'nobody', password: 'x'.repeat(12) };
    const entries = await auditedDuring(hawser, () =>
      postFrom('127.0.0.2', hawser.target(), '/api/v1/auth/login', attempt, headers),
    );
    expect(entries.map(({ ipAddress }) => ipAddress)).to.deep.equal(['127.0.0.2']);
  });

  it('lets an agent change its certificate, and keeps the old one to connections that began with it', async () => {
    // Its first certificate is two hours old.
    let age = 2 * HOUR;
    const agent = new LcmAgent({
      target: hawser.target(),
      clock: { now: () => Date.now() - age },
      machineName: 'AGENT',
      fqdn: 'agent.example.org',
    });
    await agent.register(await createKey(hawser.admin));
    age = 0;
    const first = agent.certificate.fingerprint256;
    const often = { certificateRotationInterval: '01:00:00', stalenessMultiplier: 2 };
    expect((await hawser.admin.put('/api/v1/settings', often)).status).to.equal(200);
    for (let cycles = 0; cycles < 3; cycles += 1) await agent.cycle(() => ({ hadErrors: false }));
    agent.disconnect();
    expect(agent.certificate.fingerprint256).not.to.equal(first);
    const statuses = agent.calls.map(({ name, status }) => `${name} ${status}`);
    expect(statuses.filter((each) => !/ (200|204|404)$/.test(each))).to.deep.equal([]);

    const next = await withNewCertificate(hawser, other);
    expect((await rotate(other, announce(next.identity))).status).to.equal(200);
    expect([await call(next), await call(other), await call(other), await call(next)]).to.deep.equal([
      200, 401, 401, 200,
    ]);
  });

  it('has no fault to find with any of this', () => {
    expect(hawser.log()).not.to.match(/"level":"warn".*"header":/);
    expect(nginx.printed()).to.equal('');
  });
});

describeWith(['apache2'], 'behind Apache', () => {
  let hawser: Hawser;
  let apache: ProxyProgram;
  let node: NodeUnderTest;
  let other: NodeUnderTest;

  before(async () => {
    hawser = await startHawser(BEHIND);
    apache = await startApache(hawser);
    await goBy(apache, hawser);
    node = await hawser.registerNode('web-01.example.org');
    other = await hawser.registerNode('web-02.example.org');
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': FILES });
    await ok(204, hawser.admin.put(pathOf(node, 'configuration'), { configurationName: 'web' }));
  });
  after(async () => {
    await apache?.stop();
    await hawser?.close();
  });

  it('knows nodes by the certificates that Apache has asked for, and takes requests without one', async () => {
    expect((await node.client.get(checksumOf(node))).status).to.equal(200);
    expect((await other.client.get(checksumOf(node))).status).to.equal(403);
    expect((await hawser.client().get(checksumOf(node))).status).to.equal(401);
    const bundle = await node.client.get(pathOf(node, 'configuration/bundle'));
    expect(await unzipTexts(bundle.bytes)).to.deep.equal(FILES);
    expect(hawser.log(), 'nothing to warn of').not.to.match(/"level":"warn".*"header":/);
  });

  it('takes no certificate that the client has written into a header itself', async () => {
    const line = node.identity.cert.trim().replaceAll('\n', ' ');
    for (const header of [HEADER, HEADER.toLowerCase(), HEADER.replaceAll('-', '_'), 'Client-Cert']) {
      for (const value of [line, encodeURIComponent(node.identity.cert)]) {
        const forged = await hawser.client().get(checksumOf(node), { [header]: value });
        expect(forged.status, header).to.equal(401);
      }
    }
    expect((await other.client.get(checksumOf(node), { [HEADER]: line })).status).to.equal(403);
  });

  it('takes large uploads through, lets git clone, and keeps the address of the site and of the client', async () => {
    const files = { ...FILES, 'large.bin': randomBytes(20 * MIB) };
    const upload = { fields: { version: '1.1.0' }, files };
    await ok(201, hawser.admin.upload('/api/v1/configurations/web/versions', upload));
    const git = gitClient(hawser);
    const token = await createToken(hawser.client(), hawser.session, SCOPES);
    const { code, output } = await git.run('clone', '-q', git.url('configurations/web', token), 'web');
    expect(code, output).to.equal(0);
    git.close();
    const browser = { Cookie: hawser.session, Origin: hawser.server.url };
    const posted = await hawser.client().with(browser).post('/api/v1/admin/registration-keys', {});
    expect(posted.status, posted.text).to.equal(201);
    const attempt = { username: 'nobody', password: 'x'.repeat(12) };
    const entries = await auditedDuring(hawser, () =>
      postFrom('127.0.0.2', hawser.target(), '/api/v1/auth/login', attempt, {
        'X-Forwarded-For': '203.0.113.7',
      }),
    );
    expect(entries.map(({ ipAddress }) => ipAddress)).to.deep.equal(['127.0.0.2']);
  });

  it('asks for no certificate again and again: the next connection shows the next one', async () => {
    const next = await withNewCertificate(hawser, other);
    expect((await rotate(other, { certificate: next.identity.cert })).status).to.equal(200);
    expect([await call(next), await call(withCertificate(hawser, other, other.identity))]).to.deep.equal([
      200, 401,
    ]);
  });
});

function postFrom(
  localAddress: string,
  { port, ca }: Target,
  path: string,
  body: unknown,
  more: Record<string, string>,
): Promise<void> {
  const headers = { 'Content-Type': 'application/json', ...more };
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', servername: 'localhost', port, ca, localAddress, path };
    request({ ...options, method: 'POST', headers }, (incoming) => {
      incoming.resume().on('end', () => resolve());
    })
      .on('error', reject)
      .end(JSON.stringify(body));
  });
}
