// full: SQLite, PostgreSQL
import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { DAY, HOUR, MINUTE, SECOND, toTimestamp } from '../../src/lib/clock.ts';
import { auditEntries } from '../support/audit.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { createKey, type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { announce, call, rotate, withCertificate, withNewCertificate } from '../support/rotation.ts';
import { started } from '../support/started.ts';

describe('a node rotates its certificate', () => {
  const hawser = started(startHawser);
  let old: NodeUnderTest;
  let next: NodeUnderTest;
  let nodes = 0;

  beforeEach(async () => {
    nodes += 1;
    old = await hawser.registerNode(`web-${nodes}.example.org`);
    next = await withNewCertificate(hawser, old);
    // From here on its connection is a kept one.
    expect(await call(old)).to.equal(200);
  });

  const certificateOf = async ({ nodeId }: NodeUnderTest): Promise<Record<string, string | null>> =>
    (await hawser.admin.get(`/api/v1/nodes/${nodeId}`)).json.certificate;

  async function expectSwitched(to = next): Promise<void> {
    expect(await call(to)).to.equal(200);
    const { thumbprint, pendingThumbprint } = await certificateOf(old);
    expect({ thumbprint, pendingThumbprint }).to.deep.equal({
      thumbprint: to.identity.thumbprint,
      pendingThumbprint: null,
    });
  }

  async function expectUnchanged(): Promise<void> {
    expect(await call(old)).to.equal(200);
    const { thumbprint, pendingThumbprint } = await certificateOf(old);
    expect({ thumbprint, pendingThumbprint }).to.deep.equal({
      thumbprint: old.identity.thumbprint,
      pendingThumbprint: null,
    });
  }

  it('keeps the old one until the first use of the new one, which ends the old one at once', async () => {
    const announcement = announce(next.identity);
    const reply = await rotate(old, announcement);
    expect(reply.status).to.equal(200);
    expect(reply.json).to.have.all.keys('message');
    expect(reply.json.message).to.be.a('string');
    expect(await call(old)).to.equal(200);
    expect(await certificateOf(old)).to.deep.include({
      thumbprint: old.identity.thumbprint,
      pendingThumbprint: announcement.certificateThumbprint,
    });
    await expectSwitched();
    const refused = await old.client.get(`/api/v1/nodes/${old.nodeId}/lcm-config`);
    await expectProblem(refused, 401, 'unauthenticated');
    expect(refused.headers['connection']).to.equal('close');
    expect(await call(withCertificate(hawser, old, old.identity))).to.equal(401);
    // The old one cannot bring itself back either.
    await expectProblem(await rotate(old, announce(old.identity)), 401, 'unauthenticated');
    expect(await certificateOf(next)).to.deep.include({ subject: `CN=${old.fqdn}`, pendingThumbprint: null });
  });

  const spellings: Record<string, (certificate: X509Certificate) => string> = {
    'SHA-1 in lower case': ({ fingerprint }) => fingerprint.replaceAll(':', '').toLowerCase(),
    'SHA-1 with colons': ({ fingerprint }) => fingerprint,
    'SHA-256': ({ fingerprint256 }) => fingerprint256.replaceAll(':', ''),
    'SHA-256 with colons in lower case': ({ fingerprint256 }) => fingerprint256.toLowerCase(),
  };
  for (const [spelling, write] of Object.entries(spellings)) {
    it(`takes the thumbprint as ${spelling}`, async () => {
      const certificateThumbprint = write(new X509Certificate(next.identity.cert));
      const reply = await rotate(old, { ...announce(next.identity), certificateThumbprint });
      expect(reply.status).to.equal(200);
      const shown = certificateThumbprint.replaceAll(':', '').toUpperCase();
      expect((await certificateOf(old))['pendingThumbprint']).to.equal(shown);
      await expectSwitched();
      expect(await call(old)).to.equal(401);
    });
  }

  it('takes the certificate itself, of an RSA key too', async () => {
    const rsa = await withNewCertificate(hawser, old, { rsa: true });
    expect((await rotate(old, { certificate: rsa.identity.cert })).json).to.have.all.keys('message');
    expect((await certificateOf(old))['pendingThumbprint']).to.equal(rsa.identity.thumbprint);
    await expectSwitched(rsa);
    expect(await call(old)).to.equal(401);
  });

  it('takes the subject in the spelling of .NET, notAfter to the second and in any zone', async () => {
    const notAfter = Date.parse(announce(next.identity).certificateNotAfter);
    const spelled = {
      certificateSubject: `cn = "${old.fqdn.toUpperCase()}"`,
      certificateNotAfter: new Date(notAfter + 420).toISOString(),
    };
    await ok(200, rotate(old, { ...announce(next.identity), ...spelled }));
    await expectSwitched();
  });

  for (const [fault, wrong] of [
    ['another subject', { certificateSubject: 'CN=other.example.org' }],
    ['one part of the subject more', { certificateSubject: 'CN=web, O=Example' }],
    ['another notAfter', { certificateNotAfter: '2099-01-01T00:00:00+00:00' }],
  ] as const) {
    it(`refuses the certificate when it comes if it was announced with ${fault}`, async () => {
      await ok(200, rotate(old, { ...announce(next.identity), ...wrong }));
      expect(await call(next)).to.equal(401);
      expect(await call(old)).to.equal(200);
      expect((await certificateOf(old))['thumbprint']).to.equal(old.identity.thumbprint);
      // Announced as it is, it comes in.
      await rotate(old, announce(next.identity));
      await expectSwitched();
    });
  }

  const digits = 'AB'.repeat(20);
  const malformed: [string, Record<string, unknown>, string?][] = [
    ['nothing', {}],
    ['a thumbprint alone', { certificateThumbprint: digits }],
    ['a description without its subject', { certificateSubject: undefined }],
    ['a description without its notAfter', { certificateNotAfter: null }],
    ['a notAfter that is no time', { certificateNotAfter: 'soon' }],
    ['a thumbprint with one colon', { certificateThumbprint: digits.replace('AB', 'AB:') }],
    ['a thumbprint of another length', { certificateThumbprint: digits.slice(2) }],
    ['a thumbprint that is no hex', { certificateThumbprint: 'X'.repeat(40) }],
    ['a notAfter without its zone', { certificateNotAfter: '2099-01-01T00:00:00' }],
    ['a description and a certificate', { certificate: '-----BEGIN CERTIFICATE-----' }],
    ['a description and a csr', { csr: '-----BEGIN CERTIFICATE REQUEST-----' }],
  ];
  for (const [fault, change] of malformed) {
    it(`answers 400 to ${fault} and changes nothing`, async () => {
      const isWhole = fault === 'nothing' || fault.endsWith('alone');
      const reply = await rotate(old, isWhole ? change : { ...announce(next.identity), ...change });
      await expectProblem(reply, 400, 'validation_failed');
      await expectUnchanged();
    });
  }

  it('answers 400 to what is no certificate in PEM: text, a damaged one, a key with it, too many', async () => {
    const { cert, key } = next.identity;
    const faults = {
      text: 'CN=web',
      empty: '',
      damaged: cert.replace(/\n[A-Za-z0-9+/]{30}/, '\n'),
      'with its key': `${cert}${key}`,
      'too many': cert.repeat(6),
      huge: `-----BEGIN CERTIFICATE-----\n${'A'.repeat(40_000)}\n-----END CERTIFICATE-----`,
    };
    for (const [fault, certificate] of Object.entries(faults)) {
      const reply = await rotate(old, { certificate });
      await expectProblem(reply, 400, 'validation_failed');
      expect(reply.json.errors[0], fault).to.include({ path: '/certificate', code: 'invalid_certificate' });
      expect(reply.text).to.not.include(key.slice(40, 80));
    }
    const unread = await rotate(old, { csr: 'nothing' });
    await expectProblem(unread, 400, 'validation_failed');
    expect(unread.json.errors[0]).to.include({ path: '/csr', code: 'invalid_csr' });
    await expectUnchanged();
  });

  it('answers 400 certificate_expired to one that has expired', async () => {
    const late = await withNewCertificate(hawser, old, { notAfter: Date.now() - MINUTE });
    await expectProblem(await rotate(old, announce(late.identity)), 400, 'certificate_expired');
    await expectProblem(await rotate(old, { certificate: late.identity.cert }), 400, 'certificate_expired');
    await expectUnchanged();
  });

  it('answers 400 certificate_not_yet_valid to one that begins more than five minutes from now', async () => {
    // Certificates tell whole seconds.
    const now = Math.ceil(hawser.clock.now() / SECOND) * SECOND;
    const early = await withNewCertificate(hawser, old, { notBefore: now + HOUR });
    const refused = await rotate(old, { certificate: early.identity.cert });
    await expectProblem(refused, 400, 'certificate_not_yet_valid');
    expect(refused.json.detail).to.include(`not valid before ${toTimestamp(now + HOUR)}`);
    expect(refused.json.detail).to.match(
      /by the clock of this server it is 20.*Z\. Set the clock that is wrong/,
    );
    await expectUnchanged();
    const soon = await withNewCertificate(hawser, old, { notBefore: now + 4 * MINUTE });
    await ok(200, rotate(old, { certificate: soon.identity.cert }));
    await expectSwitched(soon);
  });

  it('takes one that was only described when its term begins, and the old one until then', async () => {
    const early = await withNewCertificate(hawser, old, { notBefore: hawser.clock.now() + HOUR });
    await ok(200, rotate(old, announce(early.identity)));
    const refused = await early.client.get(`/api/v1/nodes/${old.nodeId}/lcm-config`);
    await expectProblem(refused, 401, 'unauthenticated');
    expect(refused.json.detail).to.include('not valid before');
    expect(await call(old)).to.equal(200);
    hawser.clock.advance(HOUR);
    await expectSwitched(early);
  });

  it('answers 409 to one that another node holds', async () => {
    const other = await hawser.registerNode(`other-${nodes}.example.org`);
    const { fingerprint256 } = new X509Certificate(other.identity.cert);
    const forms = [
      announce(other.identity),
      { ...announce(other.identity), certificateThumbprint: fingerprint256 },
      { certificate: other.identity.cert },
    ];
    for (const form of forms) await expectProblem(await rotate(old, form), 409, 'certificate_in_use');
    await expectUnchanged();
    expect(await call(other)).to.equal(200);
  });

  it('replaces one pending by another: the first is worth nothing any more', async () => {
    const later = await withNewCertificate(hawser, old);
    await rotate(old, announce(next.identity));
    await rotate(old, announce(later.identity));
    expect(await call(next)).to.equal(401);
    expect(await call(old)).to.equal(200);
    await expectSwitched(later);
    expect(await call(next)).to.equal(401);
  });

  it('keeps one until it has expired, however long that takes; the old one stays', async () => {
    const { notAfter } = await certificateOf(old);
    const longer = await withNewCertificate(hawser, old, { notAfter: Date.parse(notAfter ?? '') + DAY });
    for (const announcement of [announce(longer.identity), { certificate: longer.identity.cert }]) {
      await rotate(old, announcement);
      hawser.clock.advance(10 * DAY);
      expect((await certificateOf(old))['pendingThumbprint']).to.not.equal(null);
    }
    const short = await withNewCertificate(hawser, old, { notAfter: hawser.clock.now() + HOUR });
    await rotate(old, announce(short.identity));
    hawser.clock.advance(HOUR);
    expect(await call(short)).to.equal(401);
    expect(await call(longer), 'one that was replaced').to.equal(401);
    await expectUnchanged();
  });

  it('serves a machine that slept for two days with one, beyond the end of its old one', async () => {
    const fqdn = `sleeper-${nodes}.example.org`;
    const identity = await makeClientCertificate({ commonName: fqdn, notAfter: hawser.clock.now() + HOUR });
    const registrationKey = await createKey(hawser.admin);
    const body = { registrationKey, fqdn };
    const reply = await hawser.client(identity).post('/api/v1/nodes/register', body);
    const awake = withCertificate(hawser, { ...old, nodeId: reply.json.nodeId, fqdn }, identity);
    const sleeper = await withNewCertificate(hawser, awake);
    await ok(200, rotate(awake, announce(sleeper.identity)));
    hawser.clock.advance(2 * DAY);
    expect(await call(awake), 'by the old one, which has expired').to.equal(401);
    await hawser.restart();
    expect(await call(withCertificate(hawser, sleeper, sleeper.identity))).to.equal(200);
    const { thumbprint, pendingThumbprint } = await certificateOf(awake);
    expect({ thumbprint, pendingThumbprint }).to.deep.equal({
      thumbprint: sleeper.identity.thumbprint,
      pendingThumbprint: null,
    });
  });

  it('takes one by a clock that was set back', async () => {
    await rotate(old, announce(next.identity));
    hawser.clock.advance(-HOUR);
    await expectSwitched();
  });

  it('takes one that a machine has made whose clock is ahead', async () => {
    const early = await withNewCertificate(hawser, old, { notBefore: hawser.clock.now() + 5 * MINUTE });
    await ok(200, rotate(old, announce(early.identity)));
    await expectSwitched(early);
  });

  it('lets the node in whose announcement or first call was broken off', async () => {
    const unheard = async (work: Promise<unknown>, { client }: NodeUnderTest): Promise<void> => {
      client.close();
      await work.catch(() => undefined);
    };
    await unheard(rotate(old, announce(next.identity)), old);
    old = withCertificate(hawser, old, old.identity);
    expect(await call(old)).to.equal(200);
    await ok(200, rotate(old, announce(next.identity)));
    await unheard(call(next), next);
    await expectSwitched(withCertificate(hawser, next, next.identity));
    expect(await call(old)).to.equal(401);
  });

  it('leaves nothing pending when the announced one is the current one', async () => {
    const { fingerprint256 } = new X509Certificate(old.identity.cert);
    const forms = [
      announce(old.identity),
      { ...announce(old.identity), certificateThumbprint: fingerprint256 },
      { certificate: old.identity.cert },
    ];
    for (const form of forms) {
      await rotate(old, announce(next.identity));
      await ok(200, rotate(old, form));
      await expectUnchanged();
      expect(await call(next)).to.equal(401);
    }
  });

  it('survives a restart after each step, with one of the two certificates always good', async () => {
    await rotate(old, announce(next.identity));
    await hawser.restart();
    old = withCertificate(hawser, old, old.identity);
    next = withCertificate(hawser, next, next.identity);
    expect(await call(old)).to.equal(200);
    await expectSwitched();
    await hawser.restart();
    expect(await call(withCertificate(hawser, next, next.identity))).to.equal(200);
    expect(await call(withCertificate(hawser, old, old.identity))).to.equal(401);
  });

  it('switches once when many connections come with the new one at the same time', async () => {
    await rotate(old, announce(next.identity));
    const connections = Array.from({ length: 8 }, () => withCertificate(hawser, next, next.identity));
    const statuses = await Promise.all(connections.map(call));
    expect(statuses).to.deep.equal(connections.map(() => 200));
    await expectSwitched();
    const entries = await auditEntries(hawser, `resourceId=${old.nodeId}&action=node.certificate_rotated`);
    expect(entries).to.have.length(1);
    expect(entries[0]).to.deep.include({
      actorType: 'Node',
      actorId: old.nodeId,
      resourceType: 'Node',
      details: { thumbprint: next.identity.thumbprint },
    });
    expect(entries[0]?.ipAddress).to.be.a('string');
  });

  it('ends with exactly one good certificate and no 500 when rotations race with first uses', async () => {
    let current = old;
    for (let round = 0; round < 6; round += 1) {
      const first = await withNewCertificate(hawser, old);
      const second = await withNewCertificate(hawser, old);
      await rotate(current, announce(first.identity));
      const [announced, used] = await Promise.all([
        rotate(current, { certificate: second.identity.cert }),
        call(first),
      ]);
      expect(announced.status).to.be.oneOf([200, 401]);
      expect(used).to.be.oneOf([200, 401]);
      // Either the announcement was first and the use came too late, or the other way round; never both or neither.
      expect(announced.status === 200, `${announced.status} ${used}`).to.equal(used === 401);
      const winner = used === 200 ? first : second;
      await expectSwitched(winner);
      for (const loser of [current, first, second].filter((node) => node !== winner))
        expect(await call(loser)).to.equal(401);
      current = winner;
    }
  });

  it('counts as use of the new one only what shows whose it is', async () => {
    await rotate(old, announce(next.identity));
    await ok(200, next.client.get('/health'));
    expect((await next.client.with({ Authorization: 'Bearer pat_x' }).get('/api/v1/nodes')).status).to.equal(
      401,
    );
    expect(await call(old)).to.equal(200);
    // Registering again is no use either; it answers with the same id.
    const body = { registrationKey: await createKey(hawser.admin), fqdn: old.fqdn };
    const again = await next.client.post('/api/v1/nodes/register', body);
    expect(again.json).to.deep.equal({ nodeId: old.nodeId });
    expect(await call(old)).to.equal(200);
    await expectSwitched();
  });

  it('is for the node alone, and for its own id', async () => {
    const other = await hawser.registerNode(`foreign-${nodes}.example.org`);
    const foreign = { ...old, client: other.client };
    await expectProblem(await rotate(foreign, announce(next.identity)), 403, 'forbidden');
    await expectProblem(
      await rotate({ ...old, client: hawser.admin }, announce(next.identity)),
      403,
      'forbidden',
    );
    await expectProblem(await rotate(next, announce(next.identity)), 401, 'unauthenticated');
    await expectUnchanged();
  });

  it('lets nobody in by the pending certificate once the node is deleted or registered anew', async () => {
    await rotate(old, announce(next.identity));
    const registrationKey = await createKey(hawser.admin, { allowReregistration: true });
    const anew = await withNewCertificate(hawser, old);
    const reply = await anew.client.post('/api/v1/nodes/register', { registrationKey, fqdn: old.fqdn });
    expect(reply.json).to.deep.equal({ nodeId: old.nodeId });
    expect(await call(next)).to.equal(401);
    expect(await call(old)).to.equal(401);
    await rotate(anew, announce(next.identity));
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${old.nodeId}`));
    expect(await call(next)).to.equal(401);
    expect(await call(anew)).to.equal(401);
  });

  it('leaves its announcement in the audit trail, once however often it is repeated', async () => {
    await rotate(old, { certificate: next.identity.cert });
    await ok(200, rotate(old, { certificate: next.identity.cert }));
    const [entry, ...others] = await auditEntries(
      hawser,
      `resourceId=${old.nodeId}&action=node.certificate_announced`,
    );
    expect(entry).to.deep.include({
      actorType: 'Node',
      actorId: old.nodeId,
      details: { form: 'certificate', thumbprint: next.identity.thumbprint },
    });
    expect(others).to.deep.equal([]);
  });
});
