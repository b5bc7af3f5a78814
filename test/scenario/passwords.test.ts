// full: SQLite
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { MINUTE } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { type RunningServer, startServer } from '../../src/server.ts';
import { type Client, makeClient } from '../support/client.ts';
import { openDatabaseOf, withDatabase } from '../support/database.ts';
import { databaseSettings } from '../support/engine.ts';
import { ADMIN_PASSWORD, signIn, startHawser, TestClock } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const CHANGE = '/api/v1/auth/change-password';
const ME = '/api/v1/auth/me';
const NEW_PASSWORD = 'another-password-for-tests';

describe('changing the own password', () => {
  const hawser = started(startHawser);
  const change = (cookie: string, currentPassword: unknown, newPassword: unknown) =>
    hawser.client().with({ Cookie: cookie }).post(CHANGE, { currentPassword, newPassword });

  it('is refused for a new password that is too weak', async () => {
    for (const password of ['', 'password1234', 'x'.repeat(257), 'x'.repeat(100_000), 5]) {
      await expectInvalid(
        change(hawser.session, ADMIN_PASSWORD, password),
        '/newPassword',
        String(password).slice(0, 20),
      );
    }
  });

  it('is refused for passwords of a megabyte before they are counted as an attempt', async () => {
    const attempts = () =>
      withDatabase(hawser, ({ read }) =>
        read.selectFrom('login_attempts').selectAll().where('address', 'like', 'user %').execute(),
      );
    const long = 'x'.repeat(1_000_000);
    await expectInvalid(change(hawser.session, long, NEW_PASSWORD), '/currentPassword');
    await expectInvalid(change(hawser.session, ADMIN_PASSWORD, long), '/newPassword');
    expect((await change(hawser.session, long, long)).status, 'beyond any body').to.equal(413);
    expect(await attempts()).to.deep.equal([]);
  });

  it('is refused for the user name, and for the password of before', async () => {
    const client = await makeUser(hawser, { username: 'longer-than-twelve', permissions: [] });
    const name = await client.post(CHANGE, {
      currentPassword: 'a-password-of-a-test-user',
      newPassword: 'Longer-Than-Twelve',
    });
    expect(name.status).to.equal(400);
    const same = await change(hawser.session, ADMIN_PASSWORD, ADMIN_PASSWORD);
    expect(same.status).to.equal(400);
    expect(same.json.errors[0]).to.include({ path: '/newPassword', code: 'same_password' });
  });

  it('is refused with a wrong current password, and too many tries with 429', async () => {
    await expectProblem(
      change(hawser.session, 'not-the-current-one', NEW_PASSWORD),
      400,
      'current_password_incorrect',
    );
    await withDatabase(hawser, ({ write }) =>
      write.updateTable('login_attempts').set({ attempts: 30 }).where('address', 'like', 'user %').execute(),
    );
    const tooMany = await change(hawser.session, ADMIN_PASSWORD, NEW_PASSWORD);
    expect(tooMany.status).to.equal(429);
    expect(tooMany.headers).to.have.property('retry-after');
    hawser.clock.advance(MINUTE);
  });

  it('ends all other sessions of the user, while its own goes on', async () => {
    const other = await signIn(hawser.client(), 'admin', ADMIN_PASSWORD);
    const somebodyElse = await makeUser(hawser, { username: 'bert', permissions: [] });
    const reply = await change(hawser.session, ADMIN_PASSWORD, NEW_PASSWORD);
    expect(reply.status).to.equal(204);
    expect(reply.text).to.equal('');
    expect((await hawser.client().get(ME, { Cookie: hawser.session })).status).to.equal(200);
    expect((await hawser.client().get(ME, { Cookie: other })).status).to.equal(401);
    expect((await somebodyElse.get(ME)).status, 'of another user').to.equal(200);
    const old = await hawser.client().post('/api/v1/auth/login', {
      username: 'admin',
      password: ADMIN_PASSWORD,
    });
    expect(old.status).to.equal(401);
    await signIn(hawser.client(), 'admin', NEW_PASSWORD);
    expect((await hawser.admin.get(ME)).status, 'a token of the user').to.equal(200);
  });

  it('of two changes at once lets one win, and tells the other', async () => {
    const both = await Promise.all([
      change(hawser.session, NEW_PASSWORD, 'the-first-of-the-two'),
      change(hawser.session, NEW_PASSWORD, 'the-second-of-the-two'),
    ]);
    expect(both.map((reply) => reply.status).sort()).to.deep.equal([204, 400]);
  });
});

describe('the first start without a given password', () => {
  let folder: string;
  let server: RunningServer;
  let client: Client;
  let cookie: string;
  const shown: string[] = [];
  const logged: string[] = [];

  const start = async () => {
    const config = readConfig({
      HAWSER_HOST: '127.0.0.1',
      HAWSER_PORT: '0',
      HAWSER_DATA_DIR: join(folder, 'data'),
      HAWSER_REPOS_DIR: join(folder, 'repos'),
      ...(await databaseSettings(join(folder, 'data'))),
    });
    const sink = new Writable({
      write(chunk, _encoding, done) {
        logged.push(String(chunk));
        done();
      },
    });
    const log = createLog('debug', sink);
    const showFirstPassword = (password: string) => void shown.push(password);
    server = await startServer({ config, clock: new TestClock(), log, showFirstPassword });
    const ca = readFileSync(join(folder, 'data/tls/ca.crt'), 'utf8');
    client = makeClient({ port: server.port, ca });
  };
  const restart = async () => {
    client.close();
    await server.close();
    await start();
  };
  const passwordFile = () => join(folder, 'data/initial-admin-password');

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-first-'));
    await start();
  });
  after(async () => {
    client.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('makes a random one, shows it once and keeps it in a file for its owner alone', async () => {
    expect(shown).to.have.length(1);
    expect(shown[0]).to.have.length.of.at.least(43);
    expect(readFileSync(passwordFile(), 'utf8').trim()).to.equal(shown[0]);
    expect(statSync(passwordFile()).mode & 0o777).to.equal(0o600);
    expect(logged.join('')).to.not.include(shown[0]);
    await restart();
    expect(shown, 'after a restart').to.have.length(1);
  });

  it('lets the administrator in, but only to change it', async () => {
    const reply = await client.post('/api/v1/auth/login', { username: 'admin', password: shown[0] });
    expect(reply.status).to.equal(200);
    expect(reply.json.requirePasswordChange).to.equal(true);
    cookie = String(reply.headers['set-cookie']).split(';', 1)[0] ?? '';
    const signedIn = client.with({ Cookie: cookie });
    expect((await signedIn.get(ME)).json).to.include({ username: 'admin', requirePasswordChange: true });
    for (const path of ['/api/v1/nodes', '/api/v1/auth/tokens', '/api/v1/admin/registration-keys']) {
      await expectProblem(signedIn.get(path), 403, 'password_change_required', path);
    }
    const token = await signedIn.post('/api/v1/auth/tokens', { name: 'x', scopes: ['nodes.read'] });
    expect(token.json.code).to.equal('password_change_required');
    const same = await signedIn.post(CHANGE, { currentPassword: shown[0], newPassword: shown[0] });
    expect(same.status, 'the same again is no change').to.equal(400);
    expect(existsSync(passwordFile())).to.equal(true);
  });

  it('opens everything after the change, and removes the file', async () => {
    const signedIn = client.with({ Cookie: cookie });
    await ok(204, signedIn.post(CHANGE, { currentPassword: shown[0], newPassword: NEW_PASSWORD }));
    expect(existsSync(passwordFile())).to.equal(false);
    expect((await signedIn.get('/api/v1/nodes')).status).to.equal(200);
    expect((await signedIn.get(ME)).json.requirePasswordChange).to.equal(false);
    await restart();
    expect(existsSync(passwordFile()), 'after a restart').to.equal(false);
    expect(shown).to.have.length(1);
    await signIn(client, 'admin', NEW_PASSWORD);
  });

  it('lets one who must change the password sign out', async () => {
    const again = await signIn(client, 'admin', NEW_PASSWORD);
    const database = await openDatabaseOf(join(folder, 'data'));
    await database.write.updateTable('users').set({ require_password_change: 1 }).execute();
    await database.close();
    expect((await client.with({ Cookie: again }).post('/api/v1/auth/logout')).status).to.equal(204);
    expect((await client.get(ME, { Cookie: again })).status).to.equal(401);
  });
});
