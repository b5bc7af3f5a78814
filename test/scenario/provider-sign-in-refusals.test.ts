// full: SQLite
/** Providers that lie, are broken, or are away: nobody gets in, and nobody else is kept out. */

import { expect } from 'chai';
import { auditedDuring } from '../support/audit.ts';
import { ADMIN_PASSWORD, signIn } from '../support/hawser.ts';
import { type Lie, SAID_BY_PROVIDER } from '../support/lying-provider.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { answerOfProvider, beginSignIn, finishSignIn, signInBy } from '../support/sign-in-flow.ts';
import { PROVIDER, startSignInServer } from '../support/sign-in-server.ts';
import { started } from '../support/started.ts';

const JSON_ONLY = { Accept: 'application/problem+json' };
const NOW = () => Math.floor(Date.now() / 1_000);

/** What does not hold is the browser's to begin again. */
const INVALID: Record<string, Lie | (() => Lie)> = {
  'a forged signature': { signWith: 'other' },
  'no signature': { signWith: 'none' },
  'the secret as key': { signWith: 'hmac' },
  'the public key as secret': { signWith: 'hmac-by-public-key' },
  'another subject than was signed': { alterAfterSigning: (claims) => ({ ...claims, sub: 'of-admin' }) },
  'another algorithm than is configured': { header: { alg: 'RS512' } },
  'an unknown key': { header: { kid: 'other' } },
  'another issuer': { claims: { iss: 'https://other.example.org' } },
  'another audience': { claims: { aud: 'other' } },
  'another party': { claims: { azp: 'other' } },
  'another nonce': { claims: { nonce: 'other' } },
  'no nonce': { claims: { nonce: undefined } },
  'no subject': { claims: { sub: undefined } },
  'an empty subject': { claims: { sub: '' } },
  'a subject that is too long': { claims: { sub: 'x'.repeat(256) } },
  'a subject that is no text': { claims: { sub: 7 } },
  'a subject with U+0000': { claims: { sub: 'a\0' } },
  'a subject with half a character': { claims: { sub: 'a\ud800' } },
  'an end that is over': () => ({ claims: { exp: NOW() - 31 } }),
  'no end': { claims: { exp: undefined } },
  'a time that has not come': () => ({ claims: { nbf: NOW() + 60 } }),
  'a token of the future': () => ({ claims: { iat: NOW() + 60 } }),
  'an ID token that is none': { tokenBody: (honest) => ({ ...honest, id_token: 'a.b.c' }) },
  'another state': { state: 'other' },
  'no state': { state: null },
  'another code': { code: 'other' },
  'another issuer beside the code': { iss: 'https://other.example.org' },
  'a refusal of its own': { refuse: 'access_denied' },
};

/** What cannot be reached, or makes no sense, is the provider's. */
const UNAVAILABLE: Record<string, Lie> = {
  'no ID token': { noIdToken: true },
  'an error of its own': { tokenStatus: 500 },
  'a page in place of a token': { tokenBody: '<html>', tokenContentType: 'text/html' },
  'an endless token': { tokenBytes: 3_000_000 },
  'a way to somebody else': { redirectTokenTo: 'http://127.0.0.1:9/' },
};

describe('a provider', () => {
  const server = started(startSignInServer);

  afterEach(() => {
    server.provider.lie = {};
    // Somebody may ask thirty times a minute.
    server.hawser.clock.advance(20_000);
  });

  const users = async () => (await ok(200, server.hawser.admin.get('/api/v1/users?take=100'))).length;
  /** What the provider says of itself, and its keys, are asked for again. */
  const askAnew = () => server.change({});
  const attempt = async (lie: Lie, headers?: Record<string, string>) => {
    const { hawser, provider } = server;
    provider.person = { sub: 'of-mia', preferred_username: 'mia' };
    provider.lie = lie;
    return signInBy(hawser, PROVIDER, headers && { headers });
  };

  for (const [what, lie] of Object.entries(INVALID))
    it(`that sends ${what} lets nobody in`, async () => {
      const before = await users();
      const { reply, cookies } = await attempt(typeof lie === 'function' ? lie() : lie, JSON_ONLY);
      await expectProblem(reply, 400, 'oidc_flow_invalid', what);
      expect([...cookies.keys()]).to.not.include('hawser_session');
      expect(await users()).to.equal(before);
    });

  for (const [what, lie] of Object.entries(UNAVAILABLE))
    it(`that sends ${what} is unavailable`, async () => {
      const entries = await auditedDuring(server.hawser, async () => {
        const { reply, cookies } = await attempt(lie, JSON_ONLY);
        await expectProblem(reply, 503, 'oidc_unavailable', what);
        expect([...cookies.keys()]).to.not.include('hawser_session');
      });
      expect(entries.map(({ action, details }) => ({ action, details }))).to.deep.equal([
        { action: 'session.refused', details: { provider: PROVIDER, reason: 'oidc_unavailable' } },
      ]);
    });

  it('is never repeated on a page', async () => {
    const { reply } = await attempt({ refuse: 'access_denied' });
    expect(reply.status).to.equal(400);
    expect(reply.text).to.include('data-code="oidc_flow_invalid"');
    expect(reply.text).to.not.include('said by').and.not.include(SAID_BY_PROVIDER);
  });

  it('must have been asked by this browser', async () => {
    const { hawser } = server;
    const { authorizeUrl } = await beginSignIn(hawser, PROVIDER);
    const callback = await answerOfProvider(authorizeUrl);
    const stranger = await beginSignIn(hawser, PROVIDER);
    const entries = await auditedDuring(hawser, async () => {
      await expectProblem(finishSignIn(hawser, callback, { headers: JSON_ONLY }), 400, 'oidc_flow_invalid');
      const other = finishSignIn(hawser, callback, { cookies: stranger.cookies, headers: JSON_ONLY });
      await expectProblem(other, 400, 'oidc_flow_invalid');
    });
    // Anybody can do this as often as they like.
    expect(entries).to.deep.equal([]);
  });

  it('must send one state', async () => {
    const { hawser } = server;
    const { authorizeUrl, cookies } = await beginSignIn(hawser, PROVIDER);
    const callback = await answerOfProvider(authorizeUrl);
    callback.searchParams.append('state', 'other');
    const twice = finishSignIn(hawser, callback, { cookies, headers: JSON_ONLY });
    await expectProblem(twice, 400, 'oidc_flow_invalid');
  });

  it('that is unknown is not found', async () => {
    const { hawser } = server;
    for (const path of ['/login/oidc/other', '/login/oidc/other/callback?code=x&state=y'])
      await expectProblem(hawser.client().get(path, JSON_ONLY), 404, 'not_found');
  });

  it('that is away keeps nobody from signing in with a password, and is asked again', async () => {
    const { hawser, provider } = server;
    await askAnew();
    await provider.stop();
    const refused = hawser.client().get(`/login/oidc/${PROVIDER}`, JSON_ONLY);
    await expectProblem(refused, 503, 'oidc_unavailable');
    expect(await signIn(hawser.client(), 'admin', ADMIN_PASSWORD)).to.be.a('string');
    expect((await hawser.client().get('/login')).status).to.equal(200);
    await provider.resume();
    await server.signIn({ sub: 'of-noa', preferred_username: 'noa' });
  });

  for (const [what, lie] of Object.entries({
    'another issuer': { discovery: (honest) => ({ ...honest, issuer: 'https://other.example.org' }) },
    'no endpoints': { discovery: ({ issuer }) => ({ issuer }) },
    'an address that is none': {
      discovery: (honest) => ({ ...honest, authorization_endpoint: 'javascript:x' }),
    },
    nonsense: { discovery: () => 'x' },
    'an error': { discoveryStatus: 500 },
  } as Record<string, Lie>))
    it(`whose description has ${what} is unavailable`, async () => {
      await askAnew();
      server.provider.lie = lie;
      const refused = server.hawser.client().get(`/login/oidc/${PROVIDER}`, JSON_ONLY);
      await expectProblem(refused, 503, 'oidc_unavailable', what);
    });

  it('whose keys cannot be had is unavailable', async () => {
    await askAnew();
    const { reply } = await attempt({ jwksStatus: 500 }, JSON_ONLY);
    await expectProblem(reply, 503, 'oidc_unavailable');
  });
});
