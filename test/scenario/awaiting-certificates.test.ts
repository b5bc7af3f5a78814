// full: SQLite, PostgreSQL
/** Nodes that came from another server, of which only SHA-1, subject and end of their certificate are known. */

import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { DAY, SECOND } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import {
  type AwaitedCertificate,
  awaitCertificate,
  countAwaiting,
} from '../../src/security/awaiting-certificates.ts';
import { auditEntries } from '../support/audit.ts';
import type { Client } from '../support/client.ts';
import { type ClientCertificate, makeClientCertificate } from '../support/client-certificates.ts';
import { withDatabase } from '../support/database.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { createKey, type Hawser, type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { announce, call, rotate, withCertificate, withNewCertificate } from '../support/rotation.ts';
import { started } from '../support/started.ts';

const REGISTER = '/api/v1/nodes/register';
let count = 0;

/** What the other server has stored of the certificate. */
function awaited({ cert }: ClientCertificate): AwaitedCertificate {
  const certificate = new X509Certificate(cert);
  return {
    sha1Thumbprint: certificate.fingerprint.replaceAll(':', ''),
    subject: certificate.subject,
    notAfter: Date.parse(certificate.validTo),
  };
}

type Place = Pick<Hawser, 'dataDir' | 'databaseUrl'>;

/** Puts a node in the database as the import does. */
async function bring(
  place: Place,
  client: (identity: ClientCertificate) => Client,
  change: Partial<AwaitedCertificate> & { identity?: ClientCertificate } = {},
): Promise<NodeUnderTest> {
  count += 1;
  const fqdn = `moved-${count}.example.org`;
  const nodeId = newId();
  const { identity = await makeClientCertificate({ commonName: fqdn }), ...other } = change;
  const now = Date.now();
  await withDatabase(place, ({ write }) =>
    write.transaction().execute(async (trx) => {
      const node = { id: nodeId, fqdn, status: 'Unknown', lcm_status: 'Unknown', created_at: now } as const;
      await trx.insertInto('nodes').values(node).execute();
      await awaitCertificate(trx, nodeId, { ...awaited(identity), ...other }, now);
    }),
  );
  return { nodeId, fqdn, identity, client: client(identity) };
}

describe('a node that awaits its certificate', () => {
  const hawser = started(startHawser);

  /** Waits until this server has read of the node, which takes up to a second on PostgreSQL. */
  async function bringHere(change?: Parameters<typeof bring>[2]): Promise<NodeUnderTest> {
    const node = await bring(hawser, hawser.client, change);
    // A call of a user is always answered by what holds now.
    await hawser.admin.get(`/api/v1/nodes/${node.nodeId}`);
    return node;
  }

  const detailsOf = async ({ nodeId }: NodeUnderTest) => ok(200, hawser.admin.get(`/api/v1/nodes/${nodeId}`));
  const boundOf = ({ nodeId }: NodeUnderTest) =>
    auditEntries(hawser, `resourceId=${nodeId}&action=node.certificate_bound`);

  async function expectBound(node: NodeUnderTest): Promise<void> {
    const { certificate } = await detailsOf(node);
    const { thumbprint } = node.identity;
    expect(certificate).to.deep.include({ thumbprint, awaiting: null, subject: `CN=${node.fqdn}` });
    expect(certificate.notBefore).to.be.a('string');
    const [entry, ...more] = await boundOf(node);
    expect(more).to.deep.equal([]);
    const { sha1Thumbprint } = awaited(node.identity as ClientCertificate);
    expect(entry).to.deep.include({ actorType: 'Node', actorId: node.nodeId, resourceType: 'Node' });
    expect(entry?.details).to.deep.equal({ thumbprint, sha1Thumbprint });
  }

  async function expectAwaiting(node: NodeUnderTest): Promise<void> {
    const { certificate } = await detailsOf(node);
    expect(certificate).to.deep.include({ thumbprint: null, notBefore: null, pendingThumbprint: null });
    expect(certificate.awaiting).to.match(/^[0-9A-F]{40}$/);
    expect(await boundOf(node)).to.deep.equal([]);
  }

  async function expectUnknown(node: NodeUnderTest): Promise<void> {
    const refused = await node.client.get(`/api/v1/nodes/${node.nodeId}/lcm-config`);
    await expectProblem(refused, 401, 'unauthenticated');
    expect(refused.json.detail).to.equal('No node is registered with this certificate');
    expect(refused.headers['connection']).to.equal('close');
  }

  const register = async (node: Pick<NodeUnderTest, 'client' | 'fqdn'>, options?: Record<string, unknown>) =>
    node.client.post(REGISTER, { registrationKey: await createKey(hawser.admin, options), fqdn: node.fqdn });

  it('is shown with the SHA-1, in lists too, and becomes like any other with its first poll', async () => {
    const node = await bringHere();
    await expectAwaiting(node);
    const listed = await ok(200, hawser.admin.get(`/api/v1/nodes?fqdn=${node.fqdn}`));
    expect(listed.map(({ id }: { id: string }) => id)).to.deep.equal([node.nodeId]);
    const poll = await node.client.get(`/api/v1/nodes/${node.nodeId}/configuration/checksum`);
    await expectProblem(poll, 404, 'no_configuration_assigned');
    await expectBound(node);
    expect(await call(node)).to.equal(200);
    const next = await withNewCertificate(hawser, node);
    await ok(200, rotate(node, announce(next.identity)));
    expect(await call(next)).to.equal(200);
    expect(await call(node)).to.equal(401);
    expect((await register(next)).json).to.deep.equal({ nodeId: node.nodeId });
    expect(await boundOf(node)).to.have.length(1);
  });

  it('takes the thumbprint in any case, and the end to the second', async () => {
    const identity = await makeClientCertificate({ commonName: `moved-${count + 1}.example.org` });
    const { sha1Thumbprint, notAfter } = awaited(identity);
    const node = await bringHere({
      ...{ identity, sha1Thumbprint: sha1Thumbprint.toLowerCase() },
      notAfter: notAfter + SECOND - 1,
    });
    expect(await call(node)).to.equal(200);
    await expectBound(node);
  });

  it('does not take another certificate with the same subject and end', async () => {
    const node = await bringHere();
    const { notAfter } = awaited(node.identity as ClientCertificate);
    const other = await withNewCertificate(hawser, node, { notAfter });
    expect(awaited(other.identity as ClientCertificate)).to.deep.include({
      subject: `CN=${node.fqdn}`,
      notAfter,
    });
    await expectUnknown(other);
    await expectProblem(await register(other), 409, 'node_exists');
    await expectAwaiting(node);
    expect(await call(node)).to.equal(200);
    await expectBound(node);
  });

  const WRONG: Record<string, (right: AwaitedCertificate) => Partial<AwaitedCertificate>> = {
    'another end': ({ notAfter }) => ({ notAfter: notAfter + SECOND }),
    'another subject': () => ({ subject: 'CN=elsewhere.example.org' }),
    'a part more in the subject': ({ subject }) => ({ subject: `${subject}, C=DE` }),
  };
  for (const [what, wrong] of Object.entries(WRONG)) {
    it(`does not take its certificate when the other server has recorded ${what}`, async () => {
      const identity = await makeClientCertificate({ commonName: `moved-${count + 1}.example.org` });
      const node = await bringHere({ identity, ...wrong(awaited(identity)) });
      for (let time = 0; time < 2; time += 1) await expectUnknown(node);
      await expectProblem(await register(node), 409, 'node_exists');
      await expectAwaiting(node);
    });
  }

  it('does not take its certificate when that has expired', async () => {
    const expired = { notBefore: Date.now() - 2 * DAY, notAfter: Date.now() - DAY };
    const identity = await makeClientCertificate({
      commonName: `moved-${count + 1}.example.org`,
      ...expired,
    });
    const node = await bringHere({ identity });
    const refused = await node.client.get(`/api/v1/nodes/${node.nodeId}/lcm-config`);
    await expectProblem(refused, 401, 'unauthenticated');
    expect(refused.json.detail).to.equal('The certificate has expired');
    await expectProblem(await register(node), 400, 'certificate_expired');
    await expectAwaiting(node);
  });

  it('is bound once by many first calls at once', async () => {
    const node = await bringHere();
    const connections = Array.from({ length: 8 }, () => withCertificate(hawser, node, node.identity));
    expect(await Promise.all(connections.map(call))).to.deep.equal(connections.map(() => 200));
    await expectBound(node);
  });

  it('is bound by a call in the path of another node, which is refused', async () => {
    const [node, other] = [await bringHere(), await bringHere()];
    expect(await call({ ...node, nodeId: other.nodeId })).to.equal(403);
    await expectBound(node);
    await expectAwaiting(other);
  });

  it('is bound by a registration of its name, which counts no use of the key', async () => {
    const node = await bringHere();
    const key = await createKey(hawser.admin, { maxUses: 1 });
    for (let time = 0; time < 2; time += 1) {
      const body = { registrationKey: key, fqdn: node.fqdn };
      expect(await ok(200, node.client.post(REGISTER, body))).to.deep.equal({ nodeId: node.nodeId });
    }
    await expectBound(node);
    expect(await call(node)).to.equal(200);
    expect(await auditEntries(hawser, `resourceId=${node.nodeId}&action=node.reregistered`)).to.deep.equal(
      [],
    );
  });

  it('is not bound by a registration that is refused: of another name, or with no good key', async () => {
    const node = await bringHere();
    const renamed = await register({ client: node.client, fqdn: `other-${count}.example.org` });
    await expectProblem(renamed, 409, 'certificate_in_use');
    const body = { registrationKey: 'x'.repeat(43), fqdn: node.fqdn };
    await expectProblem(await node.client.post(REGISTER, body), 403, 'registration_key_rejected');
    await expectAwaiting(node);
  });

  it('awaits nothing more once it is registered anew', async () => {
    const node = await bringHere();
    const other = await withNewCertificate(hawser, node);
    const reply = await ok(200, register(other, { allowReregistration: true }));
    expect(reply.nodeId).to.equal(node.nodeId);
    const { certificate } = await detailsOf(node);
    expect(certificate).to.deep.include({ thumbprint: other.identity.thumbprint, awaiting: null });
    await expectUnknown(node);
    expect(await call(other)).to.equal(200);
    expect(await boundOf(node)).to.deep.equal([]);
  });

  it('awaits nothing more once it is deleted', async () => {
    const node = await bringHere();
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${node.nodeId}`));
    await expectUnknown(node);
    const { nodeId } = await ok(200, register(node));
    expect(nodeId).to.not.equal(node.nodeId);
    expect(await call({ ...node, nodeId })).to.equal(200);
  });

  it('keeps others from announcing what it awaits', async () => {
    const node = await bringHere();
    const thief = await hawser.registerNode(`thief-${count}.example.org`);
    await expectProblem(await rotate(thief, announce(node.identity)), 409, 'certificate_in_use');
    expect(await call(node)).to.equal(200);
  });

  it('still awaits after a restart, and stays bound after another', async () => {
    const [early, late] = [await bringHere(), await bringHere()];
    expect(await call(early)).to.equal(200);
    await hawser.restart();
    await expectAwaiting(late);
    for (const node of [early, late]) {
      const again = withCertificate(hawser, node, node.identity);
      expect(await call(again)).to.equal(200);
      await expectBound(node);
    }
    await hawser.restart();
    for (const node of [early, late])
      expect(await call(withCertificate(hawser, node, node.identity))).to.equal(200);
  });

  it('is counted until it calls', async () => {
    const waiting = () => withDatabase(hawser, ({ read }) => countAwaiting(read));
    const before = await waiting();
    const node = await bringHere();
    expect(await waiting()).to.equal(before + 1);
    expect(await call(node)).to.equal(200);
    expect(await waiting()).to.equal(before);
  });
});

describeOnPostgres('a node that awaits its certificate at several servers', () => {
  let servers: Hawser[];

  before(async () => {
    const first = await startHawser();
    servers = [first, await startHawser({ HAWSER_DATABASE_URL: first.databaseUrl ?? '' })];
  });
  after(async () => {
    for (const server of [...(servers ?? [])].reverse()) await server.close();
  });

  const at = (number: number): Hawser => servers[number] as Hawser;
  const statusAt = (number: number, node: NodeUnderTest) =>
    call(withCertificate(at(number), node, node.identity));

  it('is known to all of them after its first call at one', async () => {
    const strangers = await makeClientCertificate({ commonName: 'stranger.example.org' });
    // Both have looked for awaiting nodes before this one comes.
    for (const server of servers)
      expect((await server.client(strangers).get('/api/v1/nodes')).status).to.equal(401);
    const node = await bring(at(0), at(0).client);
    await eventually(async () => expect(await statusAt(1, node)).to.equal(200));
    expect(await statusAt(0, node)).to.equal(200);
    const bound = await auditEntries(at(0), `resourceId=${node.nodeId}&action=node.certificate_bound`);
    expect(bound).to.have.length(1);
  });

  it('is bound once when it calls all at once', async () => {
    const node = await bring(at(0), at(0).client);
    for (const server of servers) await server.admin.get('/api/v1/nodes?take=1');
    const statuses = await Promise.all(Array.from({ length: 8 }, (_, index) => statusAt(index % 2, node)));
    expect(statuses).to.deep.equal(statuses.map(() => 200));
    const bound = await auditEntries(at(1), `resourceId=${node.nodeId}&action=node.certificate_bound`);
    expect(bound).to.have.length(1);
  });

  it('is unknown at all of them once it is deleted at one', async () => {
    const node = await bring(at(0), at(0).client);
    for (const server of servers) await server.admin.get('/api/v1/nodes?take=1');
    await ok(204, at(0).admin.delete(`/api/v1/nodes/${node.nodeId}`));
    expect(await statusAt(1, node)).to.equal(401);
  });
});
