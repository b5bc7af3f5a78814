// everyday: SQLite
import { expect } from 'chai';
import { expectFailed } from '../../support/cli.ts';
import { signedInCli } from '../../support/cli-session.ts';
import { ADMIN_PASSWORD, createToken, startHawser } from '../../support/hawser.ts';
import { startedForEach } from '../../support/started.ts';

interface Token {
  id: string;
  name: string;
  isRevoked: boolean;
}

describe('tokens by hawserctl', () => {
  const hawser = startedForEach(startHawser);
  const cli = startedForEach(() => signedInCli(hawser));

  const WITH_PASSWORD = ['--password-file', 'password'];
  const tokens = async (): Promise<Token[]> => (await hawser.admin.get('/api/v1/auth/tokens')).json;
  const validNames = async () => (await tokens()).filter((each) => !each.isRevoked).map(({ name }) => name);
  const me = (token: string) =>
    hawser
      .client()
      .with({ Authorization: `Bearer ${token}` })
      .get('/api/v1/auth/me');

  beforeEach(async () => {
    cli.write('password', `${ADMIN_PASSWORD}\n`);
  });

  it('prints a new token alone on stdout, and shows its prefix and nothing more ever after', async () => {
    const words = ['token', 'create', 'dashboard', '--scope', 'nodes.read', '--scope', 'reports.read'];
    const { code, stdout, stderr } = await cli.run([...words, '--expires', '30d', ...WITH_PASSWORD]);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^pat_[\w-]{43}\n$/);
    expect(stderr).to.match(/^Made the token dashboard\. It ends \d{4}-.*, and is shown this once:\n$/);
    const { json } = await me(stdout.trim());
    expect(json).to.deep.include({ username: 'admin', permissions: ['nodes.read', 'reports.read'] });
    const list = await cli.run(['token', 'list']);
    expect(list.stdout)
      .to.match(/^dashboard +pat_[\w-]{8} +valid +\d{4}-\S+ \S+ .*nodes\.read, reports\.read/m)
      .and.not.include(stdout.trim());
    const answer = await hawser.admin.get('/api/v1/auth/tokens');
    const printed = JSON.parse((await cli.run(['token', 'list', '--json'])).stdout);
    expect(printed.map(({ id }: Token) => id)).to.deep.equal(answer.json.map(({ id }: Token) => id));
  });

  it('asks for the password without showing it, and ends the session that it opened', async () => {
    const since = hawser.log().length;
    const words = ['token', 'create', 'x', '--scope', 'nodes.read', '--expires', 'never'];
    const { code, stdout } = await cli.runInTerminal(words, [ADMIN_PASSWORD]);
    expect(code).to.equal(0);
    expect(stdout).to.include('It ends never').and.not.include(ADMIN_PASSWORD);
    expect(hawser.log().slice(since)).to.include('"path":"/api/v1/auth/logout"');
    const wrong = await cli.runInTerminal(words, ['a wrong password']);
    expect(wrong.code).to.equal(1);
    expect(wrong.stdout).to.include('invalid_credentials: ').and.not.include('a wrong password');
  });

  it('makes no token without a password, a scope, or with one that does not exist', async () => {
    const before = await validNames();
    const cases: [string[], string][] = [
      [['--scope', 'nodes.read'], 'say --password-file'],
      [WITH_PASSWORD, 'such as --scope nodes.read'],
      [['--scope', 'sky.read', ...WITH_PASSWORD], 'sky.read'],
    ];
    for (const [words, message] of cases) {
      expectFailed(await cli.run(['token', 'create', 'x', ...words]), 2, message);
    }
    expect(await validNames()).to.deep.equal(before);
  });

  it('revokes by name, one that is valid where others of this name are revoked', async () => {
    for (let at = 0; at < 2; at++) {
      const made = await cli.run(['token', 'create', 'x', '--scope', 'nodes.read', ...WITH_PASSWORD]);
      expect((await me(made.stdout.trim())).status).to.equal(200);
      const { code, stdout } = await cli.run(['token', 'revoke', 'x', ...WITH_PASSWORD]);
      expect({ code, stdout }).to.deep.equal({ code: 0, stdout: 'Revoked the token x.\n' });
      expect((await me(made.stdout.trim())).status).to.equal(401);
    }
    const again = await cli.run(['token', 'revoke', 'x', ...WITH_PASSWORD]);
    expect(again).to.deep.equal({ code: 1, stdout: '', stderr: 'hawserctl: There is no token "x".\n' });
  });

  it('revokes several only if told so, and asks which one where several have the name', async () => {
    for (const name of ['a', 'b', 'b'])
      await cli.run(['token', 'create', name, '--scope', 'nodes.read', ...WITH_PASSWORD]);
    expectFailed(await cli.run(['token', 'revoke', 'b', ...WITH_PASSWORD]), 1, 'Several have the name "b"');
    const ids = (await tokens()).filter(({ name }) => name === 'b').map(({ id }) => id);
    expectFailed(
      await cli.run(['token', 'revoke', 'a', ...ids, ...WITH_PASSWORD]),
      2,
      'Revoke 3 tokens: a, b, b?',
    );
    expect(await validNames()).to.include.members(['a', 'b']);
    const done = await cli.run(['token', 'revoke', 'a', ...ids, '--yes', ...WITH_PASSWORD]);
    expect(done.code).to.equal(0);
    expect(await validNames())
      .to.not.include.members(['a'])
      .and.not.include.members(['b']);
  });

  it('does the same for a service account', async () => {
    await cli.run(['user', 'create', 'builds', '--email', 'b@example.org', '--service-account']);
    const account = ['--account', 'builds'];
    const made = await cli.run([
      ...['token', 'create', 'deploys', '--scope', 'configurations.grants', ...account, ...WITH_PASSWORD],
    ]);
    expect((await me(made.stdout.trim())).json).to.include({ username: 'builds' });
    expect((await cli.run(['token', 'list', ...account])).stdout).to.match(/^deploys +pat_[\w-]{8} +valid /m);
    expect(await validNames()).to.not.include('deploys');
    const revoked = await cli.run(['token', 'revoke', 'deploys', ...account, ...WITH_PASSWORD]);
    expect(revoked).to.include({ code: 0, stdout: 'Revoked the token deploys.\n' });
    expect((await me(made.stdout.trim())).status).to.equal(401);
  });

  describe('signing out', () => {
    const OWN = /^hawserctl on /;
    const url = () => `https://localhost:${hawser.server.port}`;
    const isOwnValid = async () => (await validNames()).some((name) => OWN.test(name));
    const isForgotten = async () => JSON.parse((await cli.run(['hosts', '--json'])).stdout).length === 0;

    beforeEach(async () => {
      const { code } = await cli.run(['login', url(), '--user', 'admin', ...WITH_PASSWORD]);
      expect(code).to.equal(0);
      expect(await isOwnValid()).to.equal(true);
    });

    it('revokes the token that login made, with the password', async () => {
      const { code, stdout } = await cli.run(['logout', ...WITH_PASSWORD]);
      expect({ code, stdout }).to.deep.equal({
        ...{ code: 0, stdout: `Forgot the token for ${url()}, and revoked it there.\n` },
      });
      expect(await isOwnValid()).to.equal(false);
      expect(await isForgotten()).to.equal(true);
    });

    it('asks for the password at a terminal', async () => {
      const { code, stdout } = await cli.runInTerminal(['logout'], [ADMIN_PASSWORD]);
      expect(code).to.equal(0);
      expect(stdout).to.include('and revoked it there').and.not.include(ADMIN_PASSWORD);
      expect(await isOwnValid()).to.equal(false);
    });

    it('leaves the token valid where there is no password, and says so', async () => {
      for (const signOut of [() => cli.run(['logout']), () => cli.runInTerminal(['logout'], [''])]) {
        const { code, stdout } = await signOut();
        expect(code).to.equal(0);
        expect(stdout).to.include('There it stays valid until you revoke it');
        expect(await isOwnValid()).to.equal(true);
        expect(await isForgotten()).to.equal(true);
        cli.write('ca.pem', hawser.target().ca);
        const words = ['login', url(), '--ca-file', 'ca.pem', '--user', 'admin', ...WITH_PASSWORD];
        expect((await cli.run(words)).code).to.equal(0);
      }
    });

    it('forgets nothing where the password is wrong', async () => {
      cli.write('password', 'a wrong password');
      expectFailed(await cli.run(['logout', ...WITH_PASSWORD]), 1, /^hawserctl: invalid_credentials: /);
      expect(await isForgotten()).to.equal(false);
      expect(await isOwnValid()).to.equal(true);
    });

    it('forgets a token that was revoked at the server meanwhile', async () => {
      const session = hawser.client().with({ Cookie: hawser.session });
      for (const { id, name } of await tokens())
        if (OWN.test(name)) await session.delete(`/api/v1/auth/tokens/${id}`);
      expect((await cli.run(['logout', ...WITH_PASSWORD])).code).to.equal(0);
      expect(await isForgotten()).to.equal(true);
    });

    it('does not revoke a token that was given to login', async () => {
      const token = await createToken(hawser.client(), hawser.session, ['nodes.read']);
      await cli.run(['login', url(), '--token-file', '-'], { stdin: token });
      expectFailed(await cli.run(['logout', ...WITH_PASSWORD]), 2, 'This one was given to it');
      const { code, stdout } = await cli.run(['logout']);
      expect(code).to.equal(0);
      expect(stdout).to.include('There it stays valid');
      expect((await me(token)).status).to.equal(200);
    });
  });
});
