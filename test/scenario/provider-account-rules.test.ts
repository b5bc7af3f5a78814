// full: SQLite, PostgreSQL
/** Whose account a sign-in by a provider is, and for how long it and its tokens last, rule by rule. */

import { expect } from 'chai';
import { postForm } from '../support/forms.ts';
import { ADMIN_PASSWORD, createToken, signIn } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import {
  answerOfProvider,
  beginSignIn,
  type Cookies,
  clientWith,
  finishSignIn,
  keepCookies,
  providerIn,
  signInBy,
} from '../support/sign-in-flow.ts';
import { PROVIDER, startSignInServer } from '../support/sign-in-server.ts';
import { started } from '../support/started.ts';
import { allowRows, refuseRows } from '../support/triggers.ts';

const ME = '/api/v1/auth/me';
const LINK = `/login/oidc/${PROVIDER}/link`;
const TOKENS = '/api/v1/auth/tokens';
const PASSWORD = 'a-password-of-a-test-user';
const NEW_PASSWORD = 'another-password-worth-having';
/** Problems where something is wrong, and else a page. */
const EITHER = { Accept: 'application/problem+json, text/html;q=0.5' };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('the account of who signs in by a provider', () => {
  const server = started(() => startSignInServer({ groupsClaim: '/groups' }));

  afterEach(() => server.hawser.clock.advance(MINUTE));

  const person = (name: string, more: Record<string, unknown> = {}) => ({
    ...{ sub: `of-${name}`, preferred_username: name, groups: [] },
    ...more,
  });
  const attempt = async (who: Record<string, unknown>, cookies: Cookies = new Map()) => {
    server.provider.person = { sub: 'nobody', ...who };
    return (await signInBy(server.hawser, PROVIDER, { headers: EITHER, cookies })).reply;
  };
  const bearer = (token: string) => server.hawser.client().with({ Authorization: `Bearer ${token}` });
  const status = async (client: { get(path: string): Promise<{ status: number }> }) =>
    (await client.get(ME)).status;
  const usersNamed = async (name: string) => {
    const users = await ok(200, server.hawser.admin.get('/api/v1/users?take=1000'));
    return users.filter(({ username }: { username: string }) => username === name);
  };
  const identitiesOf = (id: string) => ok(200, server.hawser.admin.get(`/api/v1/users/${id}/identities`));
  const browserOf = ({ session }: { session: string }): Cookies =>
    new Map([session.split('=') as [string, string]]);
  /** Asks for the link by password. @returns the way back from the provider */
  const askForLink = async (cookies: Cookies, name: string) => {
    const reply = await clientWith(server.hawser, cookies).post(LINK, { currentPassword: PASSWORD });
    expect(reply.status, reply.text).to.equal(303);
    keepCookies(cookies, reply);
    server.provider.person = person(name);
    return answerOfProvider(providerIn(reply));
  };
  /** Somebody with a password and an identity. @returns the browser, in which the identity has signed in */
  const makeLinked = async (name: string) => {
    const local = await makeUser(server.hawser, { username: name });
    const cookies = browserOf(local);
    await ok(200, finishSignIn(server.hawser, await askForLink(cookies, name), { cookies }));
    return { ...local, cookies };
  };

  it('is nobody’s who has the same address', async () => {
    const { hawser } = server;
    const local = await makeUser(hawser, { username: 'amy' });
    const email = 'amy@example.org';
    const first = await ok(200, (await server.signIn(person('amy-1', { email }))).get(ME));
    const second = await ok(200, (await server.signIn(person('amy-2', { email }))).get(ME));
    expect(new Set([local.userId, first.userId, second.userId])).to.have.length(3);
    expect([first.username, second.username]).to.deep.equal(['amy-1', 'amy-2']);
    expect(await identitiesOf(local.userId)).to.deep.equal([]);
  });

  it('is nobody’s who has the same name in whatever case, with a password or without', async () => {
    const local = await makeUser(server.hawser, { username: 'ben' });
    await expectProblem(attempt(person('ben')), 409, 'account_name_taken');
    await expectProblem(attempt(person('BEN')), 409, 'account_name_taken');
    expect(await identitiesOf(local.userId)).to.deep.equal([]);
    const { userId } = await ok(200, (await server.signIn(person('Bo'))).get(ME));
    await expectProblem(attempt(person('bo', { sub: 'of-another-bo' })), 409, 'account_name_taken');
    expect(await identitiesOf(userId)).to.have.length(1);
    // Whose subject differs in its case alone is somebody else.
    await expectProblem(attempt(person('bo', { sub: 'OF-BO' })), 409, 'account_name_taken');
  });

  it('is one, whoever signs in for the first time in many windows at once', async () => {
    const { hawser } = server;
    server.provider.person = person('cara');
    const flows = [];
    for (let at = 0; at < 5; at += 1) flows.push(await beginSignIn(hawser, PROVIDER));
    const finished = flows.map(async ({ authorizeUrl, cookies }) =>
      finishSignIn(hawser, await answerOfProvider(authorizeUrl), { cookies }),
    );
    expect((await Promise.all(finished)).map((reply) => reply.status)).to.deep.equal([
      200, 200, 200, 200, 200,
    ]);
    const [cara, ...others] = await usersNamed('cara');
    expect(others).to.deep.equal([]);
    expect(await identitiesOf(cara.id)).to.have.length(1);
    for (const { cookies } of flows)
      expect((await ok(200, clientWith(hawser, cookies).get(ME))).userId).to.equal(cara.id);
  });

  it('is made with all that belongs to it, or not at all', async () => {
    const { hawser } = server;
    const { admin } = hawser;
    const { id: groupId } = await ok(201, admin.post('/api/v1/groups', { name: 'Crew', description: null }));
    const mapping = { provider: PROVIDER, externalGroupId: 'SG-Crew', externalGroupName: null, groupId };
    await ok(201, admin.post('/api/v1/groups/external-mappings', mapping));
    const dora = await server.signIn(person('dora'));
    // The entry of the audit trail is written last.
    await refuseRows(hawser, 'audit_entries');
    try {
      await expectProblem(attempt(person('dirk')), 500, 'internal_error');
      await expectProblem(attempt(person('dora', { groups: ['SG-Crew'] })), 500, 'internal_error');
    } finally {
      await allowRows(hawser, 'audit_entries');
    }
    expect(await usersNamed('dirk')).to.deep.equal([]);
    expect((await ok(200, dora.get(ME))).groups).to.deep.equal([]);
    expect(await ok(200, (await server.signIn(person('dirk'))).get(ME))).to.include({ username: 'dirk' });
  });

  it('gets an identity only for its password, in a session of its own, as JSON or as a form', async () => {
    const { hawser } = server;
    const eva = await makeUser(hawser, { username: 'eva' });
    const right = { currentPassword: PASSWORD };
    await expectProblem(hawser.client().post(LINK, right), 401, 'unauthenticated');
    await expectProblem((await eva.withToken('users.manage')).post(LINK, right), 403, 'session_required');
    const form = (password: string) => postForm(eva.client, LINK, { currentPassword: password }, EITHER);
    await expectProblem(form('not this one'), 400, 'current_password_incorrect');
    expect((await form(PASSWORD)).status).to.equal(303);
    expect((await eva.client.post(LINK, right)).status).to.equal(303);
    // Nobody finds the password out at a session that was left open.
    for (let turn = 0; turn < 27; turn += 1)
      await expectProblem(form(`guess ${turn}`), 400, 'current_password_incorrect');
    await expectProblem(form(PASSWORD), 429, 'rate_limited');
    expect(await identitiesOf(eva.userId)).to.deep.equal([]);
  });

  it('gets the identity once, and whoever signs in next in this browser is somebody else', async () => {
    const { hawser } = server;
    const fred = await makeUser(hawser, { username: 'fred' });
    const cookies = browserOf(fred);
    const callback = await askForLink(cookies, 'fred');
    expect((await finishSignIn(hawser, callback, { cookies, headers: EITHER })).status).to.equal(200);
    const again = finishSignIn(hawser, callback, { cookies, headers: EITHER });
    await expectProblem(again, 400, 'oidc_flow_invalid');
    expect((await attempt(person('gwen'), cookies)).status).to.equal(200);
    expect(await ok(200, clientWith(hawser, cookies).get(ME))).to.include({ username: 'gwen' });
    expect(await identitiesOf(fred.userId)).to.have.length(1);
  });

  it('gets no identity once the session has ended that asked for it, or while it is deactivated', async () => {
    const { hawser } = server;
    const hugo = await makeUser(hawser, { username: 'hugo' });
    const cookies = browserOf(hugo);
    const callback = await askForLink(cookies, 'hugo');
    await ok(204, hugo.client.post('/api/v1/auth/logout'));
    await expectProblem(
      finishSignIn(hawser, callback, { cookies, headers: EITHER }),
      400,
      'oidc_flow_invalid',
    );
    const ivo = await makeUser(hawser, { username: 'ivo' });
    const ofIvo = browserOf(ivo);
    const late = await askForLink(ofIvo, 'ivo');
    const body = { username: 'ivo', email: 'ivo@example.org', isActive: false };
    await ok(200, hawser.admin.put(`/api/v1/users/${ivo.userId}`, body));
    const refused = finishSignIn(hawser, late, { cookies: ofIvo, headers: EITHER });
    await expectProblem(refused, 400, 'oidc_flow_invalid');
    for (const { userId } of [hugo, ivo]) expect(await identitiesOf(userId)).to.deep.equal([]);
  });

  it('that has no password gets one by an administrator, must change it, and links nothing before', async () => {
    const { hawser } = server;
    const jana = await server.signIn(person('jana'));
    const { userId } = await ok(200, jana.get(ME));
    await expectProblem(jana.post(LINK, { currentPassword: PASSWORD }), 400, 'current_password_incorrect');
    const reset = { newPassword: PASSWORD };
    await ok(204, hawser.admin.post(`/api/v1/users/${userId}/reset-password`, reset));
    expect(await status(jana), 'the session by the provider').to.equal(401);
    // Signed in by the provider again, she may do nothing but change it, for which the page has the form.
    const again = await server.signIn(person('jana'));
    await expectProblem(again.get(TOKENS), 403, 'password_change_required');
    const page = await again.get('/login', { Accept: 'text/html' });
    expect(page.text).to.include('action="/login/password"').and.not.include(LINK);
    const session = await signIn(hawser.client(), 'jana', PASSWORD);
    const client = hawser.client().with({ Cookie: session });
    const early = client.post(LINK, { currentPassword: PASSWORD });
    await expectProblem(early, 403, 'password_change_required');
    const wish = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
    await ok(204, client.post('/api/v1/auth/change-password', wish));
    const reply = await client.post(LINK, { currentPassword: NEW_PASSWORD });
    expect(reply.status, reply.text).to.equal(303);
    expect((await ok(200, (await server.signIn(person('jana'))).get(ME))).userId).to.equal(userId);
  });

  it('shows by what somebody is signed in', async () => {
    const { hawser } = server;
    const kurt = await makeLinked('kurt');
    const by = async (client: ReturnType<typeof bearer>) => (await ok(200, client.get(ME))).authProvider;
    expect(await by(clientWith(hawser, kurt.cookies))).to.equal(PROVIDER);
    const session = await signIn(hawser.client(), 'kurt', PASSWORD);
    expect(await by(hawser.client().with({ Cookie: session }))).to.equal('Local');
    expect(await by(bearer(await createToken(hawser.client(), session, [])))).to.equal('Local');
  });

  it('loses a session by the provider after eight hours without use, and one by password never while used', async () => {
    const { hawser } = server;
    const idle = await server.signIn(person('lena'));
    const busy = await makeUser(hawser, { username: 'mark' });
    hawser.clock.advance(8 * HOUR - MINUTE);
    expect(await status(busy.client)).to.equal(200);
    hawser.clock.advance(2 * MINUTE);
    expect(await status(idle)).to.equal(401);
    for (let hours = 8; hours < 24; hours += 4) {
      hawser.clock.advance(4 * HOUR);
      expect(await status(busy.client), `after ${hours} hours`).to.equal(200);
    }
  });

  it('keeps its tokens without any sign-in where it has a password, or is a service account', async () => {
    const { hawser } = server;
    const nele = await makeLinked('nele');
    const wish = { name: 'a', scopes: [], expiresAt: null };
    const { token } = await ok(201, clientWith(hawser, nele.cookies).post(TOKENS, wish));
    const robot = { username: 'robot', email: 'robot@example.org', accountType: 'ServiceAccount' };
    const { id } = await ok(201, hawser.admin.post('/api/v1/users', robot));
    const session = await signIn(hawser.client(), 'admin', ADMIN_PASSWORD);
    const admin = hawser.client().with({ Cookie: session });
    const made = await ok(201, admin.post(`/api/v1/users/${id}/tokens`, wish));
    hawser.clock.advance(40 * DAY);
    expect([await status(bearer(token)), await status(bearer(made.token))]).to.deep.equal([200, 200]);
  });
});
