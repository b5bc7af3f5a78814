// full: SQLite
import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { auditEntries } from '../support/audit.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { createKey, type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { expectProblem } from '../support/replies.ts';
import { announce, call, rotate, withCertificate, withNewCertificate } from '../support/rotation.ts';
import { started } from '../support/started.ts';

describe('a certificate that was only announced', () => {
  const hawser = started(startHawser);
  /** The machine that has the key of `next`, and a node that has not. */
  let owner: NodeUnderTest;
  let thief: NodeUnderTest;
  let next: NodeUnderTest;
  let round = 0;

  beforeEach(async () => {
    round += 1;
    owner = await hawser.registerNode(`owner-${round}.example.org`);
    thief = await hawser.registerNode(`thief-${round}.example.org`);
    next = await withNewCertificate(hawser, owner);
  });

  const certificateOf = async ({ nodeId }: NodeUnderTest): Promise<Record<string, string | null>> =>
    (await hawser.admin.get(`/api/v1/nodes/${nodeId}`)).json.certificate;

  /** The same certificate, in another node's path. */
  const inPathOf = ({ nodeId, fqdn }: NodeUnderTest, by = next): NodeUnderTest => ({ ...by, nodeId, fqdn });

  async function expectAnnounced(node: NodeUnderTest, body: unknown): Promise<void> {
    const reply = await rotate(node, body);
    expect(reply.status, reply.text).to.equal(200);
  }

  /** Each node by the certificate it is known by, with nothing pending. */
  async function expectHolds(node: NodeUnderTest, thumbprint: string): Promise<void> {
    expect(await certificateOf(node), node.fqdn).to.deep.include({ thumbprint, pendingThumbprint: null });
  }

  const sha256Of = ({ cert }: { cert: string }) => new X509Certificate(cert).fingerprint256;
  const forms: Record<string, (identity: { cert: string }) => unknown> = {
    'SHA-1': announce,
    'SHA-256': (identity) => ({ ...announce(identity), certificateThumbprint: sha256Of(identity) }),
    PEM: ({ cert }) => ({ certificate: cert }),
  };

  for (const [first, announceFirst] of Object.entries(forms)) {
    for (const [second, announceSecond] of Object.entries(forms)) {
      it(`comes to the node in whose path it is used: first announced by another by ${first}, then by ${second}`, async () => {
        await expectAnnounced(thief, announceFirst(next.identity));
        await expectAnnounced(owner, announceSecond(next.identity));
        expect(await call(next)).to.equal(200);
        await expectHolds(owner, next.identity.thumbprint);
        await expectHolds(thief, thief.identity.thumbprint);
        expect(await call(owner), 'by the one before').to.equal(401);
        expect(await call(thief), 'who goes on as before').to.equal(200);
        expect(await call(inPathOf(thief)), 'in the path of the other').to.equal(403);
      });
    }
  }

  it('is refused in the path of a node that did not announce it, and binds nothing', async () => {
    await expectAnnounced(thief, announce(next.identity));
    const refused = await next.client.get(`/api/v1/nodes/${owner.nodeId}/lcm-config`);
    await expectProblem(refused, 401, 'unauthenticated');
    expect(refused.headers['connection']).to.equal('close');
    await expectHolds(owner, owner.identity.thumbprint);
    expect(await certificateOf(thief)).to.deep.include({
      thumbprint: thief.identity.thumbprint,
      pendingThumbprint: announce(next.identity).certificateThumbprint,
    });
    expect(await call(owner)).to.equal(200);
    expect(await call(thief)).to.equal(200);
    expect(
      await auditEntries(hawser, `resourceId=${thief.nodeId}&action=node.certificate_rotated`),
    ).to.deep.equal([]);
  });

  it('is refused where the path names no node, and binds nothing', async () => {
    await expectAnnounced(owner, announce(next.identity));
    for (const path of ['/api/v1/nodes', '/api/v1/configurations', '/api/v1/auth/me'])
      await expectProblem(await next.client.get(path), 401, 'unauthenticated');
    expect((await certificateOf(owner))['thumbprint']).to.equal(owner.identity.thumbprint);
    expect(await call(next)).to.equal(200);
    await expectHolds(owner, next.identity.thumbprint);
  });

  it('is of exactly one node when it comes in the paths of two at once', async () => {
    await expectAnnounced(owner, announce(next.identity));
    await expectAnnounced(thief, { certificate: next.identity.cert });
    const connections = Array.from({ length: 8 }, (_, index) =>
      inPathOf(index % 2 === 0 ? owner : thief, withCertificate(hawser, next, next.identity)),
    );
    const statuses = await Promise.all(connections.map(call));
    const admitted = new Set(
      connections.filter((_, index) => statuses[index] === 200).map((node) => node.nodeId),
    );
    expect(admitted.size, statuses.join(' ')).to.equal(1);
    expect(statuses.filter((status) => status !== 200 && status !== 403)).to.deep.equal([]);
    const [winner, loser] = admitted.has(owner.nodeId) ? [owner, thief] : [thief, owner];
    await expectHolds(winner, next.identity.thumbprint);
    await expectHolds(loser, loser.identity.thumbprint);
    expect(await call(loser)).to.equal(200);
  });

  it('is judged by each node’s own words: another’s false ones do no harm', async () => {
    await expectAnnounced(thief, { ...announce(next.identity), certificateSubject: 'CN=other.example.org' });
    await expectAnnounced(owner, announce(next.identity));
    expect(await call(inPathOf(thief)), 'not as announced').to.equal(401);
    expect(await call(next)).to.equal(200);
    await expectHolds(thief, thief.identity.thumbprint);
  });

  for (const [form, write] of Object.entries(forms)) {
    it(`does not keep a machine from registering with it, announced by ${form}; the announcement ends`, async () => {
      const machine = await makeClientCertificate({ commonName: 'new.example.org' });
      for (const node of [owner, thief]) await expectAnnounced(node, write(machine));
      const registrationKey = await createKey(hawser.admin);
      const body = { registrationKey, fqdn: `new-${form.toLowerCase()}-${round}.example.org` };
      const reply = await hawser.client(machine).post('/api/v1/nodes/register', body);
      expect(reply.status, reply.text).to.equal(200);
      const { nodeId } = reply.json;
      const registered = { nodeId, fqdn: body.fqdn, identity: machine, client: hawser.client(machine) };
      expect(await call(registered)).to.equal(200);
      for (const node of [owner, thief]) {
        await expectHolds(node, node.identity.thumbprint);
        expect(await call(inPathOf(node, registered))).to.equal(403);
        // From now on it has been shown.
        await expectProblem(await rotate(node, write(machine)), 409, 'certificate_in_use');
      }
    });

    it(`does not keep a known machine from registering anew with it, announced by ${form}`, async () => {
      await expectAnnounced(thief, write(next.identity));
      const registrationKey = await createKey(hawser.admin, { allowReregistration: true });
      const reply = await next.client.post('/api/v1/nodes/register', { registrationKey, fqdn: owner.fqdn });
      expect(`${reply.status} ${reply.json.nodeId}`).to.equal(`200 ${owner.nodeId}`);
      expect(await call(next)).to.equal(200);
      await expectHolds(thief, thief.identity.thumbprint);
    });
  }

  it('stays with its node across a restart', async () => {
    await expectAnnounced(thief, announce(next.identity));
    await expectAnnounced(owner, announce(next.identity));
    await hawser.restart();
    next = withCertificate(hawser, next, next.identity);
    expect(await call(next)).to.equal(200);
    await hawser.restart();
    next = withCertificate(hawser, next, next.identity);
    expect(await call(next)).to.equal(200);
    expect(await call(inPathOf(thief))).to.equal(403);
  });
});
