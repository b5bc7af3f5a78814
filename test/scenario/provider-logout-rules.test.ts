// full: SQLite
/** How sessions by a provider end: here, at the provider, and by an administrator, rule by rule. */

import { expect } from 'chai';
import type { Client } from '../support/client.ts';
import { postForm } from '../support/forms.ts';
import { signIn } from '../support/hawser.ts';
import { later } from '../support/later.ts';
import { makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import {
  answerOfProvider,
  clientWith,
  finishSignIn,
  keepCookies,
  providerIn,
} from '../support/sign-in-flow.ts';
import { PROVIDER, PUBLIC_URL, startSignInServer } from '../support/sign-in-server.ts';
import type { Signing } from '../support/signing-keys.ts';
import { started } from '../support/started.ts';

const ME = '/api/v1/auth/me';
const LOGOUT = `/login/oidc/${PROVIDER}/backchannel-logout`;
const PASSWORD = 'a-password-of-a-test-user';
const MINUTE = 60_000;
const NOW = () => Math.floor(Date.now() / 1_000);

describe('the end of a session by a provider', () => {
  const server = started(startSignInServer);

  // The provider's clock is that of the machine, so no test moves that of the server.

  const enter = (name: string) => server.signIn({ sub: `of-${name}`, preferred_username: name });
  const statusOf = async (client: Client) => (await client.get(ME)).status;
  const statuses = (...clients: Client[]) => Promise.all(clients.map(statusOf));
  /** A logout token with these claims in place of the honest ones. */
  const logOut = async (claims: Record<string, unknown>, signing?: Signing) =>
    postForm(server.hawser.client(), LOGOUT, {
      logout_token: await server.provider.logoutToken(claims, signing),
    });
  /** Somebody with a password and an identity. @returns the sessions by both */
  const enterByBoth = async (name: string) => {
    const { hawser, provider } = server;
    const local = await makeUser(hawser, { username: name });
    const cookies = new Map([local.session.split('=') as [string, string]]);
    const asked = await local.client.post(`/login/oidc/${PROVIDER}/link`, { currentPassword: PASSWORD });
    keepCookies(cookies, asked);
    provider.person = { sub: `of-${name}`, preferred_username: name };
    await ok(200, finishSignIn(hawser, await answerOfProvider(providerIn(asked)), { cookies }));
    const session = await signIn(hawser.client(), name, PASSWORD);
    const byPassword = hawser.client().with({ Cookie: session });
    return { userId: local.userId, byPassword, byProvider: clientWith(hawser, cookies) };
  };

  it('comes for all sessions of the subject that a logout token names, and for nobody else’s', async () => {
    const { byPassword, byProvider } = await enterByBoth('ann');
    const second = await enter('ann');
    const other = await enter('ben');
    const reply = await logOut({ sub: 'of-ann' });
    expect(await ok(200, reply)).to.deep.equal({});
    expect(reply.headers['cache-control']).to.equal('no-store');
    expect(await statuses(byProvider, second, byPassword, other)).to.deep.equal([401, 401, 200, 200]);
    await ok(200, logOut({ sub: 'of-nobody' }));
    expect(await statuses(byPassword, other)).to.deep.equal([200, 200]);
  });

  it('comes for one session alone where the token names that of the provider', async () => {
    const first = await enter('cid');
    const sid = server.provider.sessionId;
    const second = await enter('cid');
    await ok(200, logOut({ sub: undefined, sid }));
    expect(await statuses(first, second)).to.deep.equal([401, 200]);
    const { sessionId } = server.provider;
    await ok(200, logOut({ sub: 'of-cid', sid: 'another' }));
    await ok(200, logOut({ sub: 'of-dan', sid: sessionId }));
    expect(await statusOf(second)).to.equal(200);
    await ok(200, logOut({ sub: 'of-cid', sid: sessionId }));
    expect(await statusOf(second)).to.equal(401);
  });

  it('does not come for sessions that were begun after the token was made', async () => {
    const eli = await enter('eli');
    await ok(200, logOut({ sub: 'of-eli', iat: NOW() - 10 }));
    expect(await statusOf(eli)).to.equal(200);
    await ok(200, logOut({ sub: 'of-eli', iat: NOW() + 1.234_567_8, exp: NOW() + 60.000_1 }));
    expect(await statusOf(eli)).to.equal(401);
  });

  it('comes by each token once', async () => {
    const { provider, hawser } = server;
    const first = await enter('fay');
    const form = { logout_token: await provider.logoutToken({ sub: 'of-fay', iat: NOW() + 20 }) };
    const sent = await Promise.all([1, 2, 3].map(() => postForm(hawser.client(), LOGOUT, form)));
    expect(sent.map(({ status }) => status).sort()).to.deep.equal([200, 400, 400]);
    const second = await enter('fay');
    await expectProblem(postForm(hawser.client(), LOGOUT, form), 400, 'oidc_flow_invalid');
    expect(await statuses(first, second)).to.deep.equal([401, 200]);
  });

  const refused: Record<string, [claims: Record<string, unknown>, signing?: Signing]> = {
    'of another issuer': [{ iss: 'https://other.example.org' }],
    'for another client': [{ aud: 'other' }],
    'without a time': [{ iat: undefined }],
    'without an id': [{ jti: undefined }],
    'whose id is no text': [{ jti: 7 }],
    'that names nobody': [{ sub: undefined }],
    'whose subject is no text': [{ sub: 7 }],
    'whose session is no text': [{ sid: 7 }],
    'whose session has U+0000': [{ sid: 'a\0' }],
    'without events': [{ events: undefined }],
    'of another event': [{ events: { 'http://schemas.openid.net/event/other': {} } }],
    'that is an ID token': [{ nonce: 'x' }],
    'that has ended': [{ exp: 1 }],
    'with a forged signature': [{}, { signWith: 'other' }],
    'without a signature': [{}, { signWith: 'none' }],
    'with the secret as key': [{}, { signWith: 'hmac' }],
    'with the public key as secret': [{}, { signWith: 'hmac-by-public-key' }],
    'with another subject than was signed': [{ sub: 'x' }, { alter: (all) => ({ ...all, sub: 'of-gus' }) }],
  };
  it('comes by no token that fails a check', async () => {
    const gus = await enter('gus');
    for (const [what, [claims, signing]] of Object.entries(refused))
      await expectProblem(logOut({ sub: 'of-gus', ...claims }, signing), 400, 'oidc_flow_invalid', what);
    const { hawser } = server;
    for (const token of ['', 'a.b.c', 'x'])
      await expectProblem(
        postForm(hawser.client(), LOGOUT, { logout_token: token }),
        400,
        'oidc_flow_invalid',
      );
    await expectInvalid(postForm(hawser.client(), LOGOUT, {}));
    const elsewhere = postForm(hawser.client(), '/login/oidc/other/backchannel-logout', {
      logout_token: 'x',
    });
    await expectProblem(elsewhere, 404, 'not_found');
    expect(await statusOf(gus)).to.equal(200);
  });

  it('comes by keys that have changed, once a minute has passed since they were fetched', async () => {
    const { provider } = server;
    const hal = await enter('hal');
    await ok(200, logOut({ sub: 'of-nobody' }));
    await provider.rotateKeys();
    await expectProblem(logOut({ sub: 'of-hal' }), 400, 'oidc_flow_invalid');
    await later(MINUTE + 1_000, async () => {
      await ok(200, logOut({ sub: 'of-hal' }));
      expect(await statusOf(hal)).to.equal(401);
    });
    await server.change({});
  });

  it('comes where an administrator removes the identity, and leaves the sessions by password', async () => {
    const { hawser } = server;
    const { userId, byPassword, byProvider } = await enterByBoth('ida');
    const other = await enter('jon');
    const { userId: jon } = await ok(200, other.get(ME));
    const path = `/api/v1/users/${userId}/identities`;
    const [identity] = await ok(200, hawser.admin.get(path));
    expect(identity).to.have.all.keys('id', 'provider', 'issuer', 'subject', 'lastSignInAt', 'createdAt');
    await expectProblem(
      hawser.admin.delete(`/api/v1/users/${jon}/identities/${identity.id}`),
      404,
      'not_found',
    );
    await expectProblem(byPassword.delete(`${path}/${identity.id}`), 403, 'forbidden');
    expect(await statuses(byProvider, byPassword)).to.deep.equal([200, 200]);
    await ok(204, hawser.admin.delete(`${path}/${identity.id}`));
    expect(await statuses(byProvider, byPassword, other)).to.deep.equal([401, 200, 200]);
    expect(await ok(200, hawser.admin.get(path))).to.deep.equal([]);
  });

  it('comes here first, and then leads to the page of the provider, where it has one', async () => {
    const { hawser, provider } = server;
    const signOutPage = async (client: Client) => {
      const out = await client.call('POST', '/login/sign-out', {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'text/html' },
        body: '',
      });
      expect(out.status, out.text).to.equal(303);
      expect(out.headers['location']).to.equal(`/login?signedOut=${PROVIDER}`);
      expect(await statusOf(client)).to.equal(401);
      return (await hawser.client().get(String(out.headers['location']), { Accept: 'text/html' })).text;
    };
    const back = encodeURIComponent(`${PUBLIC_URL}/login`);
    const address = `${provider.issuer}/logout?client_id=hawser&#38;post_logout_redirect_uri=${back}`;
    expect(await signOutPage(await enter('kim'))).to.include(`href="${address}"`);
    provider.lie = { discovery: (honest) => ({ ...honest, end_session_endpoint: undefined }) };
    await server.change({});
    const page = await signOutPage(await enter('kim'));
    expect(page).to.include('You are signed out here.').and.not.include('/logout');
    provider.lie = { discovery: (honest) => ({ ...honest, end_session_endpoint: 'javascript:alert(1)' }) };
    await server.change({});
    expect(await signOutPage(await enter('kim'))).to.not.include('javascript:');
    provider.lie = {};
    await server.change({});
  });
});
