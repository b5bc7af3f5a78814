// full: SQLite, PostgreSQL
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DAY } from '../../src/lib/clock.ts';
import { auditEntries } from '../support/audit.ts';
import { withDatabase } from '../support/database.ts';
import { itOnSqlite } from '../support/engine.ts';
import { type Hawser, signIn, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { type Ended, runHawser } from '../support/spawned.ts';
import { startedForEach } from '../support/started.ts';

const ME = '/api/v1/auth/me';
const USERS = '/api/v1/users';
const NEW_PASSWORD = 'another-password-for-tests';

describe('resetting the password of an administrator from the command line', () => {
  const hawser = startedForEach(startHawser);

  const reset = (...words: string[]): Promise<Ended> =>
    runHawser(hawser.folder, {}, ['reset-admin-password', ...words]);
  const as = (cookie: string) => hawser.client().with({ Cookie: cookie });
  const hashes = () =>
    withDatabase(hawser, ({ read }) => read.selectFrom('users').select('password_hash').execute());

  /** Signs in with what was given out and takes a password of the own. */
  async function enter(password: string, username = 'admin'): Promise<string> {
    const session = await signIn(hawser.client(), username, password);
    expect((await as(session).get(USERS)).json.code).to.equal('password_change_required');
    const change = { currentPassword: password, newPassword: NEW_PASSWORD };
    expect((await as(session).post('/api/v1/auth/change-password', change)).status).to.equal(204);
    return session;
  }

  /** As bad as it gets: locked, deactivated, and without any role. */
  async function lockOut(): Promise<void> {
    await withDatabase(hawser, async ({ write }) => {
      const lock = { access_failed_count: 5, lockout_end: Date.now() + DAY, is_active: 0 };
      await write.updateTable('users').set(lock).where('username_key', '=', 'admin').execute();
      await write.deleteFrom('user_roles').execute();
    });
  }

  describe('while the server runs, for somebody who is locked, deactivated and without a role', () => {
    let before: { session: string; admin: Hawser['admin'] };
    let password: string;
    let session: string;

    beforeEach(async () => {
      // The server has looked at what admin may do, and keeps it in mind.
      expect((await hawser.admin.get(USERS)).status).to.equal(200);
      before = { session: hawser.session, admin: hawser.admin };
      await lockOut();
      const { code, stdout, stderr } = await reset();
      expect(code, stderr).to.equal(0);
      expect(stdout).to.match(/^[A-Za-z0-9_-]{43}\n$/);
      password = stdout.trim();
      expect(stderr).to.include('"admin"').and.not.include(password);
      session = await enter(password);
    });

    it('lets them in again as an administrator, and whoever was in is out', async () => {
      expect((await as(session).get(USERS)).status).to.equal(200);
      expect((await as(before.session).get(ME)).status, 'a session of before').to.equal(401);
      expect((await before.admin.get(ME)).status, 'a token of before').to.equal(401);
    });

    it('leaves its trace, and the password nowhere', async () => {
      const entries = await auditEntries({ admin: as(session) });
      const made = entries.filter(({ actorType }) => actorType === 'System').map(({ action }) => action);
      expect(made).to.include.members(['password.reset', 'user.updated', 'user.roles_changed']);
      expect(JSON.stringify(entries)).not.to.include(password);
      expect(hawser.log()).not.to.include(password);
      for (const name of readdirSync(hawser.dataDir, { recursive: true, encoding: 'utf8' })) {
        const path = join(hawser.dataDir, name);
        if (statSync(path).isFile()) expect(readFileSync(path).includes(password), name).to.equal(false);
      }
    });
  });

  it('works while the server is stopped, for another user too, and writes the password to a new file', async () => {
    await makeUser(hawser, { username: 'ada', permissions: [] });
    await hawser.server.close();
    writeFileSync(join(hawser.dataDir, 'initial-admin-password'), 'the first one\n');
    const file = join(hawser.folder, 'password');
    const { code, stdout, stderr } = await reset('--username', 'Ada', '--password-file', file);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.equal('');
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(existsSync(join(hawser.dataDir, 'initial-admin-password'))).to.equal(false);
    await hawser.restart();
    const entered = await enter(readFileSync(file, 'utf8').trim(), 'ada');
    expect((await as(entered).get(USERS)).status).to.equal(200);
    expect((await hawser.admin.get(ME)).status, 'of somebody else').to.equal(200);
  });

  it('says so and changes nothing where there is no such user, or a file of that name', async () => {
    const before = await hashes();
    const file = join(hawser.folder, 'taken');
    const unknown = await reset('--username', 'nobody', '--password-file', file);
    expect(unknown).to.deep.equal({ code: 1, stdout: '', stderr: 'hawser: there is no user "nobody"\n' });
    expect(existsSync(file)).to.equal(false);
    writeFileSync(file, 'mine');
    const taken = await reset('--password-file', file);
    expect(taken.stderr).to.match(/^hawser: --password-file: there is a file of that name already\n/);
    expect(taken.code).to.equal(64);
    expect(readFileSync(file, 'utf8')).to.equal('mine');
    expect(await hashes()).to.deep.equal(before);
  });

  itOnSqlite('makes no database where there is none,', async () => {
    const elsewhere = join(hawser.folder, 'elsewhere');
    mkdirSync(elsewhere);
    const { code, stderr } = await runHawser(elsewhere, {}, ['reset-admin-password']);
    expect(stderr).to.match(/^hawser: HAWSER_DATA_DIR: there is no database in /);
    expect(code).to.equal(1);
    expect(readdirSync(elsewhere)).to.deep.equal([]);
  });
});
