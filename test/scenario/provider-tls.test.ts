// full: SQLite
/** Which certificates of providers and forges are trusted, and that nothing is asked of them without TLS. */

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createAuthority, issueServerCertificate } from '../../src/security/certificate-authority.ts';
import { type Client, makeClient } from '../support/client.ts';
import { Forge, GITHUB_JOB } from '../support/forge.ts';
import { postForm } from '../support/forms.ts';
import {
  ADMIN_PASSWORD,
  ALL_SCOPES,
  createToken,
  type Hawser,
  signIn,
  startHawser,
} from '../support/hawser.ts';
import { type Lie, LyingProvider } from '../support/lying-provider.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { clientWith, signInBy } from '../support/sign-in-flow.ts';
import { PROVIDER, PUBLIC_URL, writeProviders } from '../support/sign-in-server.ts';
import { runHawser, type Spawned, spawnHawser } from '../support/spawned.ts';

const ME = '/api/v1/auth/me';
const BEGIN = `/login/oidc/${PROVIDER}`;
const LOGOUT = `${BEGIN}/backchannel-logout`;
const JSON_ONLY = { Accept: 'application/json' };
const EXIT_CONFIG = 78;
/** What Node.js says of a certificate whose authority it does not know. */
const UNTRUSTED = /self.signed certificate|UNABLE_TO_|unable to (get|verify)/i;

type Authority = Awaited<ReturnType<typeof createAuthority>>;

async function certified(authority: Authority, name = 'localhost'): Promise<{ key: string; cert: string }> {
  const { certificate, key } = await issueServerCertificate(authority, [name], Date.now());
  return { key, cert: certificate };
}

let folder: string;
let authority: Authority;
let caFile: string;
let otherCaFile: string;

async function makeAuthorities(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'hawser-tls-'));
  authority = await createAuthority(Date.now());
  caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, authority.certificate);
  otherCaFile = join(folder, 'other-ca.pem');
  writeFileSync(otherCaFile, (await createAuthority(Date.now())).certificate);
}

const removeAuthorities = () => rmSync(folder, { recursive: true, force: true });

describe('a provider on https, in production,', () => {
  let provider: LyingProvider;
  let hawser: Hawser | undefined;

  before(makeAuthorities);
  after(removeAuthorities);
  afterEach(async () => {
    await hawser?.close();
    hawser = undefined;
    await provider.close();
  });

  const start = async (members: Record<string, unknown>, name?: string): Promise<Hawser> => {
    provider = await LyingProvider.start({ tls: await certified(authority, name) });
    const file = writeProviders(folder, provider, members);
    hawser = await startHawser({ HAWSER_PUBLIC_URL: PUBLIC_URL, HAWSER_OIDC_FILE: file });
    return hawser;
  };
  const paths = () => provider.calls.map(({ path }) => path);
  const logOut = async (server: Hawser) =>
    postForm(server.client(), LOGOUT, { logout_token: await provider.logoutToken() });

  /** Nothing is asked, whoever comes is told so, the log says why, and passwords are as good as ever. */
  const expectDistrusted = async (server: Hawser, reason: RegExp) => {
    await expectProblem(server.client().get(BEGIN, JSON_ONLY), 503, 'oidc_unavailable');
    const page = await server.client().get(BEGIN, { Accept: 'text/html' });
    expect(page.status).to.equal(503);
    expect(page.text)
      .to.include('data-code="oidc_unavailable"')
      .and.not.match(/certificate/i);
    await expectProblem(logOut(server), 503, 'oidc_unavailable');
    expect(provider.calls).to.deep.equal([]);
    const told = server
      .log()
      .split('\n')
      .filter((line) => line.includes(BEGIN) && reason.test(line));
    expect(told, server.log()).to.have.length.at.least(1);
    expect(await signIn(server.client(), 'admin', ADMIN_PASSWORD)).to.be.a('string');
    await ok(200, server.client().get('/login'));
  };

  it('lets people in, and ends their sessions, where its authority is in caFile', async () => {
    const server = await start({ caFile });
    const { reply, cookies } = await signInBy(server, PROVIDER);
    expect(reply.status, reply.text).to.equal(200);
    const client = clientWith(server, cookies);
    expect(await ok(200, client.get(ME))).to.include({ username: 'ann', authProvider: PROVIDER });
    expect(paths()).to.deep.equal(['/.well-known/openid-configuration', '/authorize', '/token', '/jwks']);
    await ok(200, logOut(server));
    expect((await client.get(ME)).status).to.equal(401);
    expect(paths().slice(4)).to.deep.equal(['/jwks']);
  });

  it('is unavailable where no caFile names its private authority', async () => {
    await expectDistrusted(await start({}), UNTRUSTED);
  });

  it('is not trusted because the environment says so', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await expectDistrusted(await start({}), UNTRUSTED);
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
  });

  it('is unavailable where caFile names another authority, until the file is changed and taken anew', async () => {
    const server = await start({ caFile: otherCaFile });
    await expectDistrusted(server, UNTRUSTED);
    writeProviders(folder, provider, { caFile });
    await server.server.reloadTls();
    expect((await signInBy(server, PROVIDER)).reply.status).to.equal(200);
  });

  it('is unavailable where its certificate is for another host', async () => {
    await expectDistrusted(
      await start({ caFile }, 'other.example.org'),
      /ERR_TLS_CERT_ALTNAME_INVALID|altnames/,
    );
  });

  describe('that names an address without TLS', () => {
    let plain: Server;
    let plainUrl: string;
    let asked: string[];

    before(async () => {
      plain = createServer((request, response) => {
        asked.push(`${request.method} ${request.url}`);
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"keys":[]}');
      });
      plain.on('connection', () => asked.push('a connection'));
      await once(plain.listen(0, '127.0.0.1'), 'listening');
      plainUrl = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;
    });
    beforeEach(() => {
      asked = [];
    });
    after(() => void plain.close());

    const naming = (members: (url: string) => Record<string, string>): Lie => ({
      discovery: (honest) => ({ ...honest, ...members(plainUrl) }),
    });

    it('for its keys is unavailable for sign-in and logout, and nothing is asked there', async () => {
      const server = await start({ caFile });
      provider.lie = naming((url) => ({ jwks_uri: `${url}/jwks` }));
      const { reply } = await signInBy(server, PROVIDER, { headers: JSON_ONLY });
      await expectProblem(reply, 503, 'oidc_unavailable');
      await expectProblem(logOut(server), 503, 'oidc_unavailable');
      expect(asked).to.deep.equal([]);
    });

    it('for tokens is unavailable, and gets neither the code nor the secret of the client', async () => {
      const server = await start({ caFile });
      provider.lie = naming((url) => ({ token_endpoint: `${url}/token` }));
      const { reply } = await signInBy(server, PROVIDER, { headers: JSON_ONLY });
      await expectProblem(reply, 503, 'oidc_unavailable');
      expect(asked).to.deep.equal([]);
    });

    it('for browsers is unavailable', async () => {
      const server = await start({ caFile });
      provider.lie = naming((url) => ({ authorization_endpoint: `${url}/authorize` }));
      await expectProblem(server.client().get(BEGIN, JSON_ONLY), 503, 'oidc_unavailable');
    });
  });
});

describe('a forge on https under a private authority', function () {
  this.timeout(120_000);
  let forge: Forge;

  before(async () => {
    await makeAuthorities();
    forge = await Forge.start({ audience: PUBLIC_URL, tls: await certified(authority) });
  });
  after(async () => {
    await forge.close();
    removeAuthorities();
  });

  const makeDeployer = async (client: Client) => {
    const session = await signIn(client, 'admin', ADMIN_PASSWORD);
    const token = await createToken(client, session, ALL_SCOPES);
    const admin = client.with({ Authorization: `Bearer ${token}` });
    const account = { username: 'deployer', email: 'deployer@example.org', accountType: 'ServiceAccount' };
    const { id } = await ok(201, admin.post('/api/v1/users', account));
    const federation = { issuer: forge.issuer, claims: { sub: GITHUB_JOB.sub }, scopes: ['nodes.read'] };
    await ok(201, admin.post(`/api/v1/users/${id}/federations`, federation));
  };
  /** @param use gets a server in production with an account for the jobs of the forge */
  const withServer = async (
    name: string,
    settings: Record<string, string>,
    use: (client: Client, hawser: Spawned) => Promise<void>,
  ) => {
    const hawser = await spawnHawser(join(folder, name), {
      ...{ HAWSER_PUBLIC_URL: PUBLIC_URL, HAWSER_FEDERATION_ISSUERS: forge.issuer },
      ...settings,
    });
    try {
      const client = makeClient(await hawser.listening());
      await makeDeployer(client);
      await use(client, hawser);
      client.close();
    } finally {
      hawser.child.kill('SIGKILL');
      await hawser.ended;
    }
  };
  const exchange = async (client: Client) =>
    postForm(client, '/api/v1/auth/token-exchange', {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token: await forge.token(),
      client_id: 'deployer',
    });

  it('is believed where NODE_EXTRA_CA_CERTS names the authority', async () => {
    await withServer('trusting', { NODE_EXTRA_CA_CERTS: caFile }, async (client) => {
      const { access_token: token } = await ok(200, exchange(client));
      const me = client.with({ Authorization: `Bearer ${token}` }).get(ME);
      expect(await ok(200, me)).to.include({ username: 'deployer' });
    });
  });

  it('is not asked where nothing does, and the log says why', async () => {
    const before = forge.calls.length;
    for (const [name, settings] of [
      ['distrusting', {}],
      ['trusting-another', { NODE_EXTRA_CA_CERTS: otherCaFile }],
    ] as const)
      await withServer(name, settings, async (client, hawser) => {
        await expectProblem(exchange(client), 400, 'invalid_grant', name);
        await hawser.logged('the issuer cannot be asked');
        const line = hawser
          .stdout()
          .split('\n')
          .find((each) => each.includes('the issuer cannot be asked'));
        expect(line).to.match(UNTRUSTED);
      });
    expect(forge.calls.length).to.equal(before);
  });
});

describe('the start', function () {
  this.timeout(120_000);

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-tls-'));
  });
  after(removeAuthorities);

  const expectRefused = async (settings: Record<string, string>, setting: string): Promise<string> => {
    const { code, stderr } = await runHawser(join(folder, 'refused'), settings);
    expect(code, stderr).to.equal(EXIT_CONFIG);
    const last = stderr.trim().split('\n').at(-1) ?? '';
    expect(last).to.include(setting);
    return last;
  };

  it('is refused in production for a forge without TLS, on this machine too', async () => {
    for (const issuer of [
      'http://127.0.0.1:1',
      'http://localhost:1',
      'https://forge.example.org,http://127.0.0.1:1',
    ])
      await expectRefused(
        { HAWSER_PUBLIC_URL: PUBLIC_URL, HAWSER_FEDERATION_ISSUERS: issuer },
        'HAWSER_FEDERATION_ISSUERS',
      );
  });

  it('is refused in production for a provider without TLS on this machine', async () => {
    const provider = { issuer: 'http://127.0.0.1:1', clientId: 'hawser', clientSecret: 'a secret' };
    const file = writeProviders(folder, provider);
    const told = await expectRefused(
      { HAWSER_PUBLIC_URL: PUBLIC_URL, HAWSER_OIDC_FILE: file },
      'HAWSER_OIDC_FILE',
    );
    expect(told).to.include('/0/issuer');
  });
});
