// everyday: SQLite
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MINUTE, SECOND } from '../../src/lib/clock.ts';
import { makeClient, type Reply } from '../support/client.ts';
import { withDatabase } from '../support/database.ts';
import { ADMIN_PASSWORD, signIn, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { type Spawned, spawnHawser } from '../support/spawned.ts';
import { started } from '../support/started.ts';

const PAGE = '/login';
const ME = '/api/v1/auth/me';
const GOOD = 'a-password-of-a-test-user';

/** What browsers send with a form of the page itself. */
const BROWSER = {
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Sec-Fetch-Site': 'same-origin',
};
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

describe('the sign-in page', () => {
  const hawser = started(startHawser);

  // Sign-ins are limited by the minute.
  beforeEach(() => hawser.clock.advance(MINUTE + SECOND));

  const show = (cookie?: string) =>
    hawser.client().get(PAGE, { ...BROWSER, ...(cookie === undefined ? {} : { Cookie: cookie }) });
  const post = (
    path: string,
    fields: Record<string, string> | string,
    headers: Record<string, string> = {},
  ) =>
    hawser.client().call('POST', path, {
      body: String(new URLSearchParams(fields)),
      headers: { ...BROWSER, ...FORM, ...headers },
    });
  const login = (username: string, password: string, headers?: Record<string, string>) =>
    post(PAGE, { username, password }, headers);
  const cookieOf = (reply: Reply) => String(reply.headers['set-cookie']).split(';', 1)[0] ?? '';
  /** All that a reader of the page sees, in one line. */
  const textOf = ({ text }: Reply) =>
    text
      .replace(/<style>.*<\/style>/s, '')
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ');
  const expectPage = (reply: Reply, status: number, ...texts: string[]) => {
    expect(reply.status, reply.text).to.equal(status);
    expect(reply.headers['content-type']).to.equal('text/html; charset=utf-8');
    expect(reply.headers['cache-control']).to.equal('no-store');
    for (const text of texts) expect(textOf(reply)).to.include(text);
  };
  const mustChange = (username: string) =>
    withDatabase(hawser, ({ write }) =>
      write
        .updateTable('users')
        .set({ require_password_change: 1 })
        .where('username', '=', username)
        .execute(),
    );

  it('signs in with a plain form, and then says who is signed in', async () => {
    const empty = await show();
    expectPage(empty, 200, 'User name', 'Password', 'Sign in');
    expect(empty.text).to.include('<form method="post" action="/login">').and.not.include('<script');
    const reply = await login('admin', ADMIN_PASSWORD);
    expect(reply.status).to.equal(303);
    expect(reply.headers['location']).to.equal('/login');
    expect(reply.headers['cache-control']).to.equal('no-store');
    expect(String(reply.headers['set-cookie'])).to.match(
      /^hawser_session=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=28800; HttpOnly; Secure; SameSite=Strict$/,
    );
    expectPage(await show(cookieOf(reply)), 200, 'You are signed in as admin', 'Sign out');
    hawser.clock.advance(MINUTE + SECOND);
    const later = await show(cookieOf(reply));
    expect(cookieOf(later), 'the session, which goes on by being used').to.equal(cookieOf(reply));
    expect((await hawser.client().get(ME, { Cookie: cookieOf(reply) })).json.username).to.equal('admin');
  });

  it('says in the same words for every cause that it does not sign in, and repeats nothing typed', async () => {
    await makeUser(hawser, { username: 'asleep', permissions: [] });
    await withDatabase(hawser, ({ write }) =>
      write.updateTable('users').set({ is_active: 0 }).where('username', '=', 'asleep').execute(),
    );
    const secret = 'typed-in-the-wrong-field';
    const refused = [
      await login('admin', secret),
      await login(secret, secret),
      await login('asleep', GOOD),
      await login('<b>admin</b>', '"><script>alert(1)</script>'),
    ];
    for (const reply of refused) {
      expectPage(reply, 403, 'The user name or the password is wrong', 'Sign in');
      expect(reply.text).to.equal(refused[0]?.text).and.not.include(secret);
      expect(reply.headers).to.not.have.any.keys('set-cookie', 'www-authenticate');
    }
    expect(hawser.log()).to.not.include(secret);
  });

  it('counts, locks and records as the API does: an attempt there is an attempt here', async () => {
    await makeUser(hawser, { username: 'anna', permissions: [] });
    const wrong = { username: 'anna', password: 'a-wrong-password' };
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expectPage(await login(wrong.username, wrong.password), 403);
      expect((await hawser.client().post('/api/v1/auth/login', wrong)).status).to.equal(401);
    }
    expectPage(await login(wrong.username, wrong.password), 403, 'lock an account for 15 minutes');
    expectPage(await login('anna', GOOD), 403, 'or the account cannot be used now');
    hawser.clock.advance(15 * MINUTE);
    await ok(303, login('anna', GOOD));
    const { json } = await hawser.admin.get('/api/v1/audit?action=session.refused&take=100');
    const reasons = json
      .filter(({ details }: { details: { username?: string } }) => details.username === 'anna')
      .map(({ details }: { details: { reason: string } }) => details.reason);
    expect(reasons).to.have.members([
      ...Array(4).fill('wrong password'),
      'wrong password, now locked',
      'locked',
    ]);
  });

  it('says how long to wait after too many attempts from one address', async () => {
    await login('nobody', 'a-wrong-password');
    await withDatabase(hawser, ({ write }) =>
      write.updateTable('login_attempts').set({ attempts: 30 }).execute(),
    );
    const reply = await login('admin', ADMIN_PASSWORD);
    expectPage(reply, 429, `Too many attempts. Try again in ${reply.headers['retry-after']} seconds.`);
    expect(reply.headers).to.not.have.property('set-cookie');
  });

  it('takes no form from another site, so that nobody is signed in as somebody else or signed out', async () => {
    const session = await signIn(hawser.client(), 'admin', ADMIN_PASSWORD);
    const attempts = () =>
      withDatabase(hawser, ({ read }) => read.selectFrom('login_attempts').select('attempts').execute());
    const before = await attempts();
    const elsewhere: Record<string, string>[] = [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site', Origin: `https://localhost:${hawser.server.port}` },
    ];
    for (const headers of elsewhere) {
      for (const cookie of [{}, { Cookie: session }]) {
        const reply = await login('admin', ADMIN_PASSWORD, { ...headers, ...cookie });
        expectPage(reply, 403, 'by a page of another site');
        expect(reply.headers).to.not.have.property('set-cookie');
      }
      expectPage(await post(`${PAGE}/sign-out`, {}, { ...headers, Cookie: session }), 403, 'another site');
    }
    // Browsers of before Sec-Fetch-Site tell the origin alone.
    for (const origin of ['https://evil.example', 'null']) {
      const body = String(new URLSearchParams({ username: 'admin', password: ADMIN_PASSWORD }));
      await expectProblem(
        hawser.client().call('POST', PAGE, { body, headers: { ...FORM, Origin: origin } }),
        403,
        'cross_site_request',
        origin,
      );
    }
    expect(await attempts()).to.deep.equal(before);
    expectPage(await show(session), 200, 'You are signed in as admin');
  });

  it('takes it from a browser that sends neither header, such as one for text', async () => {
    const body = String(new URLSearchParams({ username: 'admin', password: ADMIN_PASSWORD }));
    const headers = { ...FORM, Accept: 'text/html, text/plain, */*;q=0.01' };
    await ok(303, hawser.client().call('POST', PAGE, { body, headers }));
  });

  it('has whoever must change the password do so, and says what is wrong with the new one', async () => {
    await makeUser(hawser, { username: 'mara', permissions: ['nodes.read'] });
    await mustChange('mara');
    const cookie = cookieOf(await login('mara', GOOD));
    const nodes = () => hawser.client().get('/api/v1/nodes', { Cookie: cookie });
    const change = (currentPassword: string, newPassword: string, repeatedPassword = newPassword) =>
      post(`${PAGE}/password`, { currentPassword, newPassword, repeatedPassword }, { Cookie: cookie });
    expectPage(await show(cookie), 200, 'signed in as mara', 'The password must be changed', 'Sign out');
    expect((await nodes()).json.code).to.equal('password_change_required');
    // All that a form may have to escape on its way.
    const fresh = 'Grüße & 100 % + a=b; ✓';
    const faults: [Reply, string][] = [
      [await change('not-the-current-one', fresh), 'The current password is wrong'],
      [await change(GOOD, 'too-short'), 'A password has 12 to 256 characters'],
      [await change(GOOD, GOOD), 'The new password must differ'],
      [await change(GOOD, fresh, `${fresh}.`), 'was not typed the same way twice'],
      [await change('', fresh), 'A field is empty or too long'],
    ];
    for (const [reply, fault] of faults)
      expectPage(reply, 400, fault, 'signed in as mara', 'The password must be changed');
    const changed = await change(GOOD, fresh);
    expect(changed.status).to.equal(303);
    const location = String(changed.headers['location']);
    const page = await hawser.client().get(location, { ...BROWSER, Cookie: cookie });
    expectPage(page, 200, 'The password has been changed', 'signed in as mara');
    expect(textOf(page)).to.not.include('must be changed');
    await ok(200, nodes());
    expect(await signIn(hawser.client(), 'mara', fresh)).to.be.a('string');
  });

  it('signs out by a form: the session ends on the server', async () => {
    const cookie = cookieOf(await login('admin', ADMIN_PASSWORD));
    const reply = await post(`${PAGE}/sign-out`, {}, { Cookie: cookie });
    expect(reply.status).to.equal(303);
    expect(reply.headers['location']).to.equal('/login');
    expect(String(reply.headers['set-cookie'])).to.match(/^hawser_session=; .*Max-Age=0/);
    expect((await hawser.client().get(ME, { Cookie: cookie })).status).to.equal(401);
    expectPage(await show(cookie), 200, 'Sign in to Hawser');
    const again = await post(`${PAGE}/sign-out`, {}, { Cookie: cookie });
    expectPage(again, 403, 'You are not signed in any more', 'Sign in');
  });

  it('takes no form but its own: small, in UTF-8, each field once', async () => {
    const send = (body: string, type = FORM['Content-Type']) =>
      hawser.client().call('POST', PAGE, { body, headers: { 'Content-Type': type } });
    const good = String(new URLSearchParams({ username: 'admin', password: ADMIN_PASSWORD }));
    const faults: [Reply, number, string][] = [
      [await send(`${good}&username=mara`), 400, 'validation_failed'],
      [await send(`${good}&__proto__=x`), 400, 'validation_failed'],
      [await send('username=admin'), 400, 'validation_failed'],
      [await send(''), 400, 'validation_failed'],
      [await send(`username=admin&password=%FF%FE`), 400, 'malformed_body'],
      [await send(`username=admin&password=100%`), 400, 'malformed_body'],
      [await send(`${good}&padding=${'x'.repeat(32 * 1024)}`), 413, 'payload_too_large'],
      [await send(good, 'text/plain'), 415, 'unsupported_media_type'],
      [await send(JSON.stringify({ username: 'admin' }), 'application/json'), 415, 'unsupported_media_type'],
    ];
    for (const [reply, status, code] of faults) {
      expect(reply.status, reply.text).to.equal(status);
      // Who does not ask for HTML is told as by every other route.
      expect(reply.json.code).to.equal(code);
    }
    expect((await send(good, 'application/x-www-form-urlencoded; charset=UTF-8')).status).to.equal(303);
  });

  it('lets its own style in and nothing else, and is shown in no frame', async () => {
    const { text, headers } = await show();
    const style = /<style>(.*)<\/style>/s.exec(text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).to.have.members([
      ...["default-src 'none'", `style-src 'sha256-${hash}'`, 'img-src data:', "form-action 'self'"],
      ...["base-uri 'none'", "frame-ancestors 'none'"],
    ]);
    expect(headers).to.include({
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
    });
  });
});

describe('the sign-in page of a new server', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'hawser-new-'));
  after(() => rmSync(dataDir, { recursive: true, force: true }));
  const textOfPage = async (server: Spawned) => {
    const client = makeClient(await server.listening());
    const { text } = await client.get(PAGE, BROWSER);
    client.close();
    return text;
  };
  const HINT = 'Nobody has signed in here yet';

  it('says where the first password is until somebody has signed in, also beside a wrong one', async () => {
    const server = await spawnHawser(dataDir, { HAWSER_ADMIN_PASSWORD: '' });
    const client = makeClient(await server.listening());
    try {
      const password = readFileSync(join(dataDir, 'data/initial-admin-password'), 'utf8').trim();
      expect(await textOfPage(server))
        .to.include(HINT)
        .and.include('initial-admin-password');
      expect(await textOfPage(server))
        .to.not.include(password)
        .and.not.include('HAWSER_ADMIN_PASSWORD');
      const login = (value: string) =>
        client.call('POST', PAGE, {
          body: String(new URLSearchParams({ username: 'admin', password: value })),
          headers: { ...BROWSER, ...FORM },
        });
      expect((await login('a wrong one')).text).to.include(HINT);
      expect((await login(password)).status).to.equal(303);
      expect(await textOfPage(server)).to.not.include(HINT);
    } finally {
      client.close();
      server.child.kill();
      await server.ended;
    }
  });

  it('names the setting where that has set the password', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hawser-set-'));
    const server = await spawnHawser(folder);
    try {
      const text = await textOfPage(server);
      expect(text).to.include(HINT).and.include('HAWSER_ADMIN_PASSWORD');
      expect(text).to.not.include('initial-admin-password').and.not.include(ADMIN_PASSWORD);
    } finally {
      server.child.kill();
      await server.ended;
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
