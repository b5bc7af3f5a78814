// everyday: SQLite; full: PostgreSQL
import { createPrivateKey } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/lib/log.ts';
import { startServer } from '../../src/server.ts';
import { readAuthority } from '../support/authority.ts';
import { type Client, makeClient } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { DATABASE_FILES, storedBytes } from '../support/database.ts';
import { databaseSettings, ENGINE } from '../support/engine.ts';
import {
  ADMIN_PASSWORD,
  git,
  publishConfiguration,
  signIn,
  startHawser,
  TestClock,
} from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const CHANGE = '/api/v1/auth/change-password';
const LOGIN = '/api/v1/auth/login';
const REGISTER = '/api/v1/nodes/register';

/** All bytes under a folder, file by file. */
function filesBelow(folder: string): Map<string, Buffer> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const paths = names.map((name) => join(folder, name)).filter((path) => statSync(path).isFile());
  return new Map(paths.map((path) => [path, readFileSync(path)]));
}

/** What the repositories hold, which on the disk is compressed. */
function objectsBelow(reposDir: string): Map<string, Buffer> {
  const repositories = readdirSync(reposDir, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.git') && existsSync(join(reposDir, name, 'HEAD')),
  );
  return new Map(
    repositories.map((name) => {
      const objects = git(join(reposDir, name), 'cat-file', '--batch-all-objects', '--batch');
      return [`objects of ${name}`, Buffer.from(objects)];
    }),
  );
}

/** The secret as it is, and as a careless program might write it: hex, base64, also with something before it. */
function formsOf(secret: Buffer): Buffer[] {
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), secret]).toString('base64');
    // The characters at the edges depend on what stands beside the secret.
    return text.slice(before === 0 ? 0 : 4, -4);
  });
  const hex = secret.toString('hex');
  return [secret, ...[...base64, hex, hex.toUpperCase()].map((text) => Buffer.from(text))];
}

/** Expects each secret nowhere but in the files that are there to hold it. */
function expectNowhere(
  secrets: ReadonlyMap<string, Buffer>,
  places: ReadonlyMap<string, Buffer>,
  mayHold: (what: string, place: string) => boolean = () => false,
): void {
  for (const [what, secret] of secrets) {
    expect(secret.length, what).to.be.greaterThan(11);
    for (const [place, bytes] of places) {
      if (mayHold(what, place)) continue;
      for (const form of formsOf(secret)) {
        expect(bytes.includes(form), `${what} in ${place}`).to.equal(false);
      }
    }
  }
}

/** The number in which a private key consists, whatever surrounds it in a file. */
function privateNumber(key: string): Buffer {
  const { d = '' } = createPrivateKey(key).export({ format: 'jwk' });
  return Buffer.from(d, 'base64url');
}

/** The table of what several servers share. */
const SHARED = 'secrets';
/** Where the authority's key is. */
const KEPT_KEY = ENGINE === 'sqlite' ? 'ca.key' : SHARED;

const cookieValue = (cookie: string) => cookie.split('=')[1] ?? '';

describe('what opens doors', () => {
  const hawser = started(startHawser);
  const secrets = new Map<string, Buffer>();
  const note = (what: string, secret: string): string => {
    secrets.set(what, Buffer.from(secret));
    return secret;
  };

  before(async () => {
    note('the password from the environment', ADMIN_PASSWORD);
    note('a session', cookieValue(hawser.session));
  });

  async function usePasswords(): Promise<void> {
    const wrong = note('a wrong password', 'a-wrong-password-typed-in-haste');
    const login = (username: unknown, password: unknown) =>
      hawser.client().post(LOGIN, { username, password });
    await login('admin', wrong);
    await login(note('a password in the field of the name', 'a-password-in-the-wrong-field'), 'x');
    await hawser.client().post(LOGIN, { username: wrong, password: 'x', [wrong]: wrong });
    await hawser.client().get(`/api/v1/audit?userId=${wrong}&action=${wrong}`);
    const user = await makeUser(hawser, { username: 'ulla', permissions: ['nodes.read'] });
    note('the password of a user', 'a-password-of-a-test-user');
    const next = note('a new password', 'a-password-for-the-time-after');
    const change = { currentPassword: 'a-password-of-a-test-user', newPassword: next };
    expect((await user.post(CHANGE, { ...change, currentPassword: wrong })).status).to.equal(400);
    expect((await user.post(CHANGE, { ...change, newPassword: 'password1234' })).status).to.equal(400);
    expect((await user.post(CHANGE, change)).status).to.equal(204);
    const session = await signIn(hawser.client(), 'ulla', next);
    note('a session that ended', cookieValue(session));
    const signedOut = hawser.client().with({ Cookie: session });
    expect((await signedOut.post('/api/v1/auth/logout')).status).to.equal(204);
    expect((await signedOut.get('/api/v1/auth/me')).status).to.equal(401);
    await useUserAdministration();
    const guess = note('a session that never was', 'c2Vzc2lvbi10aGF0LW5ldmVyLXdhcy1hbnl3aGVyZS4');
    await hawser.client().get('/api/v1/auth/me', { Cookie: `hawser_session=${guess}` });
  }

  async function useUserAdministration(): Promise<void> {
    const password = note('the password of a made user', 'a-password-given-by-an-admin');
    const made = { username: 'vera', email: 'vera@example.org', password };
    const reply = await ok(201, hawser.admin.post('/api/v1/users', made));
    expect((await hawser.admin.post('/api/v1/users', made)).status, 'again').to.equal(409);
    const newPassword = note('a password that was reset', 'a-password-given-once-more');
    await ok(204, hawser.admin.post(`/api/v1/users/${reply.id}/reset-password`, { newPassword }));
  }

  async function useTokens(): Promise<void> {
    const session = hawser.client().with({ Cookie: hawser.session });
    const scopes = ['nodes.read', 'configurations.admin-override'];
    const { token, tokenId } = (await session.post('/api/v1/auth/tokens', { name: 'x', scopes })).json;
    note('a token', token);
    const refs = '/git/configurations/web.git/info/refs?service=git-upload-pack';
    const basic = (secret: string) => `Basic ${Buffer.from(`any:${secret}`).toString('base64')}`;
    const wrong = note('a wrong token', 'pat_this-token-was-never-made-by-anybody');
    const nodes = '/api/v1/nodes';
    const uses = (secret: string): [string, Record<string, string>][] => [
      [nodes, { Authorization: `Bearer ${secret}` }],
      [refs, { Authorization: basic(secret) }],
      [nodes, { Authorization: secret }],
    ];
    const statuses = async (secret: string) => {
      const replies = uses(secret).map(([path, headers]) => hawser.client().get(path, headers));
      return (await Promise.all(replies)).map(({ status }) => status);
    };
    expect(await statuses(token)).to.deep.equal([200, 200, 401]);
    expect(await statuses(wrong)).to.deep.equal([401, 401, 401]);
    expect((await session.delete(`/api/v1/auth/tokens/${tokenId}`)).status).to.equal(204);
    expect(await statuses(token)).to.deep.equal([401, 401, 401]);
  }

  async function useRegistrationKeys(): Promise<void> {
    const path = '/api/v1/admin/registration-keys';
    const { key, id } = (await hawser.admin.post(path, { description: 'rack 7' })).json;
    note('a registration key', key);
    const wrong = note('a wrong registration key', 'reg_this-key-was-never-made-by-anybody');
    const identity = await makeClientCertificate({ commonName: 'a.example.org' });
    const node = hawser.client(identity);
    const register = async (registrationKey: string, fqdn = 'a.example.org') =>
      (await node.post(REGISTER, { registrationKey, fqdn })).status;
    expect(await register(wrong)).to.equal(403);
    expect(await register(key)).to.equal(200);
    expect(await register('reg_x', key), 'a key in the field of the name').to.equal(400);
    expect((await hawser.admin.delete(`${path}/${id}`)).status).to.equal(204);
    expect(await register(key)).to.equal(403);
  }

  it('stands nowhere on the disk and nowhere in the log', async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { 'main.dsc.yaml': 'one' } });
    await usePasswords();
    await useTokens();
    await useRegistrationKeys();
    secrets.set('ca.key', privateNumber((await readAuthority(hawser)).key));
    secrets.set('server.key', privateNumber(readFileSync(join(hawser.dataDir, 'tls/server.key'), 'utf8')));
    const places = new Map([
      ...filesBelow(hawser.dataDir),
      ...(await storedBytes(hawser)),
      ...filesBelow(hawser.reposDir),
      ...objectsBelow(hawser.reposDir),
      ['the log', Buffer.from(hawser.log())],
    ]);
    expect([...places.keys()].map((path) => path.replace(/.*\//, ''))).to.include.members([
      ...[...DATABASE_FILES, KEPT_KEY, 'server.key', 'HEAD', 'the log'],
    ]);
    expect(places.get('objects of configurations/web.git')?.toString()).to.include('main.dsc.yaml');
    expectNowhere(secrets, places, (what, place) => {
      const isShared = what === 'ca.key' && place === SHARED;
      return isShared || place === join(hawser.dataDir, 'tls', what);
    });
  });
});

describe('the first password, made at random', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-secrets-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('stands in its own file alone, and nowhere once it is changed', async () => {
    const dataDir = join(folder, 'data');
    const logged: string[] = [];
    const sink = new Writable({
      write(chunk, _encoding, done) {
        logged.push(String(chunk));
        done();
      },
    });
    const config = readConfig({
      ...{ HAWSER_HOST: '127.0.0.1', HAWSER_PORT: '0' },
      ...{ HAWSER_DATA_DIR: dataDir, HAWSER_REPOS_DIR: join(folder, 'repos') },
      ...(await databaseSettings(dataDir)),
    });
    let first = '';
    const showFirstPassword = (password: string) => {
      first = password;
    };
    const log = createLog('debug', sink);
    const server = await startServer({ config, clock: new TestClock(), log, showFirstPassword });
    const ca = readFileSync(join(dataDir, 'tls/ca.crt'), 'utf8');
    const client: Client = makeClient({ port: server.port, ca });
    try {
      const next = 'the-password-after-the-first';
      const secrets = new Map([
        ['the first password', Buffer.from(first)],
        ['the next one', Buffer.from(next)],
      ]);
      const places = async () =>
        new Map([
          ...filesBelow(folder),
          ...(await storedBytes(config)),
          ['the log', Buffer.from(logged.join(''))],
        ]);
      const session = await signIn(client, 'admin', first);
      const own = join(dataDir, 'initial-admin-password');
      expect((await places()).get(own)?.toString()).to.include(first);
      expectNowhere(secrets, await places(), (what, place) => {
        return place === own || (what === 'the first password' && place === SHARED);
      });
      const change = { currentPassword: first, newPassword: next };
      expect((await client.with({ Cookie: session }).post(CHANGE, change)).status).to.equal(204);
      expectNowhere(secrets, await places());
    } finally {
      client.close();
      await server.close();
    }
  });
});
