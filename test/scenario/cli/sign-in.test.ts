// everyday: SQLite
import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { startApiServer } from '../../support/api-server.ts';
import { type Cli, expectFailed, makeCli } from '../../support/cli.ts';
import { ADMIN_PASSWORD, createToken, startHawser } from '../../support/hawser.ts';
import { describeWith } from '../../support/optional-tools.ts';
import type { Ended } from '../../support/spawned.ts';
import { started } from '../../support/started.ts';

describe('signing in with hawserctl', () => {
  const hawser = started(startHawser);
  let cli: Cli;
  let url: string;
  let token: string;
  const printed: Ended[] = [];

  const run: Cli['run'] = async (words, options) => {
    const ended = await cli.run(words, options);
    printed.push(ended);
    return ended;
  };
  const login = (...words: string[]) => run(['login', url, ...words], { stdin: `${token}\n` });
  const kept = () => JSON.parse(readFileSync(cli.hostsFile, 'utf8'));
  const fingerprintOf = (pem: string) => new X509Certificate(pem).fingerprint256;
  /** The calls that the server has logged since the last look. */
  const calls = (since: number) =>
    hawser
      .log()
      .slice(since)
      .match(/"path":"[^"]*"/g) ?? [];

  before(async () => {
    token = await createToken(hawser.client(), hawser.session, ['nodes.read']);
  });
  beforeEach(async () => {
    cli = await makeCli();
    url = `https://localhost:${hawser.server.port}`;
    cli.write('ca.pem', hawser.target().ca);
    cli.write('password', `${ADMIN_PASSWORD}\n`);
    printed.length = 0;
  });
  afterEach(() => {
    cli.close();
    // Whatever happened, nothing secret was shown.
    for (const { stdout, stderr } of printed)
      for (const secret of [/pat_[\w-]{9}/, new RegExp(ADMIN_PASSWORD)])
        expect(stdout + stderr).to.not.match(secret);
  });

  it('takes a token and the file of the authority', async () => {
    const { code, stdout, stderr } = await login('--ca-file', 'ca.pem', '--token-file', '-');
    expect({ code, stdout, stderr }).to.deep.equal({
      ...{ code: 0, stdout: `Signed in to ${url} as admin.\n`, stderr: '' },
    });
    expect(kept()).to.deep.equal({
      current: url,
      hosts: {
        [url]: {
          trust: { kind: 'authority', pem: hawser.target().ca },
          ...{ token, username: 'admin', tokenId: null },
        },
      },
    });
    expect(statSync(cli.hostsFile).mode & 0o777).to.equal(0o600);
    expect(statSync(join(cli.hostsFile, '..')).mode & 0o777).to.equal(0o700);
    expect((await run(['whoami'])).stdout).to.match(/^User: +admin$/m);
  });

  it('takes the fingerprint of the authority, which the server hands out', async () => {
    const fingerprint = fingerprintOf(hawser.target().ca);
    expect((await login('--fingerprint', fingerprint, '--token-file', '-')).code).to.equal(0);
    expect(kept().hosts[url].trust.kind).to.equal('authority');
    expect((await run(['whoami'])).code).to.equal(0);
  });

  it("takes the fingerprint of the server's own certificate, with or without colons", async () => {
    const own = readFileSync(join(hawser.dataDir, 'tls/server.crt'), 'utf8');
    const fingerprint = fingerprintOf(own).replaceAll(':', '').toLowerCase();
    expect((await login('--fingerprint', fingerprint, '--token-file', '-')).code).to.equal(0);
    expect(kept().hosts[url].trust.kind).to.equal('certificate');
    expect((await run(['whoami'])).code).to.equal(0);
  });

  it('sends nothing secret to a server with another fingerprint', async () => {
    const since = hawser.log().length;
    expectFailed(
      await login('--fingerprint', 'ab'.repeat(32), '--token-file', '-'),
      3,
      /^hawserctl: .* has this fingerprint, so the server is not trusted/,
    );
    expect(calls(since).filter((path) => path !== '"path":"/api/v1/ca.pem"')).to.deep.equal([]);
  });

  it('sends nothing to a server of an unknown authority, and says what helps', async () => {
    const since = hawser.log().length;
    const { code, stderr } = await login('--token-file', '-');
    expect(code).to.equal(3);
    expect(stderr).to.include('--ca-file').and.include('--fingerprint');
    expect(calls(since)).to.deep.equal([]);
  });

  it('refuses a wrong token with the code of the server, and keeps nothing', async () => {
    const words = ['login', url, '--ca-file', 'ca.pem', '--token-file', '-'];
    const { code, stdout, stderr } = await run(words, { stdin: 'pat_wrong-token-wrong-token' });
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.match(/^hawserctl: unauthenticated: /);
    expect((await run(['hosts', '--json'])).stdout.trim()).to.equal('[]');
  });

  it('makes itself a token with a password, and ends the session', async () => {
    const since = hawser.log().length;
    const words = ['--ca-file', 'ca.pem', '--user', 'admin', '--password-file', 'password'];
    expect((await login(...words)).code).to.equal(0);
    expect(calls(since)).to.include('"path":"/api/v1/auth/logout"');
    const [{ tokenId }] = Object.values(kept().hosts) as [{ tokenId: string }];
    const { stdout } = await run(['whoami', '--json']);
    const me = JSON.parse(stdout);
    expect(me).to.include({ username: 'admin', authMethod: 'Token' });
    expect(me.permissions).to.include('users.manage');
    // Signing in again does not leave the former token.
    expect((await login(...words)).code).to.equal(0);
    const tokens = JSON.parse(
      (await run(['api', 'GET', 'auth/tokens', '--all'])).stdout.replaceAll('pat_', ''),
    );
    expect(tokens.find(({ id }: { id: string }) => id === tokenId)).to.have.property('isRevoked', true);
  });

  it('refuses a wrong password with the code of the server', async () => {
    cli.write('password', 'wrong');
    expectFailed(
      await login('--ca-file', 'ca.pem', '--user', 'admin', '--password-file', 'password'),
      1,
      /^hawserctl: invalid_credentials: /,
    );
  });

  it('changes the password first where the server asks for it', async () => {
    const user = { username: 'new', email: 'new@example.org', password: ADMIN_PASSWORD };
    await hawser.admin.post('/api/v1/users', user);
    cli.write('new-password', 'short');
    const old = ['--ca-file', 'ca.pem', '--user', 'new', '--password-file', 'password'];
    const words = [...old, '--new-password-file', 'new-password'];
    expectFailed(await login(...old), 2, 'say --new-password-file');
    expect((await login(...words)).stderr).to.match(
      /^hawserctl: validation_failed: .*\n {2}\/newPassword: /m,
    );
    expect((await run(['whoami'])).code).to.equal(1);
    const chosen = `${ADMIN_PASSWORD} of new`;
    cli.write('new-password', `${chosen}\n`);
    const { code, stdout, stderr } = await login(...words);
    expect(stderr).to.include('The password of new is changed.');
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: `Signed in to ${url} as new.\n` });
    expect((await login(...old)).stderr).to.match(/^hawserctl: invalid_credentials: /);
    expect((await login(...old.slice(0, -1), 'new-password')).code).to.equal(0);
  });

  it('takes the environment before what it has kept', async () => {
    expect((await run(['whoami'])).stderr).to.match(/^hawserctl: No server is known\. /);
    const env = { HAWSER_URL: url, HAWSER_TOKEN: token, HAWSER_CA_FILE: 'ca.pem' };
    expect((await run(['whoami'], { env })).code).to.equal(0);
    await login('--ca-file', 'ca.pem', '--token-file', '-');
    expect((await run(['whoami'], { env: { HAWSER_TOKEN: 'pat_wrong-token-wrong-token' } })).code).to.equal(
      1,
    );
    expect((await run(['whoami'], { env: { HAWSER_URL: 'https://localhost:1' } })).stderr).to.include(
      'There is no token for https://localhost:1.',
    );
    expect(
      (await run(['whoami'], { env: { HAWSER_URL: 'https://localhost:1', HAWSER_TOKEN: 'x' } })).code,
    ).to.equal(3);
  });

  it('knows several servers, of which one is current', async () => {
    const other = await startApiServer(() => ({ body: { username: 'bob' } }));
    await login('--ca-file', 'ca.pem', '--token-file', '-');
    cli.write('other.pem', other.ca);
    const words = ['login', other.url, '--ca-file', 'other.pem', '--token-file', '-'];
    expect((await run(words, { stdin: 'pat_of-bob-of-bob' })).code).to.equal(0);
    const current = async () => {
      const list = JSON.parse((await run(['hosts', '--json'])).stdout);
      return list
        .filter(({ isCurrent }: { isCurrent: boolean }) => isCurrent)
        .map((host: { url: string }) => host.url);
    };
    expect(await current()).to.deep.equal([other.url]);
    expect((await run(['hosts', url])).stdout).to.match(new RegExp(`^\\*  ${url}  admin`, 'm'));
    expect(await current()).to.deep.equal([url]);
    expect((await run(['logout'])).code).to.equal(0);
    expect(await current()).to.deep.equal([other.url]);
    expect((await run(['logout', url])).code).to.equal(1);
    expect((await run(['hosts', 'https://unknown'])).code).to.equal(1);
    expect(readFileSync(cli.hostsFile, 'utf8')).to.not.include(token);
    await other.close();
  });

  it('names what is no server of this API in one sentence, before it sends a token', async () => {
    const other = await startApiServer(() => ({ headers: { 'Content-Type': 'text/html' }, body: '<html>' }));
    cli.write('other.pem', other.ca);
    const words = ['login', other.url, '--ca-file', 'other.pem', '--token-file', '-'];
    const { code, stderr } = await run(words, { stdin: token });
    expect(code).to.equal(1);
    expect(stderr).to.equal(`hawserctl: ${other.url} does not speak version 1 of the API of Hawser.\n`);
    expect(other.seen.map(({ headers }) => headers['authorization'])).to.deep.equal([undefined]);
    await other.close();
  });

  it('refuses words that do not fit together, and shows no secret of them', async () => {
    for (const words of [
      ['login', 'http://localhost'],
      ['login', `https://u:${ADMIN_PASSWORD}@localhost`],
      ['login', url, '--fingerprint', 'abc'],
      ['login', url, '--ca-file', 'ca.pem', '--fingerprint', 'ab'.repeat(32)],
      ['login', url, '--token-file', '-', '--user', 'admin'],
      ['login', url, '--password-file', 'password'],
      ['login', url, '--ca-file', 'password', '--token-file', '-'],
      ['login', url, '--ca-file', 'ca.pem'],
      ['login', url, `--token=${token}`],
      ['login', url, token],
    ]) {
      expectFailed(await run(words), 2, /^hawserctl: /);
    }
  });
});

describeWith(['script'], 'hawserctl at a terminal', () => {
  const hawser = started(startHawser);
  const cli = started(makeCli);

  it('asks for what it needs, and does not show the password', async () => {
    const url = `https://localhost:${hawser.server.port}`;
    const ca = cli.write('ca.pem', hawser.target().ca);
    const words = ['login', url, '--ca-file', ca];
    const { code, stdout } = await cli.runInTerminal(words, ['', 'admin', ADMIN_PASSWORD]);
    expect(code).to.equal(0);
    expect(stdout).to.include('User: admin').and.include('Password of admin (not shown): \r\n');
    expect(stdout).to.include(`Signed in to ${url} as admin.`).and.not.include(ADMIN_PASSWORD);
  });

  it('asks twice for the new password where the server asks for one', async () => {
    const user = { username: 'new', email: 'new@example.org', password: ADMIN_PASSWORD };
    await hawser.admin.post('/api/v1/users', user);
    const url = `https://localhost:${hawser.server.port}`;
    const words = ['login', url, '--ca-file', 'ca.pem', '--user', 'new'];
    const chosen = `${ADMIN_PASSWORD} of new`;
    const differs = await cli.runInTerminal(words, [ADMIN_PASSWORD, chosen, 'another']);
    expect(differs.code).to.equal(1);
    expect(differs.stdout).to.include('The two passwords differ. Nothing was done.');
    const { code, stdout } = await cli.runInTerminal(words, [ADMIN_PASSWORD, chosen, chosen]);
    expect(code).to.equal(0);
    expect(stdout).to.include('New password of new (not shown)').and.not.include(ADMIN_PASSWORD);
  });
});
