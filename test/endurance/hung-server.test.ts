/** Two servers behind the HAProxy of scripts/compose: one of them hangs, and then PostgreSQL is away. */

import { expect } from 'chai';
import { type Client, makeClient } from '../support/client.ts';
import { type ClientCertificate, makeClientCertificate } from '../support/client-certificates.ts';
import { ServerCluster } from '../support/cluster/cluster.ts';
import { MAIN } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import {
  ADMIN_PASSWORD,
  ALL_SCOPES,
  createKey,
  createToken,
  publishConfiguration,
  signIn,
} from '../support/hawser.ts';
import { describeWith } from '../support/optional-tools.ts';
import { type OwnCluster, ownCluster } from '../support/postgres.ts';
import { ok } from '../support/replies.ts';

/** Milliseconds in which a hung server is out; 10 s, which test/unit/deployment.test.ts reckons, and some for a busy machine. */
const OUT_WITHIN = 15_000;
/** Connections at once, so that the fewest connections lead to both servers. */
const CONNECTIONS = 6;

describeWith(['haproxy'], 'HAProxy in front of two servers', function () {
  this.timeout(240_000);
  let own: OwnCluster;
  let cluster: ServerCluster;
  let path: string;
  let identity: ClientCertificate;

  before(async () => {
    own = await ownCluster({ fsync: false });
    cluster = await ServerCluster.make(await own.newDatabase(), { servers: 2 });
    await cluster.start();
    const client = makeClient(cluster.server(1).target);
    const token = await createToken(client, await signIn(client, 'admin', ADMIN_PASSWORD), ALL_SCOPES);
    const admin = client.with({ Authorization: `Bearer ${token}` });
    await publishConfiguration(admin, 'hung', { '1.0.0': { [MAIN]: 'resources: []\n' } });
    const fqdn = 'node.example.org';
    identity = await makeClientCertificate({ commonName: fqdn });
    const node = makeClient(cluster.server(1).target, identity);
    const body = { registrationKey: await createKey(admin), fqdn };
    const { nodeId } = await ok(200, node.post('/api/v1/nodes/register', body));
    path = `/api/v1/nodes/${nodeId}/configuration`;
    await ok(204, admin.put(path, { configurationName: 'hung' }));
    node.close();
    client.close();
  });
  after(async () => {
    await own?.cluster.start();
    await cluster?.close();
    await own?.cluster.remove();
  });

  const newNodes = () => Array.from({ length: CONNECTIONS }, () => makeClient(cluster.target, identity));
  /** @returns the status of each answer, or 0 for a connection that was ended without one */
  const poll = (nodes: readonly Client[]): Promise<number[]> =>
    Promise.all(
      nodes.map((node) =>
        node.get(`${path}/checksum`).then(
          ({ status }) => status,
          () => 0,
        ),
      ),
    );
  const close = (nodes: readonly Client[]) => {
    for (const node of nodes) node.close();
  };
  const allAnswer = async () => {
    const nodes = newNodes();
    const statuses = await poll(nodes);
    close(nodes);
    expect(statuses).to.deep.equal(Array(CONNECTIONS).fill(200));
  };
  /** @param after what HAProxy had printed before */
  const told = (text: string, after: string) =>
    eventually(async () => expect(cluster.balancer.printed().slice(after.length)).to.include(text));

  for (const number of [2, 1])
    it(`takes out server ${number} when it hangs, ends what waits for it, and has it again when it is well`, async () => {
      await eventually(allAnswer);
      const kept = newNodes();
      expect(await poll(kept)).to.deep.equal(Array(CONNECTIONS).fill(200));
      const server = cluster.server(number);
      const before = cluster.balancer.printed();
      server.freeze();
      try {
        const since = performance.now();
        const [waiting] = [poll(kept)];
        await told(`Server ready/hawser-${number} is DOWN`, before);
        expect(performance.now() - since).to.be.below(OUT_WITHIN);
        // Those of the hung server would wait for ever.
        expect(new Set(await waiting)).to.deep.equal(new Set([0, 200]));
        await allAnswer();
        expect(await poll(kept)).to.deep.equal(Array(CONNECTIONS).fill(200));
      } finally {
        server.thaw();
        close(kept);
      }
      await told(`Server ready/hawser-${number} is UP`, before);
    });

  it('leads to servers that are not ready while none is', async () => {
    const before = cluster.balancer.printed();
    const isAlive = async () => {
      const client = makeClient(cluster.target);
      try {
        await ok(200, client.get('/health'));
      } finally {
        client.close();
      }
    };
    await own.cluster.kill();
    try {
      await told('backend ready has no server available', before);
      await isAlive();
    } finally {
      await own.cluster.start();
    }
    for (const number of [1, 2]) await told(`Server ready/hawser-${number} is UP`, before);
    await eventually(allAnswer);
  });
});
