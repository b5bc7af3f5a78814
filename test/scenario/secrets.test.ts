import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { ADMIN_PASSWORD, type Hawser, publishConfiguration, signIn, startHawser } from '../support/hawser.ts';

/** All bytes under a folder, file by file. */
function filesBelow(folder: string): Map<string, Buffer> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const paths = names.map((name) => join(folder, name)).filter((path) => statSync(path).isFile());
  return new Map(paths.map((path) => [path, readFileSync(path)]));
}

describe('what opens doors', () => {
  let hawser: Hawser;
  before(async () => {
    hawser = await startHawser();
  });
  after(() => hawser.close());

  it('stands nowhere on the disk and nowhere in the log', async () => {
    const secrets = new Map<string, string>([['the first password', ADMIN_PASSWORD]]);
    const note = (what: string, secret: string) => {
      expect(secret.length, what).to.be.greaterThan(11);
      secrets.set(what, secret);
      return secret;
    };
    note('a session', hawser.session.split('=')[1] ?? '');
    const session = hawser.client().with({ Cookie: hawser.session });
    const created = await session.post('/api/v1/auth/tokens', { name: 'x', scopes: ['nodes.read'] });
    const token = note('a token', created.json.token);
    const key = note(
      'a registration key',
      (await hawser.admin.post('/api/v1/admin/registration-keys', {})).json.key,
    );
    await hawser.client().get('/api/v1/nodes', { Authorization: `Bearer ${token}` });
    await session.delete(`/api/v1/auth/tokens/${created.json.tokenId}`);
    await hawser.client().get('/api/v1/nodes', { Authorization: `Bearer ${token}` });
    const wrong = note('a wrong password', 'a-wrong-password-typed-in-haste');
    await hawser.client().post('/api/v1/auth/login', { username: 'admin', password: wrong });
    await hawser.client().post('/api/v1/auth/login', { username: wrong, password: 'x', [wrong]: wrong });
    const identity = await makeClientCertificate({ commonName: 'a.example.org' });
    const node = hawser.client(identity);
    const bad = note('a key that is none', 'reg_this-key-was-never-made-by-anybody');
    const register = (registrationKey: string, fqdn = 'a.example.org') =>
      node.post('/api/v1/nodes/register', { registrationKey, fqdn });
    expect((await register(bad)).status).to.equal(403);
    expect((await register(key)).status).to.equal(200);
    expect((await register(key, 'not a host')).status).to.equal(400);
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { 'main.dsc.yaml': 'one' } });
    const next = note('the next password', 'a-password-for-the-time-after');
    const change = { currentPassword: ADMIN_PASSWORD, newPassword: next };
    expect(
      (await session.post('/api/v1/auth/change-password', { ...change, currentPassword: wrong })).status,
    ).to.equal(400);
    expect((await session.post('/api/v1/auth/change-password', change)).status).to.equal(204);
    note('another session', (await signIn(hawser.client(), 'admin', next)).split('=')[1] ?? '');

    const places = new Map([...filesBelow(hawser.dataDir), ...filesBelow(hawser.reposDir)]);
    expect([...places.keys()].map((path) => path.replace(/.*\//, ''))).to.include.members([
      ...['hawser.db', 'hawser.db-wal', 'ca.key'],
    ]);
    places.set('the log', Buffer.from(hawser.log()));
    for (const [what, secret] of secrets) {
      const forms = [secret, Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')];
      for (const [place, bytes] of places) {
        for (const form of forms) expect(bytes.includes(form), `${what} in ${place}`).to.equal(false);
      }
    }
  });
});
