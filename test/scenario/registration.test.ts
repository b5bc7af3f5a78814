// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { DAY, MINUTE } from '../../src/lib/clock.ts';
import type { Client, Reply } from '../support/client.ts';
import { type ClientCertificate, makeClientCertificate } from '../support/client-certificates.ts';
import { createKey, startHawser } from '../support/hawser.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const REGISTER = '/api/v1/nodes/register';

describe('a node registers with a key and its certificate', () => {
  const hawser = started(startHawser);
  let key: string;

  before(async () => {
    key = await createKey(hawser.admin);
  });

  const clientOf = async (commonName: string): Promise<Client> =>
    hawser.client(await makeClientCertificate({ commonName }));
  const register = async (fqdn: string, body: Record<string, unknown> = {}): Promise<Reply> =>
    (await clientOf('any')).post(REGISTER, { registrationKey: key, fqdn, ...body });
  const nodesNamed = async (fqdn: string): Promise<Reply['json'][]> =>
    (await hawser.admin.get(`/api/v1/nodes?fqdn=${encodeURIComponent(fqdn)}`)).json;
  const keyRow = async (secret: string): Promise<Reply['json']> =>
    (await hawser.admin.get('/api/v1/admin/registration-keys')).json.find((row: { keyPrefix: string }) =>
      secret.startsWith(row.keyPrefix),
    );

  /** Connected already, so that their next requests arrive together. */
  const crowd = async (size: number): Promise<Client[]> => {
    const clients = await Promise.all(Array.from({ length: size }, () => clientOf('crowd')));
    await Promise.all(clients.map((client) => client.get('/health/')));
    return clients;
  };

  it('takes the exact body of an OpenDSC agent, over its RSA-2048 certificate', async () => {
    const identity = await makeClientCertificate({ commonName: 'WIN-AGENT', rsa: true });
    const reply = await hawser.client(identity).post(REGISTER, {
      registrationKey: key,
      fqdn: 'WIN-AGENT',
      configurationSource: 'Pull',
      configurationMode: 'Monitor',
      configurationModeInterval: '00:15:00',
      reportCompliance: true,
    });
    expect(reply.status).to.equal(200);
    expect(reply.json).to.have.all.keys('nodeId');
    expect(reply.json.nodeId).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const [node] = await nodesNamed('win-agent');
    expect(node).to.deep.include({
      id: reply.json.nodeId,
      fqdn: 'win-agent',
      status: 'Unknown',
      lcmStatus: 'Unknown',
      configurationSource: 'Pull',
      configurationMode: 'Monitor',
      configurationModeInterval: '00:15:00',
      reportCompliance: true,
    });
  });

  it('lower-cases the host name, and takes single-label ones', async () => {
    expect((await register('DB-01.Example.ORG')).status).to.equal(200);
    expect((await nodesNamed('db-01.example.org')).length).to.equal(1);
    expect((await register('x')).status).to.equal(200);
    const longest = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
    expect((await register(longest)).status).to.equal(200);
  });

  for (const [fault, fqdn] of Object.entries({
    // All others are in the tests of host names.
    'an empty name': '',
    'a .lock ending': 'web.LOCK',
    'a path': '../../etc/passwd',
    'a NUL': 'web\u0000',
  })) {
    it(`refuses ${fault} with 400`, async () => {
      const reply = await register(fqdn);
      expect(reply.status).to.equal(400);
      expect(reply.json).to.include({ code: 'validation_failed', status: 400 });
      expect(reply.json.errors[0].path).to.equal('/fqdn');
    });
  }

  it('takes the names of Windows machines and containers, and one dot at the end, which it cuts off', async () => {
    const identity = await makeClientCertificate({ commonName: 'WIN_APP_01' });
    const body = { registrationKey: key, fqdn: 'WIN_APP_01.Corp.Example.ORG.' };
    const first = await ok(200, hawser.client(identity).post(REGISTER, body));
    const nodes = await nodesNamed('win_app_01.corp.example.org');
    expect(nodes.map(({ id, fqdn }: Reply['json']) => [id, fqdn])).to.deep.equal([
      [first.nodeId, 'win_app_01.corp.example.org'],
    ]);
    for (const fqdn of ['win_app_01.corp.example.org', 'WIN_APP_01.corp.example.org.'])
      expect((await hawser.client(identity).post(REGISTER, { ...body, fqdn })).json).to.deep.equal(first);
    expect((await register('win_app_01.corp.example.org.')).json.code).to.equal('node_exists');
    // An underscore is no hyphen, and no placeholder.
    expect((await register('win-app-01.corp.example.org')).status).to.equal(200);
    expect(await nodesNamed('win_app_01')).to.have.length(1);
  });

  it('says that letters outside ASCII go into punycode', async () => {
    for (const fqdn of ['bücher.example.org', '例え.jp', 'web\u2024example.org']) {
      const reply = await register(fqdn);
      expect(reply.status).to.equal(400);
      expect(reply.json.errors[0]).to.include({ path: '/fqdn', code: 'invalid_host_name' });
      expect(reply.json.errors[0].message).to.match(/punycode.*xn--/);
    }
    expect((await register('web 01')).json.errors[0].message).to.not.match(/punycode/);
    expect((await register('xn--bcher-kva.example.org')).status).to.equal(200);
  });

  it('takes it that who registers pulls, unless it says otherwise', async () => {
    await register('silent.example.org');
    await register('nothing.example.org', { configurationSource: null });
    await register('local.example.org', { configurationSource: 'local' });
    for (const [name, source] of [
      ['silent', 'Pull'],
      ['nothing', 'Pull'],
      ['local', 'Local'],
    ])
      expect((await nodesNamed(`${name}.example.org`))[0].configurationSource).to.equal(source);
  });

  for (const [fault, path, body] of [
    ['an unknown source', '/configurationSource', { configurationSource: 'Push' }],
    ['an unknown mode', '/configurationMode', { configurationMode: 'ApplyOnly' }],
    ['a negative interval', '/configurationModeInterval', { configurationModeInterval: '-00:15:00' }],
    ['an interval as a number', '/configurationModeInterval', { configurationModeInterval: 900 }],
    ['a flag as text', '/reportCompliance', { reportCompliance: 'true' }],
    ['a key as a number', '/registrationKey', { registrationKey: 1 }],
    ['no name', '/fqdn', { fqdn: undefined }],
    ['no key', '/registrationKey', { registrationKey: undefined }],
  ] as [string, string, Record<string, unknown>][]) {
    it(`refuses ${fault} with 400, and makes no node`, async () => {
      const reply = await expectInvalid(register('faulty.example.org', body));
      expect(reply.json.errors.map((error: { path: string }) => error.path)).to.deep.equal([path]);
      expect(await nodesNamed('faulty')).to.deep.equal([]);
    });
  }

  it('matches enums in any case, takes both forms of durations and ignores what it does not know', async () => {
    await ok(
      200,
      register('lenient.example.org', {
        configurationSource: 'pULL',
        configurationMode: 'REMEDIATE',
        configurationModeInterval: 'P1DT90M',
        agentVersion: '9.9',
        nested: { __proto__: null, registrationKey: 'x' },
      }),
    );
    expect((await nodesNamed('lenient'))[0]).to.include({
      configurationSource: 'Pull',
      configurationMode: 'Remediate',
      configurationModeInterval: '1.01:30:00',
      reportCompliance: null,
    });
  });

  it('answers 400 client_certificate_required without a certificate and a csr', async () => {
    await expectProblem(
      hawser.client().post(REGISTER, { registrationKey: key, fqdn: 'bare.example.org' }),
      400,
      'client_certificate_required',
    );
    expect(await nodesNamed('bare')).to.deep.equal([]);
  });

  it('answers 400 certificate_expired to an expired certificate', async () => {
    const now = Date.now();
    const identity = await makeClientCertificate({
      commonName: 'old',
      notBefore: now - 2 * DAY,
      notAfter: now - MINUTE,
    });
    await expectProblem(
      hawser.client(identity).post(REGISTER, { registrationKey: key, fqdn: 'old.example.org' }),
      400,
      'certificate_expired',
    );
    expect(await nodesNamed('old.example')).to.deep.equal([]);
  });

  it('answers 400 certificate_not_yet_valid to one that begins more than five minutes from now', async () => {
    const key = await createKey(hawser.admin, { maxUses: 1 });
    const registerFrom = async (fqdn: string, notBefore: number) => {
      const identity = await makeClientCertificate({ commonName: 'early', notBefore });
      return hawser.client(identity).post(REGISTER, { registrationKey: key, fqdn });
    };
    const refused = await registerFrom('early.example.org', hawser.clock.now() + 6 * MINUTE);
    await expectProblem(refused, 400, 'certificate_not_yet_valid');
    expect(refused.json.detail).to.match(
      /^The certificate is not valid before 20\S+Z, and by the clock of this server/,
    );
    expect(await nodesNamed('early.example')).to.deep.equal([]);
    // The refusal has not used up the key, and a clock that is a little ahead does no harm.
    await ok(200, registerFrom('early.example.org', hawser.clock.now() + 4 * MINUTE));
  });

  it('takes a key that is used up from the node that registered by it, whose answer may have been lost', async () => {
    const registrationKey = await createKey(hawser.admin, { maxUses: 1 });
    const [own, other] = await Promise.all(
      ['own', 'other'].map((commonName) => makeClientCertificate({ commonName })),
    );
    const from = (identity: typeof own, fqdn: string, key = registrationKey) =>
      hawser.client(identity).post(REGISTER, { registrationKey: key, fqdn });
    const { nodeId } = await ok(200, from(own, 'lost.example.org'));
    expect((await ok(200, from(own, 'lost.example.org'))).nodeId).to.equal(nodeId);
    expect(await keyRow(registrationKey)).to.include({ currentUses: 1 });
    await expectProblem(from(other, 'lost.example.org'), 403, 'registration_key_rejected');
    await expectProblem(from(other, 'more.example.org'), 403, 'registration_key_rejected');
    // Of another key that is used up it knows nothing.
    const elsewhere = await createKey(hawser.admin, { maxUses: 1 });
    await ok(200, from(other, 'elsewhere.example.org', elsewhere));
    await expectProblem(from(own, 'lost.example.org', elsewhere), 403, 'registration_key_rejected');
    const { id } = await keyRow(registrationKey);
    await ok(204, hawser.admin.delete(`/api/v1/admin/registration-keys/${id}`));
    await expectProblem(from(own, 'lost.example.org'), 403, 'registration_key_rejected');
  });

  it('gives one answer for a key that is unknown, revoked, expired or used up, and logs why', async () => {
    const expiresAt = new Date(hawser.clock.now() + MINUTE).toISOString();
    const keys: Record<string, string> = {
      unknown: 'reg_thisKeyWasNeverMade0123456789abcdefghijklmno',
      revoked: await createKey(hawser.admin),
      expired: await createKey(hawser.admin, { expiresAt }),
      'used up': await createKey(hawser.admin, { maxUses: 1 }),
    };
    const { id } = await keyRow(keys['revoked'] ?? '');
    expect((await hawser.admin.delete(`/api/v1/admin/registration-keys/${id}`)).status).to.equal(204);
    expect((await register('first.example.org', { registrationKey: keys['used up'] })).status).to.equal(200);
    hawser.clock.advance(MINUTE);
    const answers = new Set<string>();
    for (const [reason, registrationKey] of Object.entries(keys)) {
      const before = hawser.log().length;
      const fqdn = `refused-${reason.replace(' ', '-')}.example.org`;
      const reply = await expectProblem(
        register(fqdn, { registrationKey }),
        403,
        'registration_key_rejected',
      );
      const { date: _, 'x-request-id': id, ...headers } = reply.headers;
      answers.add(JSON.stringify(headers) + reply.text);
      const logged = hawser.log().slice(before);
      // In one line with the request id, so that an operator who is told the id finds the reason.
      const line = logged.split('\n').find((text) => text.includes(`registration key ${reason}`));
      expect(JSON.parse(line ?? '{}')).to.include({ level: 'warn', requestId: id, fqdn });
      expect(logged).to.not.include(registrationKey);
      expect(reply.text).to.not.include(registrationKey);
    }
    expect(answers.size).to.equal(1);
    expect(await nodesNamed('refused')).to.deep.equal([]);
  });

  it('looks at the key before it tells whether a name is taken', async () => {
    expect((await register('taken.example.org')).status).to.equal(200);
    const reply = await register('taken.example.org', { registrationKey: 'reg_guess' });
    expect(reply.json.code).to.equal('registration_key_rejected');
  });

  it('answers a known name with the same certificate its id again, counting no use', async () => {
    const once = await createKey(hawser.admin, { maxUses: 2 });
    const client = await clientOf('again');
    const body = { registrationKey: once, fqdn: 'again.example.org', configurationMode: 'Monitor' };
    const first = await client.post(REGISTER, { ...body, configurationModeInterval: '00:15:00' });
    const second = await client.post(REGISTER, {
      ...body,
      fqdn: 'AGAIN.example.org',
      configurationMode: 'Remediate',
      reportCompliance: false,
    });
    expect(second.status).to.equal(200);
    expect(second.json).to.deep.equal(first.json);
    expect((await keyRow(once)).currentUses).to.equal(1);
    const nodes = await nodesNamed('again');
    expect(nodes.length).to.equal(1);
    // What the second call left out stays as the first one set it.
    expect(nodes[0]).to.include({
      configurationMode: 'Remediate',
      configurationModeInterval: '00:15:00',
      reportCompliance: false,
    });
  });

  it('still wants a good key from a known name with the same certificate', async () => {
    const client = await clientOf('keyless');
    const body = { registrationKey: key, fqdn: 'keyless.example.org' };
    expect((await client.post(REGISTER, body)).status).to.equal(200);
    const reply = await client.post(REGISTER, { ...body, registrationKey: 'reg_wrong' });
    expect(reply.json.code).to.equal('registration_key_rejected');
  });

  it('answers 409 node_exists to a known name with another certificate, and changes nothing', async () => {
    const limited = await createKey(hawser.admin, { maxUses: 5 });
    const node = await hawser.registerNode('owner.example.org');
    await expectProblem(
      register('owner.example.org', {
        registrationKey: limited,
        configurationMode: 'Remediate',
      }),
      409,
      'node_exists',
    );
    expect((await keyRow(limited)).currentUses).to.equal(0);
    expect((await nodesNamed('owner.example.org'))[0]).to.include({ configurationMode: null });
    expect((await node.client.get(`/api/v1/nodes/${node.nodeId}/configuration/checksum`)).status).to.equal(
      404,
    );
  });

  it('answers 409 certificate_in_use to a certificate that another node holds, whatever the name', async () => {
    const allowing = await createKey(hawser.admin, { allowReregistration: true });
    const holder = await hawser.registerNode('holder.example.org');
    await hawser.registerNode('victim.example.org');
    for (const fqdn of ['fresh-name.example.org', 'victim.example.org']) {
      await expectProblem(
        holder.client.post(REGISTER, { registrationKey: allowing, fqdn }),
        409,
        'certificate_in_use',
      );
    }
    expect((await keyRow(allowing)).currentUses).to.equal(0);
    expect(await nodesNamed('fresh-name')).to.deep.equal([]);
  });

  it('lets a key with allowReregistration replace the certificate; the old one stops at once', async () => {
    const allowing = await createKey(hawser.admin, { allowReregistration: true });
    const node = await hawser.registerNode('rebuilt.example.org');
    const checksum = `/api/v1/nodes/${node.nodeId}/configuration/checksum`;
    expect((await node.client.get(checksum)).status).to.equal(404);
    const identity: ClientCertificate = await makeClientCertificate({ commonName: 'rebuilt' });
    const rebuilt = hawser.client(identity);
    const reply = await rebuilt.post(REGISTER, { registrationKey: allowing, fqdn: node.fqdn });
    expect(reply.status).to.equal(200);
    expect(reply.json.nodeId).to.equal(node.nodeId);
    expect((await keyRow(allowing)).currentUses).to.equal(1);
    // The old one is asked over the connection that it has kept open.
    const refused = await node.client.get(checksum);
    expect(refused.status).to.equal(401);
    expect(refused.headers['connection']).to.equal('close');
    expect((await rebuilt.get(checksum)).json.code).to.equal('no_configuration_assigned');
    const details = (await hawser.admin.get(`/api/v1/nodes/${node.nodeId}`)).json;
    expect(details.certificate.thumbprint).to.equal(identity.thumbprint);
  });

  it('lets exactly maxUses of many registrations at once succeed', async () => {
    const limited = await createKey(hawser.admin, { maxUses: 7 });
    const clients = await crowd(30);
    const replies = await Promise.all(
      clients.map((client, at) =>
        client.post(REGISTER, { registrationKey: limited, fqdn: `crowd-${at}.example.org` }),
      ),
    );
    const statuses = replies.map((reply) => reply.status).sort();
    expect(statuses).to.deep.equal([...Array(7).fill(200), ...Array(23).fill(403)]);
    expect((await keyRow(limited)).currentUses).to.equal(7);
    expect((await nodesNamed('crowd-')).length).to.equal(7);
  });

  it('makes one node of many registrations of one name at once', async () => {
    const limited = await createKey(hawser.admin, { maxUses: 30 });
    const body = { registrationKey: limited, fqdn: 'rush.example.org' };
    const clients = await crowd(12);
    const replies = await Promise.all(clients.map((client) => client.post(REGISTER, body)));
    expect(replies.filter((reply) => reply.status === 200).length).to.equal(1);
    expect(replies.filter((reply) => reply.json.code === 'node_exists').length).to.equal(11);
    expect((await nodesNamed('rush')).length).to.equal(1);
    expect((await keyRow(limited)).currentUses).to.equal(1);
  });

  it('gives many registrations at once over one certificate and name one id and one use', async () => {
    const limited = await createKey(hawser.admin, { maxUses: 1 });
    const client = await clientOf('retry');
    const body = { registrationKey: limited, fqdn: 'retry.example.org' };
    const replies = await Promise.all(Array.from({ length: 8 }, () => client.post(REGISTER, body)));
    const ids = new Set(replies.filter((reply) => reply.status === 200).map((reply) => reply.json.nodeId));
    expect(ids.size).to.equal(1);
    expect((await keyRow(limited)).currentUses).to.equal(1);
  });

  it('answers malformed bodies with 400 and other media types with 415', async () => {
    const client = await clientOf('broken');
    const send = (body: string, type: string) =>
      client.call('POST', REGISTER, { body, headers: { 'Content-Type': type } });
    expect((await send('{', 'application/json')).status).to.equal(400);
    expect((await send('[]', 'application/json')).json.code).to.equal('validation_failed');
    expect((await send('{}', 'text/plain')).status).to.equal(415);
  });
});
