// full: SQLite
/** People sign in by the identity provider of their company. */

import { expect } from 'chai';
import { auditedDuring } from '../support/audit.ts';
import { postForm } from '../support/forms.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import {
  answerOfProvider,
  beginSignIn,
  clientWith,
  finishSignIn,
  keepCookies,
  providerIn,
  signInBy,
} from '../support/sign-in-flow.ts';
import { PROVIDER, PUBLIC_URL, startSignInServer } from '../support/sign-in-server.ts';
import { started } from '../support/started.ts';

const ME = '/api/v1/auth/me';
const PASSWORD = 'a-password-of-a-test-user';
const HOUR = 3_600_000;

describe('signing in by a provider', () => {
  const server = started(startSignInServer);

  const json = { Accept: 'application/problem+json' };
  const userNamed = async (name: string) => {
    const users = await ok(200, server.hawser.admin.get('/api/v1/users?take=100'));
    return users.find(({ username }: { username: string }) => username === name);
  };

  it('is offered by the sign-in page, and by a list', async () => {
    const { hawser } = server;
    const listed = await ok(200, hawser.client().get('/api/v1/auth/providers'));
    expect(listed).to.deep.equal([{ name: PROVIDER, label: 'Example Corp' }]);
    const page = await hawser.client().get('/login?next=/ui/nodes', { Accept: 'text/html' });
    expect(page.text).to.include(`href="/login/oidc/${PROVIDER}?returnTo=%2Fui%2Fnodes"`);
    expect(page.text).to.include('Sign in with Example Corp');
  });

  it('makes a user without a password at the first time, and goes on to where one wanted to go', async () => {
    const { hawser, provider } = server;
    provider.person = { sub: 'of-bea', preferred_username: 'bea', email: 'bea@example.org' };
    const entries = await auditedDuring(hawser, async () => {
      const { reply, cookies, authorizeUrl } = await signInBy(hawser, PROVIDER, {
        returnTo: '/ui/nodes?q=1',
      });
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.headers['content-type']).to.match(/^text\/html/);
      expect(reply.text).to.include('url=/ui/nodes?q=1"');
      expect(reply.headers['cache-control']).to.equal('no-store');
      expect(authorizeUrl.searchParams.get('redirect_uri')).to.equal(
        `${PUBLIC_URL}/login/oidc/${PROVIDER}/callback`,
      );
      expect(authorizeUrl.searchParams.get('code_challenge_method')).to.equal('S256');
      const me = await ok(200, clientWith(hawser, cookies).get(ME));
      expect(me).to.include({ username: 'bea', email: 'bea@example.org', authProvider: PROVIDER });
      expect(me.permissions).to.deep.equal([]);
    });
    expect(entries.map(({ action }) => action)).to.deep.equal([
      'user.created',
      'identity.linked',
      'session.created',
    ]);
    const { id } = await userNamed('bea');
    const [identity, ...others] = await ok(200, hawser.admin.get(`/api/v1/users/${id}/identities`));
    expect(others).to.deep.equal([]);
    expect(identity).to.include({ provider: PROVIDER, issuer: provider.issuer, subject: 'of-bea' });
  });

  it('finds the user by issuer and subject alone, whatever the name has become', async () => {
    const { hawser } = server;
    await server.signIn({ sub: 'of-cem', preferred_username: 'cem', email: 'cem@example.org' });
    const again = await server.signIn({
      sub: 'of-cem',
      preferred_username: 'bea',
      email: 'other@example.org',
    });
    expect(await ok(200, again.get(ME))).to.include({ username: 'cem', email: 'cem@example.org' });
    server.provider.person = { sub: 'of-somebody-else', preferred_username: 'cem', email: 'cem@example.org' };
    const { reply } = await signInBy(hawser, PROVIDER, { headers: json });
    await expectProblem(reply, 409, 'account_name_taken');
    const page = (await signInBy(hawser, PROVIDER)).reply;
    expect(page.status).to.equal(409);
    expect(page.text).to.include('data-code="account_name_taken"');
  });

  it('of an account with a password needs that password once, in the same browser', async () => {
    const { hawser, provider } = server;
    const dan = await makeUser(hawser, { username: 'dan' });
    provider.person = { sub: 'of-dan', preferred_username: 'dan' };
    const cookies = new Map([dan.session.split('=') as [string, string]]);
    const path = `/login/oidc/${PROVIDER}/link`;
    const asForm = await postForm(
      dan.client,
      path,
      { currentPassword: 'not this one' },
      { Accept: 'text/html' },
    );
    expect(asForm.text).to.include('<details open><summary>Sign in with Example Corp from now on');
    expect(asForm.text).to.include('<details><summary>Change the password');
    const reply = await dan.client.post(path, { currentPassword: PASSWORD });
    expect(reply.status, reply.text).to.equal(303);
    keepCookies(cookies, reply);
    const callback = await answerOfProvider(providerIn(reply));
    await expectProblem(finishSignIn(hawser, callback, { headers: json }), 400, 'oidc_flow_invalid');
    expect((await finishSignIn(hawser, callback, { cookies })).status).to.equal(200);
    expect(await ok(200, clientWith(hawser, cookies).get(ME))).to.include({
      username: 'dan',
      authProvider: PROVIDER,
    });
    expect((await ok(200, (await server.signIn()).get(ME))).userId).to.equal(dan.userId);
    const eve = await makeUser(hawser, { username: 'eve' });
    const taken = await eve.client.post(path, { currentPassword: PASSWORD });
    const ofEve = new Map([eve.session.split('=') as [string, string]]);
    keepCookies(ofEve, taken);
    const back = await answerOfProvider(providerIn(taken));
    await expectProblem(finishSignIn(hawser, back, { cookies: ofEve, headers: json }), 409, 'identity_taken');
  });

  it('ends for who is deactivated, and never activates anybody', async () => {
    const { hawser } = server;
    const fay = await server.signIn({ sub: 'of-fay', preferred_username: 'fay' });
    const { id, username, email } = await userNamed('fay');
    const body = { username, email, isActive: false };
    await ok(200, hawser.admin.put(`/api/v1/users/${id}`, body));
    expect((await fay.get(ME)).status).to.equal(401);
    const { reply } = await signInBy(hawser, PROVIDER, { headers: json });
    await expectProblem(reply, 403, 'oidc_not_allowed');
    expect((await userNamed('fay')).isActive).to.equal(false);
  });

  it('finishes each of several flows of a browser, once, within ten minutes', async () => {
    const { hawser, provider } = server;
    provider.person = { sub: 'of-gil', preferred_username: 'gil' };
    const cookies = new Map<string, string>();
    const flows = [];
    for (const returnTo of ['/ui/one', '/ui/two', 'https://evil.example', '/api/v1/auth/logout-redirect'])
      flows.push((await beginSignIn(hawser, PROVIDER, { returnTo, cookies })).authorizeUrl);
    const callbacks = await Promise.all(flows.map(answerOfProvider));
    // Mail filters and the like look ahead at addresses.
    for (const { pathname, search } of callbacks) {
      const looked = await clientWith(hawser, cookies).call('HEAD', pathname + search);
      expect([looked.status, looked.headers['set-cookie']]).to.deep.equal([400, undefined]);
    }
    const replies = await Promise.all(
      callbacks.map((callback) => finishSignIn(hawser, callback, { cookies })),
    );
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    const targets = replies.map(({ text }) => /url=([^"]*)"/.exec(text)?.[1]);
    expect(targets).to.deep.equal(['/ui/one', '/ui/two', '/ui/', '/ui/']);
    expect(await userNamed('gil')).to.include({ accountType: 'User' });
    const again = finishSignIn(hawser, callbacks[0] as URL, { cookies, headers: json });
    await expectProblem(again, 400, 'oidc_flow_invalid');
    const late = await beginSignIn(hawser, PROVIDER, { cookies });
    const callback = await answerOfProvider(late.authorizeUrl);
    hawser.clock.advance(10 * 60_000 + 1);
    await expectProblem(finishSignIn(hawser, callback, { cookies, headers: json }), 400, 'oidc_flow_invalid');
  });

  it('lasts twelve hours in all, and its end here comes before that at the provider', async () => {
    const { hawser, provider } = server;
    const hal = await server.signIn({ sub: 'of-hal', preferred_username: 'hal' });
    const other = await server.signIn();
    const out = await other.get('/api/v1/auth/logout-redirect');
    expect(out.headers['location']).to.equal(`/login?signedOut=${PROVIDER}`);
    const page = await hawser.client().get(String(out.headers['location']), { Accept: 'text/html' });
    expect(page.text).to.include(`${provider.issuer}/logout?client_id=`);
    expect((await other.get(ME)).status).to.equal(401);
    for (let hour = 0; hour < 11; hour += 1) {
      hawser.clock.advance(HOUR);
      expect((await hal.get(ME)).status, `after ${hour + 1} hours`).to.equal(200);
    }
    hawser.clock.advance(HOUR + 1);
    expect((await hal.get(ME)).status).to.equal(401);
  });

  it('is needed for tokens of who has no password here', async () => {
    const { hawser } = server;
    const ida = await server.signIn({ sub: 'of-ida', preferred_username: 'ida' });
    const { token } = await ok(
      201,
      ida.post('/api/v1/auth/tokens', { name: 'a', scopes: [], expiresAt: null }),
    );
    const own = hawser.client().with({ Authorization: `Bearer ${token}` });
    const statuses = async () =>
      Promise.all([own, hawser.admin].map(async (client) => (await client.get(ME)).status));
    expect(await statuses()).to.deep.equal([200, 200]);
    hawser.clock.advance(30 * 24 * HOUR + 1);
    expect(await statuses()).to.deep.equal([401, 200]);
    await server.signIn();
    expect(await statuses()).to.deep.equal([200, 200]);
  });

  it('ends where the provider is taken out of the file, and so do tokens of who has no password here', async () => {
    const { hawser } = server;
    const kim = await server.signIn({ sub: 'of-kim', preferred_username: 'kim' });
    const { token } = await ok(201, kim.post('/api/v1/auth/tokens', { name: 'a', scopes: [] }));
    const all = [kim, hawser.client().with({ Authorization: `Bearer ${token}` }), hawser.admin];
    const statuses = () => Promise.all(all.map(async (client) => (await client.get(ME)).status));
    expect(await statuses()).to.deep.equal([200, 200, 200]);
    await server.change({ name: 'another' });
    expect(await statuses()).to.deep.equal([401, 401, 200]);
    await server.change({});
    expect(await statuses()).to.deep.equal([200, 200, 200]);
  });
});
