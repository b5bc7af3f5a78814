// everyday: SQLite
import { expect } from 'chai';
import { expectFailed } from '../../support/cli.ts';
import { signedInCli } from '../../support/cli-session.ts';
import { ADMIN_PASSWORD, signIn, startHawser } from '../../support/hawser.ts';
import { startedForEach } from '../../support/started.ts';

const PASSWORD = 'correct horse battery';

describe('users, groups and roles by hawserctl', () => {
  const hawser = startedForEach(startHawser);
  const cli = startedForEach(() => signedInCli(hawser));

  const run = (...words: string[]) => cli.run(words);
  /** @returns what is printed with --json @throws where the command fails */
  const json = async (...words: string[]) => {
    const { code, stdout, stderr } = await cli.run([...words, '--json']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    return JSON.parse(stdout);
  };
  const users = async () =>
    (await hawser.admin.get('/api/v1/users')).json.map(({ username }: { username: string }) => username);
  const makeUser = (username: string) =>
    hawser.admin.post('/api/v1/users', {
      ...{ username, email: `${username}@example.org`, password: PASSWORD, requirePasswordChange: false },
    });
  const canSignIn = (username: string, password: string) =>
    signIn(hawser.client(), username, password).then(
      () => true,
      () => false,
    );

  beforeEach(async () => {
    cli.write('password', `${PASSWORD}\n`);
  });

  it('makes a user, and a service account without a password', async () => {
    const words = ['user', 'create', 'alice', '--email', 'alice@example.org', '--password-file', 'password'];
    const { code, stdout, stderr } = await run(...words);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: 'Made the user alice.\n' });
    expect(stdout)
      .to.match(/^State: +must change the password$/m)
      .and.not.include(PASSWORD);
    expect(await canSignIn('alice', PASSWORD)).to.equal(true);
    expectFailed(await run(...words), 1, /^hawserctl: name_taken: /);
    const made = await json('user', 'create', 'builds', '--email', 'b@example.org', '--service-account');
    expect(made).to.include({ username: 'builds', accountType: 'ServiceAccount' });
    const list = await run('user', 'list', '--filter', 'accountType=ServiceAccount');
    expect(list.stdout).to.match(/^NAME .*\nbuilds +b@example\.org +service account +active .*\n$/);
    const keeping = [...words.slice(0, 2), 'carol', ...words.slice(3), '--keep-password'];
    expect((await run(...keeping)).stdout).to.match(/^State: +active$/m);
  });

  it('asks for a new password twice, and shows neither', async () => {
    const words = ['user', 'create', 'alice', '--email', 'alice@example.org'];
    const differing = await cli.runInTerminal(words, [PASSWORD, `${PASSWORD}!`]);
    expect(differing.code).to.equal(1);
    expect(differing.stdout).to.include('The two passwords differ. Nothing was done.');
    expect(await users()).to.deep.equal(['admin']);
    const { code, stdout } = await cli.runInTerminal(words, [PASSWORD, PASSWORD]);
    expect(code).to.equal(0);
    expect(stdout).to.include('Made the user alice.').and.not.include(PASSWORD);
    expect(await canSignIn('alice', PASSWORD)).to.equal(true);
  });

  it('makes no user where something is left out that cannot be asked for', async () => {
    const cases: [string[], string][] = [
      [[], '--email'],
      [['--email', 'a@example.org'], '--password-file'],
      [['--email', 'a@example.org', '--service-account', '--keep-password'], 'has no password'],
    ];
    for (const [words, message] of cases) {
      expectFailed(await run('user', 'create', 'alice', ...words), 2, message);
    }
    expect(await users()).to.deep.equal(['admin']);
    await makeUser('carol');
    const one = await run('user', 'delete', 'carol', '--yes');
    expect(one).to.deep.equal({ code: 0, stdout: 'Deleted the user carol.\n', stderr: '' });
  });

  it('shows and changes a user, by the name in any case or by the id', async () => {
    const { id } = (await makeUser('alice')).json;
    expect((await run('user', 'show', 'ALICE')).stdout).to.match(/^Email: +alice@example\.org$/m);
    expect(await json('user', 'show', id)).to.deep.equal(
      (await hawser.admin.get(`/api/v1/users/${id}`)).json,
    );
    const changed = await json('user', 'update', 'alice', '--email', 'new@example.org');
    expect(changed).to.include({ username: 'alice', email: 'new@example.org', isActive: true });
    expect(await json('user', 'update', id, '--inactive')).to.include({
      ...{ email: 'new@example.org', isActive: false },
    });
    expect(await canSignIn('alice', PASSWORD)).to.equal(false);
    expect((await run('user', 'update', 'alice', '--active', '--name', 'al')).stdout).to.match(
      /^Name: +al$/m,
    );
    expect(await canSignIn('al', PASSWORD)).to.equal(true);
    const nothing = await run('user', 'update', 'al');
    expect(nothing.code).to.equal(2);
    expect(nothing.stderr).to.equal(
      'hawserctl: Say what to change: --name, --email, --active, --inactive.\n',
    );
    expect((await run('user', 'update', 'al', '--active', '--inactive')).code).to.equal(2);
    const missing = await run('user', 'show', 'alice');
    expect(missing).to.deep.equal({ code: 1, stdout: '', stderr: 'hawserctl: There is no user "alice".\n' });
  });

  it('sets the password of somebody else, and unlocks who is locked', async () => {
    await makeUser('alice');
    for (let at = 0; at < 5; at++) await canSignIn('alice', 'wrong');
    expect((await run('user', 'show', 'alice')).stdout).to.match(/^State: +locked$/m);
    expect(await run('user', 'unlock', 'alice')).to.deep.equal({
      ...{ code: 0, stdout: 'Unlocked the user alice.\n', stderr: '' },
    });
    expect(await canSignIn('alice', PASSWORD)).to.equal(true);
    const other = 'another long password';
    const { code, stdout } = await cli.runInTerminal(['user', 'password', 'alice'], [other, other]);
    expect(code).to.equal(0);
    expect(stdout).to.include('The password of alice is set.').and.not.include(other);
    expect(await canSignIn('alice', other)).to.equal(true);
    // One's own is changed in the console, where the current one is asked for.
    expectFailed(
      await run('user', 'password', 'admin', '--password-file', 'password'),
      1,
      /^hawserctl: session_required: /,
    );
    expect(await canSignIn('admin', ADMIN_PASSWORD)).to.equal(true);
  });

  it('deletes several users only if told so, and goes on after a refusal', async () => {
    await makeUser('alice');
    await makeUser('bob');
    const words = ['user', 'delete', 'alice', 'admin', 'bob'];
    expectFailed(await run(...words), 2, 'Delete 3 users: alice, admin, bob?');
    const unknown = await run('user', 'delete', 'alice', 'nobody', '--yes');
    expect(unknown).to.deep.equal({ code: 1, stdout: '', stderr: 'hawserctl: There is no user "nobody".\n' });
    expect(await users()).to.have.length(3);
    const { code, stdout, stderr } = await run(...words, '--yes');
    expect({ code, stdout }).to.deep.equal({
      ...{ code: 1, stdout: 'Deleted the user alice.\nDeleted the user bob.\n' },
    });
    expect(stderr).to.match(/^admin: last_administrator: [^\n]+\n$/);
    expect(await users()).to.deep.equal(['admin']);
  });

  it('keeps a group: makes it, fills it, gives it roles, takes them away, deletes it', async () => {
    await makeUser('alice');
    await makeUser('bob');
    const made = await run('group', 'create', 'web', '--description', 'web servers');
    expect(made).to.include({ code: 0, stderr: 'Made the group web.\n' });
    expect((await run('group', 'add', 'web', 'alice', 'bob')).stdout).to.equal('USERS OF web\nalice\nbob\n');
    expect((await run('group', 'remove', 'web', 'alice')).stdout).to.equal('USERS OF web\nbob\n');
    expect((await run('group', 'grant', 'web', 'viewer')).stdout).to.equal('ROLES OF web\nViewer\n');
    const { stdout } = await run('group', 'show', 'web');
    expect(stdout)
      .to.match(/^Members: +bob$/m)
      .and.match(/^Roles: +Viewer$/m)
      .and.match(/^Description: +web servers$/m);
    expect((await json('user', 'show', 'bob')).groups).to.have.length(1);
    const revoked = await run('group', 'revoke', 'web', 'Viewer');
    expect(revoked).to.deep.equal({ code: 0, stdout: '', stderr: 'web has no roles now.\n' });
    const renamed = await json('group', 'update', 'web', '--name', 'web-team');
    expect(renamed).to.include({ name: 'web-team', description: 'web servers' });
    expect(renamed.members).to.have.length(1);
    expect((await run('group', 'list')).stdout).to.match(/^web-team +web servers /m);
    expect((await run('group', 'delete', 'web-team')).stdout).to.equal('Deleted the group web-team.\n');
    expect((await json('group', 'list')).map(({ name }: { name: string }) => name)).to.not.include(
      'web-team',
    );
  });

  it('keeps a role, with permissions that exist', async () => {
    const words = ['role', 'create', 'Readers', '--permission', 'nodes.read', '--permission', 'reports.read'];
    expect(await run(...words)).to.include({ code: 0, stderr: 'Made the role Readers.\n' });
    const updated = await json(
      ...['role', 'update', 'Readers', '--permission', 'audit.read', '--without-permission', 'reports.read'],
    );
    expect(updated.permissions).to.have.members(['nodes.read', 'audit.read']);
    expect((await run('role', 'show', 'Readers')).stdout).to.match(/^Built in: +no$/m);
    expect((await run('role', 'list', '--filter', 'isSystemRole=false')).stdout).to.match(
      /^NAME .*\nReaders +no +2 /,
    );
    const unknown = await run('role', 'create', 'Flyers', '--permission', 'sky.read');
    expect({ code: unknown.code, stdout: unknown.stdout }).to.deep.equal({ code: 2, stdout: '' });
    expect(unknown.stderr).to.include('sky.read').and.include('nodes.read');
    expectFailed(await run('role', 'delete', 'Viewer'), 1, /^hawserctl: system_role: /);
    expect((await run('role', 'delete', 'Readers')).stdout).to.equal('Deleted the role Readers.\n');
  });

  it('gives a user roles beside those that are held, and takes them away', async () => {
    await makeUser('alice');
    await run('user', 'grant', 'alice', 'Viewer');
    expect((await run('user', 'grant', 'alice', 'Author')).stdout).to.equal(
      'ROLES OF alice\nAuthor\nViewer\n',
    );
    expect((await run('user', 'show', 'alice')).stdout).to.match(/^Roles: +Author, Viewer$/m);
    expect((await run('user', 'revoke', 'alice', 'Viewer')).stdout).to.equal('ROLES OF alice\nAuthor\n');
    expectFailed(
      await run('user', 'revoke', 'admin', 'Administrator'),
      1,
      /^hawserctl: last_administrator: /,
    );
  });
});
