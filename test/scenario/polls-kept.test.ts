// full: PostgreSQL
/** PostgreSQL stands still right after a write. Each node is answered what its last poll was answered with. */

import { expect } from 'chai';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import {
  createKey,
  type Hawser,
  type NodeUnderTest,
  publishConfiguration,
  startHawser,
} from '../support/hawser.ts';
import { type OwnCluster, ownCluster } from '../support/postgres.ts';
import { ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';

describeOnPostgres('nodes that poll while PostgreSQL stands still', () => {
  let own: OwnCluster;
  let hawser: Hawser;
  let other: Hawser;
  let site: string;
  let count = 0;

  before(async () => {
    own = await ownCluster({ fsync: false });
    const { url } = await own.newDatabase();
    hawser = await startHawser({ HAWSER_DATABASE_URL: url });
    other = await startHawser({ HAWSER_DATABASE_URL: url });
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { 'main.dsc.yaml': 'one' } });
    await publishConfiguration(hawser.admin, 'db', { '1.0.0': { 'main.dsc.yaml': 'db' } });
    site = await createScopeType(hawser, 'Site');
  });
  after(async () => {
    own.cluster.thaw();
    for (const server of [hawser, other]) await server.close();
    await own.cluster.remove();
  });

  const pathOf = ({ nodeId }: NodeUnderTest) => `/api/v1/nodes/${nodeId}/configuration`;
  const poll = (node: NodeUnderTest, headers = {}) => node.client.get(`${pathOf(node)}/checksum`, headers);
  const assign = (node: NodeUnderTest, configurationName: string) =>
    ok(204, hawser.admin.put(pathOf(node), { configurationName }));

  /** A node that has polled, and has its bundle. */
  async function polledNode() {
    count += 1;
    const node = await hawser.registerNode(`node-${count}.example.org`);
    await assign(node, 'web');
    const etag = String((await poll(node)).headers['etag']);
    const bundle = (await node.client.get(`${pathOf(node)}/bundle`)).bytes;
    return { node, etag, bundle };
  }

  /** What is answered to the work is answered without PostgreSQL. */
  async function whileFrozen(work: () => Promise<void>): Promise<void> {
    own.cluster.freeze();
    try {
      await work();
    } finally {
      own.cluster.thaw();
    }
    await eventually(() => ok(200, hawser.client().get('/health/ready')));
  }

  async function expectKept({ node, etag, bundle }: Awaited<ReturnType<typeof polledNode>>): Promise<void> {
    for (let round = 1; round <= 2; round += 1) {
      const whole = await poll(node);
      expect(whole.status, whole.text).to.equal(200);
      expect(whole.headers['etag']).to.equal(etag);
      const unchanged = await poll(node, { 'If-None-Match': etag });
      expect(unchanged.status, unchanged.text).to.equal(304);
      const download = await node.client.get(`${pathOf(node)}/bundle`);
      expect(download.status, download.text).to.equal(200);
      expect(download.bytes.equals(bundle)).to.equal(true);
    }
  }

  async function publish(at: Hawser): Promise<void> {
    count += 1;
    const path = '/api/v1/configurations/web/versions';
    const version = `1.0.${count}`;
    const files = { 'main.dsc.yaml': version };
    await ok(201, at.admin.upload(path, { fields: { version }, files }));
    await ok(200, at.admin.put(`${path}/${version}/publish`));
  }

  async function tag({ nodeId }: NodeUnderTest): Promise<void> {
    await tagNode(hawser, nodeId, await createScopeValue(hawser, site, `site-${count}`));
  }

  const WRITES: Record<string, (node: NodeUnderTest) => Promise<unknown>> = {
    'a version is published': () => publish(hawser),
    'a version is published through another server': () => publish(other),
    'a registration key is made': () => createKey(hawser.admin),
    'another node registers': () => hawser.registerNode(`newcomer-${count}.example.org`),
    'the node gets another configuration': (node) => assign(node, 'db'),
    'the node is tagged': tag,
    'a scope type is made': () => createScopeType(hawser, `Type-${count}`),
  };

  for (const [what, write] of Object.entries(WRITES))
    it(`are answered as before where ${what} just before`, async () => {
      const polled = await polledNode();
      await write(polled.node);
      await whileFrozen(() => expectKept(polled));
    });

  it('are answered as before where the server has seen all of that, and hear of it afterwards', async () => {
    const polled = await polledNode();
    for (const write of Object.values(WRITES)) await write(polled.node);
    await assign(polled.node, 'web');
    // Who is no node sees all that was committed, so the caches of the server have heard of it.
    await ok(200, hawser.admin.get('/api/v1/nodes'));
    await whileFrozen(() => expectKept(polled));
    await eventually(async () => {
      const { version } = await ok(200, poll(polled.node));
      expect(version).to.equal(`1.0.${count}`);
    });
  });

  it('are told once more that they get nothing, where that was the last answer', async () => {
    const { node } = await polledNode();
    await ok(204, hawser.admin.delete(pathOf(node)));
    expect((await poll(node)).json.code).to.equal('no_configuration_assigned');
    await assign(node, 'web');
    await whileFrozen(async () => {
      const reply = await poll(node);
      expect(reply.status, reply.text).to.equal(404);
    });
    await eventually(() => ok(200, poll(node)));
  });

  describe('and whose certificate has ended', () => {
    async function expectEnded(node: NodeUnderTest): Promise<void> {
      for (const path of ['/checksum', '/bundle', '']) {
        const reply = await node.client.get(`${pathOf(node)}${path}`);
        expect(reply.status, reply.text).to.equal(401);
      }
    }
    const deleteAt = (at: Hawser, { nodeId }: NodeUnderTest) =>
      ok(204, at.admin.delete(`/api/v1/nodes/${nodeId}`));

    it('are refused right after they were deleted', async () => {
      const { node } = await polledNode();
      await deleteAt(hawser, node);
      await whileFrozen(() => expectEnded(node));
      await expectEnded(node);
    });

    it('are refused right after they were deleted in bulk', async () => {
      const [{ node }, stays] = [await polledNode(), await polledNode()];
      const order = { action: 'Delete', nodeIds: [node.nodeId], expectedCount: 1 };
      await ok(200, hawser.admin.post('/api/v1/nodes/bulk', order));
      await whileFrozen(() => Promise.all([expectEnded(node), expectKept(stays)]).then(() => undefined));
    });

    it('are refused once the server has seen that another one has deleted them', async () => {
      const { node } = await polledNode();
      await deleteAt(other, node);
      await ok(200, hawser.admin.get('/api/v1/nodes'));
      await whileFrozen(() => expectEnded(node));
    });

    it('are refused right after the node has registered with another one', async () => {
      const { node, etag } = await polledNode();
      const client = hawser.client(await makeClientCertificate({ commonName: node.fqdn }));
      const registrationKey = await createKey(hawser.admin, { allowReregistration: true });
      const { nodeId } = await ok(
        200,
        client.post('/api/v1/nodes/register', { registrationKey, fqdn: node.fqdn }),
      );
      expect(nodeId).to.equal(node.nodeId);
      await whileFrozen(() => expectEnded(node));
      const again = await client.get(`${pathOf(node)}/checksum`);
      expect(again.headers['etag'], again.text).to.equal(etag);
      await whileFrozen(async () => {
        await expectEnded(node);
        expect((await client.get(`${pathOf(node)}/checksum`)).status).to.equal(200);
      });
    });
  });
});
