// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { DAY, MINUTE, SECOND } from '../../src/lib/clock.ts';
import { auditEntries, auditedDuring, type Entry, expectNothingAudited } from '../support/audit.ts';
import type { Client, Reply } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { withDatabase } from '../support/database.ts';
import { ADMIN_PASSWORD, createKey, publishConfiguration, signIn, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const REGISTER = '/api/v1/nodes/register';
const KEYS = '/api/v1/admin/registration-keys';
const TOKENS = '/api/v1/auth/tokens';
const USER_PASSWORD = 'a-password-of-a-test-user';

let requests = 0;
/** An id of the client's own, which the entry must carry. */
const named = (client: Client): { client: Client; requestId: string } => {
  requests += 1;
  const requestId = `audited-request-${requests}`;
  return { client: client.with({ 'X-Request-Id': requestId }), requestId };
};

describe('the audit trail of sign-in', () => {
  const hawser = started(startHawser);
  let anna: Client;
  let annaId: string;
  const login = (client: Client, username: string, password: string): Promise<Reply> =>
    client.post('/api/v1/auth/login', { username, password });

  before(async () => {
    anna = await makeUser(hawser, { username: 'anna', permissions: ['nodes.read'] });
    annaId = (await anna.get('/api/v1/auth/me')).json.userId;
  });
  // Each test has the attempts of a fresh minute.
  beforeEach(() => hawser.clock.advance(MINUTE + SECOND));

  const asAnna = () => ({ actorType: 'User', actorId: annaId, actorName: 'anna', ipAddress: '127.0.0.1' });
  const asNobody = { actorType: 'Anonymous', actorId: null, actorName: null, ipAddress: '127.0.0.1' };

  /** Does the work in a request of its own id; expects exactly this entry of it. */
  async function expectEntry(
    client: Client,
    expected: Partial<Entry>,
    work: (client: Client) => Promise<unknown>,
  ): Promise<void> {
    const request = named(client);
    const entries = await auditedDuring(hawser, () => work(request.client));
    expect(entries).to.have.length(1);
    expect(entries[0]).to.deep.include({ ...expected, requestId: request.requestId });
    expect(hawser.clock.now() - Date.parse(entries[0]?.timestamp ?? '')).to.be.within(0, MINUTE);
  }

  it('tells who signed in', async () => {
    const expected = { ...asAnna(), action: 'session.created', resourceType: 'User', resourceId: annaId };
    await expectEntry(hawser.client(), { ...expected, details: null }, async (client) => {
      await ok(200, login(client, 'ANNA', USER_PASSWORD));
    });
  });

  it('tells of a wrong password whose account it was tried on, and when it locks', async () => {
    for (const failure of [1, 2, 3, 4, 5, 6]) {
      const reason = failure < 5 ? 'wrong password' : failure === 5 ? 'wrong password, now locked' : 'locked';
      const details = { reason, username: 'anna' };
      const expected = { ...asNobody, action: 'session.refused', resourceId: annaId, details };
      await expectEntry(hawser.client(), expected, async (client) => {
        expect((await login(client, 'Anna', 'a-wrong-password')).status).to.equal(401);
      });
    }
    const unlocked = { lockout_end: null, access_failed_count: 0 };
    await withDatabase(hawser, ({ write }) => write.updateTable('users').set(unlocked).execute());
  });

  it('keeps to itself what was typed for a name that nobody has', async () => {
    const typed = 'my-password-in-the-wrong-field';
    const details = { reason: 'unknown user' };
    const expected = { ...asNobody, action: 'session.refused', resourceId: null, details };
    await expectEntry(hawser.client(), expected, (client) => login(client, typed, 'x'));
    expect(JSON.stringify(await auditEntries(hawser))).to.not.include(typed);
  });

  it('tells of an inactive account', async () => {
    const setActive = (is_active: number) =>
      withDatabase(hawser, ({ write }) =>
        write.updateTable('users').set({ is_active }).where('id', '=', annaId).execute(),
      );
    await setActive(0);
    const details = { reason: 'inactive', username: 'anna' };
    await expectEntry(hawser.client(), { ...asNobody, details }, (client) =>
      login(client, 'anna', USER_PASSWORD),
    );
    await setActive(1);
  });

  it('tells once a minute that an address tries too often', async () => {
    await login(hawser.client(), 'nobody', 'x');
    await withDatabase(hawser, ({ write }) =>
      write.updateTable('login_attempts').set({ attempts: 30 }).execute(),
    );
    const details = { reason: 'too many attempts' };
    const expected = { ...asNobody, action: 'session.refused', resourceId: null, details };
    const tooMany = async (client: Client) =>
      expect((await login(client, 'anna', USER_PASSWORD)).status).to.equal(429);
    await expectEntry(hawser.client(), expected, tooMany);
    await expectNothingAudited(hawser, async () => {
      await tooMany(hawser.client());
      await tooMany(hawser.client());
    });
  });

  it('leaves nothing of a body that is no sign-in', async () => {
    await expectNothingAudited(hawser, async () => {
      expect((await hawser.client().post('/api/v1/auth/login', { username: 'anna' })).status).to.equal(400);
    });
  });

  it('tells of every way to sign out, once', async () => {
    const session = async () =>
      hawser.client().with({ Cookie: await signIn(hawser.client(), 'anna', USER_PASSWORD) });
    const expected = { ...asAnna(), action: 'session.ended', resourceType: 'User', resourceId: annaId };
    const first = await session();
    await expectEntry(first, expected, (client) => client.post('/api/v1/auth/logout'));
    await expectNothingAudited(hawser, () => first.post('/api/v1/auth/logout'));
    await expectEntry(await session(), expected, (client) => client.get('/api/v1/auth/logout-redirect'));
  });

  it('tells of a changed password, and not of an attempt that changed nothing', async () => {
    const path = '/api/v1/auth/change-password';
    const change = { currentPassword: USER_PASSWORD, newPassword: 'another-password-of-anna' };
    await expectNothingAudited(hawser, async () => {
      await anna.post(path, { ...change, currentPassword: 'a-wrong-password' });
      await anna.post(path, { ...change, newPassword: 'short' });
    });
    const expected = { ...asAnna(), action: 'password.changed', resourceType: 'User', resourceId: annaId };
    await expectEntry(anna, { ...expected, details: null }, async (client) => {
      await ok(204, client.post(path, change));
    });
  });

  it('tells of tokens made and revoked, and nothing of a second revocation', async () => {
    let token: Reply['json'];
    const body = { name: 'deploy', scopes: ['nodes.read'], expiresAt: null };
    const created = { ...asAnna(), action: 'token.created', resourceType: 'Token', details: body };
    await expectEntry(anna, created, async (client) => {
      token = (await client.post(TOKENS, body)).json;
    });
    const [entry] = await auditEntries(hawser, 'take=1');
    expect(entry?.resourceId).to.equal(token.tokenId);
    const revoked = { ...asAnna(), action: 'token.revoked', resourceId: token.tokenId };
    await expectEntry(anna, { ...revoked, details: { name: 'deploy' } }, (client) =>
      client.delete(`${TOKENS}/${token.tokenId}`),
    );
    await expectNothingAudited(hawser, async () => {
      await ok(204, anna.delete(`${TOKENS}/${token.tokenId}`));
      expect((await anna.delete(`${TOKENS}/${annaId}`)).status).to.equal(404);
      expect((await anna.post(TOKENS, { ...body, scopes: ['no.such'] })).status).to.equal(400);
    });
  });
});

describe('the audit trail of registration keys', () => {
  const hawser = started(startHawser);

  it('tells of a key made, described anew and revoked, by which token, and never the key', async () => {
    const wish = { description: 'rack 7', maxUses: 3, allowReregistration: true };
    let key: Reply['json'];
    const entries = await auditedDuring(hawser, async () => {
      key = (await hawser.admin.post(KEYS, wish)).json;
      await hawser.admin.put(`${KEYS}/${key.id}`, { description: 'rack 8' });
      await hawser.admin.delete(`${KEYS}/${key.id}`);
    });
    const me = (await hawser.admin.get('/api/v1/auth/me')).json;
    const [token] = (await hawser.admin.get(TOKENS)).json;
    for (const entry of entries) {
      const who = { actorType: 'User', actorId: me.userId, actorName: 'admin', ipAddress: '127.0.0.1' };
      expect(entry).to.include({ ...who, resourceType: 'RegistrationKey', resourceId: key.id });
    }
    const tokenId = token.id;
    expect(entries.map(({ action, details }) => ({ action, details }))).to.deep.equal([
      { action: 'registration_key.created', details: { ...wish, expiresAt: key.expiresAt, tokenId } },
      {
        action: 'registration_key.updated',
        details: { description: { from: 'rack 7', to: 'rack 8' }, tokenId },
      },
      { action: 'registration_key.revoked', details: { description: 'rack 8', tokenId } },
    ]);
    expect(JSON.stringify(entries)).to.not.include(key.key);
  });

  it('tells nothing where nothing changed, and the first revocation stays the one', async () => {
    const { id } = (await hawser.admin.post(KEYS, { description: 'rack 9' })).json;
    await hawser.admin.delete(`${KEYS}/${id}`);
    const row = () =>
      withDatabase(hawser, ({ read }) =>
        read.selectFrom('registration_keys').selectAll().where('id', '=', id).executeTakeFirst(),
      );
    const before = await row();
    hawser.clock.advance(MINUTE);
    await expectNothingAudited(hawser, async () => {
      await ok(204, hawser.admin.delete(`${KEYS}/${id}`));
      await ok(200, hawser.admin.put(`${KEYS}/${id}`, { description: 'rack 9' }));
      expect((await hawser.admin.post(KEYS, { maxUses: 0 })).status).to.equal(400);
    });
    expect(await row()).to.deep.equal(before);
  });
});

describe('the audit trail of nodes', () => {
  const hawser = started(startHawser);
  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { 'main.dsc.yaml': 'one' } });
  });

  const anonymous = { actorType: 'Anonymous', actorId: null, actorName: null, ipAddress: '127.0.0.1' };
  const register = (client: Client, registrationKey: string, fqdn: string, settings = {}): Promise<Reply> =>
    client.post(REGISTER, { registrationKey, fqdn, ...settings });

  it('tells of a registration with which key and certificate, and of the next one under the same name', async () => {
    const key = (await hawser.admin.post(KEYS, { allowReregistration: true })).json;
    const fqdn = 'told.example.org';
    let nodeId = '';
    for (const action of ['node.registered', 'node.reregistered']) {
      const identity = await makeClientCertificate({ commonName: fqdn });
      const { client, requestId } = named(hawser.client(identity));
      const entries = await auditedDuring(hawser, async () => {
        nodeId = (await register(client, key.key, fqdn)).json.nodeId;
      });
      expect(entries).to.have.length(1);
      const details = { fqdn, registrationKeyId: key.id, thumbprint: identity.thumbprint };
      const what = { action, resourceType: 'Node', resourceId: nodeId, details };
      expect(entries[0]).to.deep.include({ ...anonymous, ...what, requestId });
    }
  });

  it('tells nothing of a node that registers again as it is, whatever it reports of itself', async () => {
    const key = await createKey(hawser.admin);
    const client = hawser.client(await makeClientCertificate({ commonName: 'again' }));
    const settings = { configurationMode: 'Monitor', configurationModeInterval: '00:15:00' };
    await register(client, key, 'again.example.org', settings);
    const generation = () =>
      withDatabase(hawser, ({ read }) => read.selectFrom('generation').selectAll().execute());
    const before = await generation();
    await expectNothingAudited(hawser, async () => {
      await ok(200, register(client, key, 'again.example.org', settings));
      await ok(200, register(client, key, 'again.example.org'));
      const other = { configurationMode: 'Remediate' };
      await ok(200, register(client, key, 'AGAIN.example.org', other));
    });
    expect(await generation()).to.deep.equal(before);
  });

  it('tells of each refused registration why, and never the key', async () => {
    const keys = {
      good: await createKey(hawser.admin),
      revoked: await createKey(hawser.admin),
      expired: await createKey(hawser.admin, {
        expiresAt: new Date(hawser.clock.now() + MINUTE).toISOString(),
      }),
      usedUp: await createKey(hawser.admin, { maxUses: 1 }),
      unknown: 'reg_this-key-was-never-made-by-anybody',
    };
    const listed = (await hawser.admin.get(KEYS)).json;
    const revoked = listed.find((row: { keyPrefix: string }) => keys.revoked.startsWith(row.keyPrefix));
    await hawser.admin.delete(`${KEYS}/${revoked.id}`);
    const holder = await hawser.registerNode('holder.example.org');
    const stranger = hawser.client(await makeClientCertificate({ commonName: 'stranger' }));
    const spent = hawser.client(await makeClientCertificate({ commonName: 'spent' }));
    await ok(200, register(spent, keys.usedUp, 'spent.example.org'));
    const old = await makeClientCertificate({ commonName: 'old', notAfter: Date.now() - MINUTE });
    const early = await makeClientCertificate({ commonName: 'early', notBefore: Date.now() + DAY });
    hawser.clock.advance(2 * MINUTE);
    const fqdn = 'refused.example.org';
    const key = keys.good;
    const refusals: [reason: string, client: Client, key: string, fqdn: string, body?: object][] = [
      ['registration key unknown', stranger, keys.unknown, fqdn],
      ['registration key revoked', stranger, keys.revoked, fqdn],
      ['registration key expired', stranger, keys.expired, fqdn],
      ['registration key used up', stranger, keys.usedUp, fqdn],
      ['client_certificate_required', hawser.client(), key, fqdn],
      ['certificate_expired', hawser.client(old), key, fqdn],
      ['certificate_not_yet_valid', hawser.client(early), key, fqdn],
      ['certificate_in_use', holder.client, key, fqdn],
      ['node_exists', stranger, key, 'holder.example.org'],
      ['invalid_csr', hawser.client(), key, fqdn, { csr: 'garbage' }],
    ];
    for (const [reason, client, secret, name, body] of refusals) {
      const request = named(client);
      const entries = await auditedDuring(hawser, async () => {
        const reply = await register(request.client, secret, name, body);
        expect(reply.status, reason).to.be.within(400, 409);
      });
      expect(entries, reason).to.have.length(1);
      const what = { action: 'node.registration_refused', resourceType: 'Node', resourceId: null };
      const details = { fqdn: name, reason };
      expect(entries[0]).to.deep.include({ ...anonymous, ...what, details, requestId: request.requestId });
    }
    const trail = JSON.stringify(await auditEntries(hawser, 'take=1000'));
    for (const secret of Object.values(keys)) expect(trail).to.not.include(secret);
  });

  it('keeps to itself what was sent for a name that is none', async () => {
    const key = await createKey(hawser.admin);
    const client = hawser.client(await makeClientCertificate({ commonName: 'mixed-up' }));
    const entries = await auditedDuring(hawser, () => register(client, 'web-01.example.org', key));
    expect(entries.map(({ details }) => details)).to.deep.equal([
      { fqdn: null, reason: 'invalid_host_name' },
    ]);
    await expectNothingAudited(hawser, async () => {
      expect((await client.post(REGISTER, { fqdn: 'x' })).status).to.equal(400);
    });
  });

  it('is not flooded: of one address it takes a hundred refusals a minute, and the answer stays the same', async () => {
    hawser.clock.advance(MINUTE + SECOND);
    const client = hawser.client(await makeClientCertificate({ commonName: 'flood' }));
    const refuse = () => register(client, 'reg_guess', 'flood.example.org');
    const first = await refuse();
    await withDatabase(hawser, ({ write }) =>
      write
        .updateTable('login_attempts')
        .set({ attempts: 98 })
        .where('address', 'like', 'registration %')
        .execute(),
    );
    const entries = await auditedDuring(hawser, async () => {
      for (const _ of [99, 100, 101, 102]) {
        const reply = await refuse();
        expect(reply.status).to.equal(first.status);
        expect(reply.text).to.equal(first.text);
      }
    });
    expect(entries.map(({ details }) => details?.['furtherNotRecorded'])).to.deep.equal([undefined, true]);
    expect(
      (await signIn(hawser.client(), 'admin', ADMIN_PASSWORD)).length,
      'sign-in counts apart',
    ).to.be.above(0);
    hawser.clock.advance(MINUTE + SECOND);
    expect(await auditedDuring(hawser, refuse), 'a minute later').to.have.length(1);
  });

  it('tells what was assigned and taken, and leaves an assignment that is there as it is', async () => {
    const node = await hawser.registerNode('assigned.example.org');
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    const assignedAt = () =>
      withDatabase(hawser, async ({ read }) => {
        const row = read.selectFrom('assignments').select('assigned_at').where('node_id', '=', node.nodeId);
        return (await row.executeTakeFirst())?.assigned_at;
      });
    const { fqdn, nodeId } = node;
    const none = { majorVersion: null, prereleaseChannel: null, version: null };
    const web = { configurationName: 'web', isComposite: false };
    const steps: [body: object | null, action: string, details: object][] = [
      [{ configurationName: 'web' }, 'assigned', { ...web, ...none }],
      [{ configurationName: 'web', majorVersion: 1 }, 'assigned', { ...web, ...none, majorVersion: 1 }],
      [{ configurationName: 'web', version: '1.0.0' }, 'assigned', { ...web, ...none, version: '1.0.0' }],
      [null, 'unassigned', web],
    ];
    const session = hawser.client().with({ Cookie: hawser.session });
    const me = (await session.get('/api/v1/auth/me')).json;
    for (const [body, action, details] of steps) {
      const { client, requestId } = named(session);
      const call = () => (body === null ? client.delete(path) : client.put(path, body));
      const entries = await auditedDuring(hawser, async () => {
        await ok(204, call());
      });
      expect(entries).to.have.length(1);
      expect(entries[0]).to.deep.include({
        ...{ actorType: 'User', actorId: me.userId, actorName: 'admin', requestId },
        ...{ action: `node.configuration_${action}`, resourceType: 'Node', resourceId: nodeId },
        details: { fqdn, ...details },
      });
      const since = await assignedAt();
      hawser.clock.advance(MINUTE);
      await expectNothingAudited(hawser, async () => {
        await ok(204, call());
      });
      expect(await assignedAt()).to.equal(since);
    }
    await expectNothingAudited(hawser, async () => {
      expect((await session.put(path, { configurationName: 'no-such' })).status).to.equal(404);
      expect((await session.put(path, { configurationName: 'web', majorVersion: 9 })).status).to.equal(409);
    });
  });
});
