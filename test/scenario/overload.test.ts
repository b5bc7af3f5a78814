import { expect } from 'chai';
import { type Hawser, type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { openRequest } from '../support/open-request.ts';

describe('a server with more calls of nodes than it can carry out', () => {
  let hawser: Hawser;
  let node: NodeUnderTest;
  before(async () => {
    hawser = await startHawser({ HAWSER_NODE_CALLS: '1' });
    node = await hawser.registerNode('web-01.example.org');
  });
  after(() => hawser.close());

  const poll = () => node.client.get(`/api/v1/nodes/${node.nodeId}/lcm-config`);

  it('tells nodes to come again, each after a time of its own, and serves people and health', async () => {
    const path = `/api/v1/nodes/${node.nodeId}/reports`;
    // Takes the one place for as long as its body does not end.
    const held = await openRequest(hawser.target(), node.identity, { method: 'POST', path });
    const waits = new Set<number>();
    for (let attempt = 0; attempt < 30; attempt += 1) {
      const reply = await poll();
      expect(reply.status).to.equal(503);
      expect(reply.json.code).to.equal('overloaded');
      waits.add(Number(reply.headers['retry-after']));
    }
    expect(waits.size).to.be.greaterThan(1);
    for (const wait of waits) expect(wait).to.be.within(5, 30);
    expect((await hawser.admin.get('/api/v1/auth/me')).status).to.equal(200);
    expect((await hawser.client().get('/health/ready')).status).to.equal(200);
    held.end(JSON.stringify({ operation: 'Test', result: { hadErrors: false } }));
    expect(await held.status).to.equal(201);
    expect((await poll()).status).to.equal(200);
  });
});
