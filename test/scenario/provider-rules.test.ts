// full: SQLite
/** What the contract says of the settings of providers, and of the way to them and back, rule by rule. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { later } from '../support/later.ts';
import type { Lie } from '../support/lying-provider.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { beginSignIn, signInBy } from '../support/sign-in-flow.ts';
import { PROVIDER, startSignInServer } from '../support/sign-in-server.ts';
import { started } from '../support/started.ts';

const ME = '/api/v1/auth/me';
const BEGIN = `/login/oidc/${PROVIDER}`;
/** Problems where something is wrong, and else a page. */
const EITHER = { Accept: 'application/problem+json, text/html;q=0.5' };
const MINUTE = 60_000;
const NOW = () => Math.floor(Date.now() / 1_000);

describe('the way to a provider and back', () => {
  const server = started(startSignInServer);

  afterEach(async () => {
    server.provider.lie = {};
    server.hawser.clock.advance(MINUTE);
  });

  const paths = () => server.provider.calls.map(({ path }) => path);
  const attempt = async (person: Record<string, unknown>, lie: Lie = {}) => {
    server.provider.person = { sub: 'nobody', ...person };
    server.provider.lie = lie;
    return (await signInBy(server.hawser, PROVIDER, { headers: EITHER })).reply;
  };
  const ann = { sub: 'of-ann', preferred_username: 'ann' };

  it('begins with the first who takes it: neither the start nor the sign-in page asks the provider', async () => {
    const { hawser, provider } = server;
    await ok(200, hawser.client().get('/api/v1/auth/providers'));
    expect((await hawser.client().get('/login', { Accept: 'text/html' })).text).to.include(BEGIN);
    expect(paths()).to.deep.equal([]);
    await provider.stop();
    await hawser.restart();
    expect((await hawser.client().get('/login', { Accept: 'text/html' })).text).to.include(BEGIN);
    await provider.resume();
    await server.signIn(ann);
    expect(paths()).to.deep.equal(['/.well-known/openid-configuration', '/authorize', '/token', '/jwks']);
  });

  it('leaves a cookie for ten minutes that comes back from another site, and is for this server alone', async () => {
    const { reply } = await beginSignIn(server.hawser, PROVIDER);
    expect(reply.status).to.equal(302);
    const [cookie, ...others] = [reply.headers['set-cookie'] ?? []].flat();
    expect(others).to.deep.equal([]);
    const [pair, ...attributes] = String(cookie).split('; ');
    expect(pair).to.match(/^__Host-hawser_oidc=[A-Za-z0-9_-]{43}$/);
    const wanted = ['Path=/', 'Max-Age=600', 'HttpOnly', 'Secure', 'SameSite=Lax'];
    expect(attributes).to.have.members(wanted);
  });

  it('asks for the scopes of the file, each time with another state, nonce and challenge', async () => {
    const { hawser } = server;
    const asked = async () => (await beginSignIn(hawser, PROVIDER)).authorizeUrl.searchParams;
    const [first, second] = [await asked(), await asked()];
    expect(first.get('scope')).to.equal('openid profile email');
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(first.get(name), name)
        .to.match(/^[\w-]{43}$/)
        .and.not.equal(second.get(name));
    await server.change({ scopes: ['openid', 'groups'] });
    expect((await asked()).get('scope')).to.equal('openid groups');
    await server.change({});
  });

  it('takes claims at the pointers of the file, out of the ID token alone', async () => {
    const { provider } = server;
    // Whoever asked there would get no answer, and a name and an address are in the token.
    const described: Lie = {
      discovery: (honest) => ({ ...honest, userinfo_endpoint: `${provider.issuer}/userinfo` }),
    };
    await server.change({ usernameClaim: '/account/log~1in~0', emailClaim: '/mails/1' });
    const person = {
      ...{ sub: 'of-pia', preferred_username: 'somebody', email: 'somebody@example.org' },
      ...{ account: { 'log/in~': 'pia' }, mails: ['first@example.org', 'pia@example.org'] },
    };
    await ok(200, attempt(person, described));
    const pia = await server.signIn();
    expect(await ok(200, pia.get(ME))).to.include({ username: 'pia', email: 'pia@example.org' });
    expect(paths()).to.not.include('/userinfo');
    await server.change({});
  });

  it('needs a name that a user can have', async () => {
    for (const name of [undefined, null, '', 7, ['ann'], 'x'.repeat(65), '-dash', 'a b'])
      await expectProblem(
        attempt({ sub: 'of-unfit', preferred_username: name }),
        403,
        'oidc_not_allowed',
        String(name),
      );
  });

  it('makes users without an address where the provider names none, or what is none', async () => {
    for (const [at, email] of [
      undefined,
      null,
      7,
      '',
      'no address',
      `${'x'.repeat(250)}@example.org`,
    ].entries()) {
      const client = await server.signIn({ sub: `of-mail-${at}`, preferred_username: `mail-${at}`, email });
      expect(await ok(200, client.get(ME)), String(email)).to.include({ username: `mail-${at}`, email: '' });
    }
  });

  it('tolerates half a minute between the clocks, and not more', async () => {
    for (const [seconds, status] of [
      [-20, 200],
      [-40, 400],
    ] as const)
      expect((await attempt(ann, { claims: { exp: NOW() + seconds } })).status, `exp ${seconds}`).to.equal(
        status,
      );
    for (const [seconds, status] of [
      [20, 200],
      [40, 400],
    ] as const)
      expect((await attempt(ann, { claims: { iat: NOW() + seconds } })).status, `iat ${seconds}`).to.equal(
        status,
      );
  });

  it('goes on by keys that have changed, once a minute has passed since they were fetched', async () => {
    const { provider } = server;
    await server.change({});
    const fetched = () => paths().filter((path) => path === '/jwks').length;
    const before = fetched();
    await server.signIn(ann);
    expect(fetched() - before).to.equal(1);
    await provider.rotateKeys();
    for (let turn = 0; turn < 3; turn += 1) await expectProblem(attempt(ann), 400, 'oidc_flow_invalid');
    expect(fetched() - before).to.equal(1);
    await later(MINUTE + 1_000, async () => {
      await server.signIn(ann);
      // Somebody who invents names of keys makes nobody ask again and again.
      for (let turn = 0; turn < 3; turn += 1)
        await expectProblem(attempt(ann, { header: { kid: `other-${turn}` } }), 400, 'oidc_flow_invalid');
      expect((await attempt(ann)).status).to.equal(200);
    });
    expect(fetched() - before).to.equal(2);
  });
});

describe('the settings of a provider', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-secret-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('are taken anew with the secret in its file', async () => {
    const clientSecretFile = join(folder, 'secret');
    writeFileSync(clientSecretFile, 'not the one');
    const server = await startSignInServer({ clientSecretFile });
    try {
      const { hawser, provider } = server;
      const attempt = async () => (await signInBy(hawser, PROVIDER, { headers: EITHER })).reply;
      await expectProblem(attempt(), 400, 'oidc_flow_invalid');
      writeFileSync(clientSecretFile, provider.clientSecret);
      await expectProblem(attempt(), 400, 'oidc_flow_invalid', 'before it was told');
      await server.change({});
      expect((await attempt()).status).to.equal(200);
      rmSync(clientSecretFile);
      await server.change({ label: 'Another Corp' });
      expect((await attempt()).status).to.equal(200);
      const [listed] = await ok(200, hawser.client().get('/api/v1/auth/providers'));
      expect(listed).to.deep.equal({ name: PROVIDER, label: 'Example Corp' });
    } finally {
      await server.close();
    }
  });

  it('bound for how long tokens work without a sign-in', async () => {
    const server = await startSignInServer({ tokenMaxAgeDays: 2 });
    try {
      const { hawser } = server;
      const ann = await server.signIn();
      const wish = { name: 'a', scopes: [], expiresAt: null };
      const { token } = await ok(201, ann.post('/api/v1/auth/tokens', wish));
      const own = hawser.client().with({ Authorization: `Bearer ${token}` });
      hawser.clock.advance(2 * 24 * 60 * MINUTE - MINUTE);
      expect((await own.get(ME)).status).to.equal(200);
      hawser.clock.advance(2 * MINUTE);
      expect((await own.get(ME)).status).to.equal(401);
      await server.change({ tokenMaxAgeDays: 3 });
      expect((await own.get(ME)).status).to.equal(200);
    } finally {
      await server.close();
    }
  });

  it('name one that never answers, which is given up', async () => {
    const server = await startSignInServer();
    try {
      server.provider.lie = { discoveryDelay: 10 * MINUTE };
      const refused = server.hawser.client().get(BEGIN, EITHER);
      await expectProblem(refused, 503, 'oidc_unavailable');
      server.provider.lie = {};
      await server.signIn();
    } finally {
      await server.close();
    }
  });

  it('let each address ask thirty times a minute, whatever others do', async () => {
    const server = await startSignInServer({}, { HAWSER_TRUSTED_PROXIES: '127.0.0.1' });
    try {
      const { hawser } = server;
      const client = hawser.client();
      const ask = (address: string) => client.get(BEGIN, { ...EITHER, 'X-Forwarded-For': address });
      for (let turn = 0; turn < 30; turn += 1) expect((await ask('192.0.2.1')).status).to.equal(302);
      const refused = await expectProblem(ask('192.0.2.1'), 429, 'rate_limited');
      expect(Number(refused.headers['retry-after'])).to.be.within(1, 60);
      expect((await ask('198.51.100.7')).status).to.equal(302);
      hawser.clock.advance(MINUTE + 1);
      expect((await ask('192.0.2.1')).status).to.equal(302);
    } finally {
      await server.close();
    }
  });
});
