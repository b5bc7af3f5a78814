// full: SQLite
/** Users who came from another server with the hashes of their passwords. */

import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { nameKey } from '../../src/domain/names.ts';
import { newId } from '../../src/lib/ids.ts';
import { importedPasswordHash, readImportedHash } from '../../src/security/imported-passwords.ts';
import { verifyPassword } from '../../src/security/passwords.ts';
import { auditEntries } from '../support/audit.ts';
import { withDatabase } from '../support/database.ts';
import { ADMIN_PASSWORD, signIn, startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const LOGIN = '/api/v1/auth/login';
/** It is shorter than our policy wants, as it may be there. */
const PASSWORD = 'Pässw0rd';

describe('a user with a password from another server', () => {
  const hawser = started(startHawser);
  let count = 0;

  async function bring(change: { is_active?: number; require_password_change?: number } = {}) {
    count += 1;
    const username = `moved-${count}`;
    const salt = randomBytes(16);
    const hash = importedPasswordHash(salt, pbkdf2Sync(PASSWORD, salt, 100_000, 32, 'sha256'));
    const user = { id: newId(), username, hash };
    await withDatabase(hawser, ({ write }) =>
      write
        .insertInto('users')
        .values({
          ...{ id: user.id, username, username_key: nameKey(username), email: `${username}@example.org` },
          ...{ account_type: 'User', password_hash: hash, is_active: 1, require_password_change: 0 },
          ...{ lockout_end: null, created_at: 1, modified_at: 1, ...change },
        })
        .execute(),
    );
    return user;
  }

  const rowOf = ({ id }: { id: string }) =>
    withDatabase(hawser, ({ read }) =>
      read.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
    );
  const attempt = (username: string, password: string) => hawser.client().post(LOGIN, { username, password });

  /** The limit of attempts from one address is not what is tested here. */
  beforeEach(() => withDatabase(hawser, ({ write }) => write.deleteFrom('login_attempts').execute()));

  it('signs in, and has a hash of ours from then on', async () => {
    const user = await bring();
    await signIn(hawser.client(), user.username, PASSWORD);
    const row = await rowOf(user);
    expect(readImportedHash(row.password_hash ?? '')).to.equal(null);
    expect(await verifyPassword(PASSWORD, row.password_hash, 'a test')).to.equal(true);
    expect(row).to.include({ modified_at: 1, access_failed_count: 0, require_password_change: 0 });
    const cookie = await signIn(hawser.client(), user.username, PASSWORD);
    expect((await rowOf(user)).password_hash, 'replaced once').to.equal(row.password_hash);
    await expectProblem(await attempt(user.username, `${PASSWORD}!`), 401, 'invalid_credentials');
    expect((await auditEntries(hawser, `resourceId=${user.id}`)).map(({ action }) => action)).to.deep.equal([
      'session.refused',
      'session.created',
      'session.created',
    ]);
    const change = { currentPassword: PASSWORD, newPassword: 'a-longer-password-of-ours' };
    await ok(204, hawser.client().with({ Cookie: cookie }).post('/api/v1/auth/change-password', change));
  });

  it('is refused a wrong password like any other, and keeps the hash', async () => {
    const user = await bring();
    const wrong = await attempt(user.username, 'not-the-password');
    const unknown = await attempt('nobody-of-this-name', PASSWORD);
    const own = await attempt('admin', 'not-the-password');
    for (const reply of [wrong, unknown, own]) await expectProblem(reply, 401, 'invalid_credentials');
    const shown = ({ json }: { json: Record<string, unknown> }) => ({ ...json, requestId: null });
    expect(shown(wrong)).to.deep.equal(shown(unknown));
    expect(shown(wrong)).to.deep.equal(shown(own));
    // The text that is stored is no password.
    await expectProblem(await attempt(user.username, user.hash), 401, 'invalid_credentials');
    expect(await rowOf(user)).to.include({ password_hash: user.hash, access_failed_count: 2 });
    await signIn(hawser.client(), 'admin', ADMIN_PASSWORD);
    await signIn(hawser.client(), user.username, PASSWORD);
  });

  it('is locked by five wrong passwords, and the right one changes nothing then', async () => {
    const user = await bring();
    for (let time = 0; time < 5; time += 1)
      await expectProblem(await attempt(user.username, 'not-the-password'), 401, 'invalid_credentials');
    await expectProblem(await attempt(user.username, PASSWORD), 401, 'invalid_credentials');
    const locked = await rowOf(user);
    expect(locked.password_hash).to.equal(user.hash);
    expect(locked.lockout_end).to.be.above(Date.now());
    const reasons = (await auditEntries(hawser, `resourceId=${user.id}`)).map(
      ({ details }) => details?.['reason'],
    );
    expect(reasons.slice(0, 2)).to.deep.equal(['locked', 'wrong password, now locked']);
  });

  it('stays disabled, and stays one who must change the password', async () => {
    const disabled = await bring({ is_active: 0 });
    await expectProblem(await attempt(disabled.username, PASSWORD), 401, 'invalid_credentials');
    expect((await rowOf(disabled)).password_hash).to.equal(disabled.hash);
    const changing = await bring({ require_password_change: 1 });
    await signIn(hawser.client(), changing.username, PASSWORD);
    expect(await rowOf(changing)).to.include({ require_password_change: 1 });
  });

  it('may sign in several times at once', async () => {
    const user = await bring();
    const replies = await Promise.all(Array.from({ length: 4 }, () => attempt(user.username, PASSWORD)));
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    const row = await rowOf(user);
    expect(row.access_failed_count).to.equal(0);
    expect(await verifyPassword(PASSWORD, row.password_hash, 'a test')).to.equal(true);
  });

  it('may change the password before it was ever replaced', async () => {
    const user = await bring();
    const cookie = await signIn(hawser.client(), user.username, PASSWORD);
    await withDatabase(hawser, ({ write }) =>
      write.updateTable('users').set({ password_hash: user.hash }).where('id', '=', user.id).execute(),
    );
    const client = hawser.client().with({ Cookie: cookie });
    const newPassword = 'a-longer-password-of-ours';
    const wrong = await client.post('/api/v1/auth/change-password', { currentPassword: 'x', newPassword });
    await expectProblem(wrong, 400, 'current_password_incorrect');
    await ok(204, client.post('/api/v1/auth/change-password', { currentPassword: PASSWORD, newPassword }));
    await signIn(hawser.client(), user.username, newPassword);
    await expectProblem(await attempt(user.username, PASSWORD), 401, 'invalid_credentials');
  });
});
