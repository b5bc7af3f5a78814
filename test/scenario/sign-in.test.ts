// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { HOUR, MINUTE, SECOND } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Reply } from '../support/client.ts';
import { withDatabase } from '../support/database.ts';
import { ADMIN_PASSWORD, signIn, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem } from '../support/replies.ts';
import { started } from '../support/started.ts';

const LOGIN = '/api/v1/auth/login';
const ME = '/api/v1/auth/me';

/** All that tells one refusal from another, to somebody who watches closely. */
function visible({ status, headers, text }: Reply) {
  const { date, 'x-request-id': requestId, ...others } = headers;
  expect(date).to.be.a('string');
  expect(requestId).to.be.a('string');
  return { status, text, headers: others };
}

describe('signing in', () => {
  const hawser = started(startHawser);
  const login = (username: unknown, password: unknown = ADMIN_PASSWORD) =>
    hawser.client().post(LOGIN, { username, password });

  // Each test has the attempts of a fresh minute.
  beforeEach(() => hawser.clock.advance(MINUTE + SECOND));

  it('answers who signed in and sets a cookie that scripts and other sites cannot use', async () => {
    const reply = await login('admin');
    expect(reply.status).to.equal(200);
    expect(reply.json).to.have.all.keys('userId', 'username', 'email', 'requirePasswordChange');
    expect(reply.json).to.include({ username: 'admin', requirePasswordChange: false });
    expect(reply.json.userId).to.match(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(reply.json.email).to.be.a('string');
    const cookies = reply.headers['set-cookie'] as string[];
    expect(cookies).to.have.length(1);
    const [pair, ...flags] = (cookies[0] ?? '').split('; ');
    expect(pair).to.match(/^hawser_session=[A-Za-z0-9_-]{43}$/);
    expect(flags).to.have.members(['Path=/', 'Max-Age=28800', 'HttpOnly', 'Secure', 'SameSite=Strict']);
    expect(reply.headers['cache-control']).to.equal('no-store');
  });

  it('takes the user name in any case, and a look-alike that Unicode holds for the same, and no other', async () => {
    for (const name of ['ADMIN', 'ＡＤＭＩＮ', 'ⓐⓓⓜⓘⓝ']) {
      const reply = await login(name);
      expect(reply.status, name).to.equal(200);
      expect(reply.json.username).to.equal('admin');
    }
    // A Cyrillic а, a Greek one, blanks around it.
    for (const name of ['аdmin', 'αdmin', ' admin', 'admin ']) {
      expect((await login(name)).status, name).to.equal(401);
    }
  });

  it('refuses for every cause in the same words, so that none can be told from another', async () => {
    await makeUser(hawser, { username: 'asleep', permissions: [] });
    await makeUser(hawser, { username: 'locked', permissions: [] });
    await withDatabase(hawser, async ({ write }) => {
      const now = hawser.clock.now();
      await write.updateTable('users').set({ is_active: 0 }).where('username', '=', 'asleep').execute();
      const lockout = { lockout_end: now + MINUTE };
      await write.updateTable('users').set(lockout).where('username', '=', 'locked').execute();
      const [row] = await write.selectFrom('users').selectAll().where('username', '=', 'asleep').execute();
      if (!row) throw new Error('no such user');
      const robot = { id: newId(), username: 'robot', username_key: 'robot', is_active: 1 };
      await write
        .insertInto('users')
        .values({ ...row, ...robot, account_type: 'ServiceAccount', password_hash: null })
        .execute();
    });
    const good = 'a-password-of-a-test-user';
    const attempts: [username: string, password?: string][] = [
      ['nobody-of-this-name'],
      ['admin', 'a-wrong-password'],
      ['asleep', good],
      ['locked', good],
      ['robot', good],
      ["admin' or 1=1 --"],
      ['admin\r\nSet-Cookie: hawser_session=x'],
      ['admin\u0000'],
      ['\ud800'],
      ['%'],
    ];
    const refused: Reply[] = [];
    // One by one: of one address four may wait.
    for (const attempt of attempts) refused.push(await login(...attempt));
    const [first, ...others] = refused.map(visible);
    expect(first?.status).to.equal(401);
    expect(refused[0]?.json).to.include({ code: 'invalid_credentials', status: 401, type: 'about:blank' });
    expect(first?.headers).to.have.property('www-authenticate');
    expect(first?.headers).to.not.have.property('set-cookie');
    for (const other of others) expect(other).to.deep.equal(first);
  });

  it('locks an account after five failures for fifteen minutes, across a restart', async () => {
    await makeUser(hawser, { username: 'anna', permissions: [] });
    const good = 'a-password-of-a-test-user';
    const fail = (times: number) =>
      Promise.all(Array.from({ length: times }, () => login('anna', 'a-wrong-password')));
    await fail(4);
    expect((await login('anna', good)).status, 'after four').to.equal(200);
    await fail(5);
    expect((await login('anna', good)).status, 'while locked').to.equal(401);
    await hawser.restart();
    expect((await login('anna', good)).status, 'after a restart').to.equal(401);
    expect((await login('admin')).status, 'somebody else').to.equal(200);
    // The clock goes on by itself too: what is left of the quarter must outlast the restart on a busy machine.
    hawser.clock.advance(13 * MINUTE);
    expect((await login('anna', good)).status, 'before the end').to.equal(401);
    hawser.clock.advance(2 * MINUTE + 10 * SECOND);
    expect((await login('anna', good)).status, 'after fifteen minutes').to.equal(200);
  });

  it('answers 429 with Retry-After to the thirty-first attempt of a minute, right or wrong', async () => {
    expect((await login('nobody-of-this-name')).status, 'the first').to.equal(401);
    // Thirty hashes would take seconds; those between the first and the last are put in by hand.
    await withDatabase(hawser, ({ write }) =>
      write.updateTable('login_attempts').set({ attempts: 29 }).execute(),
    );
    expect((await login('nobody-of-this-name')).status, 'the thirtieth').to.equal(401);
    const refused = await expectProblem(login('admin'), 429, 'rate_limited');
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).to.be.within(1, 60);
    hawser.clock.advance(seconds * SECOND);
    expect((await login('admin')).status).to.equal(200);
  });

  it('refuses bodies that are no sign-in', async () => {
    const faults: [unknown, string][] = [
      [{}, '/username'],
      [{ username: 'admin' }, '/password'],
      [{ username: 5, password: 'x' }, '/username'],
      [{ username: 'admin', password: { $ne: null } }, '/password'],
      [{ username: 'admin', password: ADMIN_PASSWORD, remember: true }, '/remember'],
      [{ username: 'x'.repeat(257), password: ADMIN_PASSWORD }, '/username'],
    ];
    for (const [body, path] of faults) {
      const reply = await expectInvalid(hawser.client().post(LOGIN, body), undefined, path);
      expect(reply.json.errors.map((error: { path: string }) => error.path)).to.include(path);
    }
  });

  it('refuses a password of a megabyte before it is counted as an attempt, and so before any hashing', async () => {
    const attempts = () =>
      withDatabase(hawser, ({ read }) => read.selectFrom('login_attempts').selectAll().execute());
    const before = await attempts();
    for (const password of ['x'.repeat(1_025), 'x'.repeat(1_000_000)]) {
      await expectInvalid(login('admin', password), '/password');
    }
    expect((await login('admin', 'x'.repeat(1024 ** 2))).status, 'beyond any body').to.equal(413);
    expect(await attempts()).to.deep.equal(before);
  });

  it('never writes a password to the log or repeats it in an answer', async () => {
    const secret = 'a-password-typed-by-mistake';
    const answers = [await login('admin', secret), await login(secret, secret), await login(secret, 7)];
    for (const { text } of answers) expect(text).to.not.include(secret);
    expect(hawser.log()).to.not.include(secret).and.not.include(ADMIN_PASSWORD);
  });
});

describe('a session', () => {
  const hawser = started(startHawser);
  const me = (cookie: string) => hawser.client().get(ME, { Cookie: cookie });

  beforeEach(() => hawser.clock.advance(MINUTE + SECOND));

  it('tells who its user is and what the user may do', async () => {
    const reply = await me(hawser.session);
    expect(reply.status).to.equal(200);
    expect(reply.json).to.include({
      username: 'admin',
      accountType: 'User',
      authProvider: 'Local',
      authMethod: 'Session',
      requirePasswordChange: false,
    });
    expect(reply.json).to.have.all.keys(
      ...['userId', 'username', 'email', 'accountType', 'roles', 'groups', 'permissions'],
      ...['authProvider', 'authMethod', 'requirePasswordChange', 'freeze'],
    );
    expect(reply.json.roles).to.deep.equal(['Administrator']);
    expect(reply.json.groups).to.deep.equal([]);
    expect(reply.json.permissions).to.have.length(22);
    expect(reply.headers['etag']).to.be.a('string');
  });

  it('slides: used within its eight hours it goes on, left alone it ends', async () => {
    const cookie = await signIn(hawser.client(), 'admin', ADMIN_PASSWORD);
    hawser.clock.advance(7 * HOUR);
    const used = await me(cookie);
    expect(used.status).to.equal(200);
    expect(String(used.headers['set-cookie'])).to.include(cookie).and.include('Max-Age=28800');
    hawser.clock.advance(7 * HOUR);
    expect((await me(cookie)).status, 'seven hours after its last use').to.equal(200);
    hawser.clock.advance(8 * HOUR + SECOND);
    await expectProblem(me(cookie), 401, 'unauthenticated', 'eight hours after its last use');
  });

  it('ends eight hours after its last use, however often an open page looks for changes meanwhile', async () => {
    const cookie = await signIn(hawser.client(), 'admin', ADMIN_PASSWORD);
    for (let hours = 0; hours < 7; hours += 1) {
      hawser.clock.advance(HOUR);
      const page = await hawser.client().get('/login', { Cookie: cookie, 'X-Hawser-Poll': '1' });
      const reply = await hawser.client().get(ME, { Cookie: cookie, 'X-Hawser-Poll': '1' });
      expect(reply.status).to.equal(200);
      for (const { headers } of [page, reply]) expect(headers).to.not.have.property('set-cookie');
    }
    hawser.clock.advance(HOUR - MINUTE);
    const ofAnother = await hawser.client().get(ME, { Cookie: cookie, 'X-Hawser-Poll': '0' });
    expect(ofAnother.headers).to.have.property('set-cookie');
    hawser.clock.advance(8 * HOUR - MINUTE);
    const poll = { Cookie: cookie, 'X-Hawser-Poll': '1' };
    expect((await hawser.client().get(ME, poll)).status).to.equal(200);
    hawser.clock.advance(MINUTE + SECOND);
    expect((await hawser.client().get(ME, poll)).status).to.equal(401);
  });

  it('survives a restart of the server', async () => {
    const cookie = await signIn(hawser.client(), 'admin', ADMIN_PASSWORD);
    await hawser.restart();
    expect((await me(cookie)).status).to.equal(200);
  });

  it('ends on the server at sign-out: a cookie kept aside opens nothing any more', async () => {
    const cookie = await signIn(hawser.client(), 'admin', ADMIN_PASSWORD);
    const other = await signIn(hawser.client(), 'admin', ADMIN_PASSWORD);
    const reply = await hawser.client().with({ Cookie: cookie }).post('/api/v1/auth/logout');
    expect(reply.status).to.equal(204);
    expect(String(reply.headers['set-cookie'])).to.match(/^hawser_session=; .*Max-Age=0/);
    expect((await me(cookie)).status).to.equal(401);
    expect((await me(other)).status, 'another session of the same user').to.equal(200);
    const again = await hawser.client().with({ Cookie: cookie }).post('/api/v1/auth/logout');
    expect(again.status).to.equal(401);
  });

  it('ends at logout-redirect, which sends the browser to the sign-in page', async () => {
    const cookie = await signIn(hawser.client(), 'admin', ADMIN_PASSWORD);
    const reply = await hawser.client().get('/api/v1/auth/logout-redirect', { Cookie: cookie });
    expect(reply.status).to.equal(302);
    expect(reply.headers['location']).to.equal('/login');
    expect(String(reply.headers['set-cookie'])).to.include('Max-Age=0');
    expect((await me(cookie)).status).to.equal(401);
  });

  it('stays open when logout-redirect is only asked for its headers', async () => {
    const cookie = await signIn(hawser.client(), 'admin', ADMIN_PASSWORD);
    const path = '/api/v1/auth/logout-redirect';
    const reply = await hawser.client().call('HEAD', path, { headers: { Cookie: cookie } });
    expect(reply.status).to.equal(302);
    expect(reply.headers['location']).to.equal('/login');
    expect(reply.headers['set-cookie'], 'the browser would forget it').to.equal(undefined);
    expect((await me(cookie)).status).to.equal(200);
  });

  it('is not opened by what resembles its cookie', async () => {
    const cookie = await signIn(hawser.client(), 'admin', ADMIN_PASSWORD);
    const secret = cookie.split('=')[1] ?? '';
    const forged = [
      `hawser_session=${secret.slice(0, -1)}`,
      `hawser_session=${secret}x`,
      `hawser_session=${secret.toLowerCase()}`,
      `xhawser_session=${secret}`,
      `hawser_session="${secret}"`,
      'hawser_session=',
    ];
    for (const other of forged) expect((await me(other)).status, other).to.equal(401);
    expect((await me(`theme=dark; ${cookie}; lang=de`)).status).to.equal(200);
  });
});
