/** Two servers behind each proxy that the documents show: one of them hangs. Then PostgreSQL is away. */

import { expect } from 'chai';
import { type Client, makeClient, type Target } from '../support/client.ts';
import { type ClientCertificate, makeClientCertificate } from '../support/client-certificates.ts';
import { ServerCluster } from '../support/cluster/cluster.ts';
import { MAIN } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { asAdmin, createKey, publishConfiguration } from '../support/hawser.ts';
import { startNginxBeforeTwo } from '../support/nginx.ts';
import { describeWith } from '../support/optional-tools.ts';
import { newDatabase, type OwnCluster, ownCluster } from '../support/postgres.ts';
import type { ProxyProgram } from '../support/proxy-program.ts';
import { ok } from '../support/replies.ts';

/** Milliseconds: the 10 s that are promised, as test/unit/deployment.test.ts reckons, and some for a busy machine. */
const OUT_WITHIN = 15_000;
/** Connections at once, so that the fewest connections lead to both servers. */
const CONNECTIONS = 6;
const ALL_WELL = Array(CONNECTIONS).fill(200);

/** A node that polls through a proxy. */
class PollingNode {
  private readonly target: Target;
  private readonly identity: ClientCertificate;
  private readonly path: string;

  private constructor(target: Target, identity: ClientCertificate, path: string) {
    this.target = target;
    this.identity = identity;
    this.path = path;
  }

  static async register(target: Target): Promise<PollingNode> {
    const admin = await asAdmin(makeClient(target));
    await publishConfiguration(admin, 'hung', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    const fqdn = 'node.example.org';
    const identity = await makeClientCertificate({ commonName: fqdn });
    const node = makeClient(target, identity);
    const body = { registrationKey: await createKey(admin), fqdn };
    const { nodeId } = await ok(200, node.post('/api/v1/nodes/register', body));
    const path = `/api/v1/nodes/${nodeId}/configuration`;
    await ok(204, admin.put(path, { configurationName: 'hung' }));
    node.close();
    admin.close();
    return new PollingNode(target, identity, `${path}/checksum`);
  }

  connections(): Client[] {
    return Array.from({ length: CONNECTIONS }, () => makeClient(this.target, this.identity));
  }

  /** @returns the status of each answer, or 0 for a connection that was ended without one */
  poll(connections: readonly Client[]): Promise<number[]> {
    const statuses = connections.map((each) =>
      each.get(this.path).then(
        ({ status }) => status,
        () => 0,
      ),
    );
    return Promise.all(statuses);
  }

  /** Polls over new connections. */
  async expectAnswers(): Promise<void> {
    const connections = this.connections();
    const statuses = await this.poll(connections);
    close(connections);
    expect(statuses).to.deep.equal(ALL_WELL);
  }
}

function close(connections: readonly Client[]): void {
  for (const each of connections) each.close();
}

/** @param before what the proxy had printed before */
function told({ printed }: ProxyProgram, text: string, before: string): Promise<unknown> {
  return eventually(async () => expect(printed().slice(before.length)).to.include(text));
}

describeWith(['haproxy'], 'HAProxy in front of two servers', function () {
  this.timeout(240_000);
  let own: OwnCluster;
  let cluster: ServerCluster;
  let node: PollingNode;

  before(async () => {
    own = await ownCluster({ fsync: false });
    cluster = await ServerCluster.make(await own.newDatabase(), { servers: 2 });
    await cluster.start();
    node = await PollingNode.register(cluster.target);
  });
  after(async () => {
    await cluster?.close();
    await own?.cluster.remove();
  });

  for (const number of [2, 1])
    it(`takes out server ${number} when it hangs, ends what waits for it, and has it again when it is well`, async () => {
      await eventually(() => node.expectAnswers());
      const kept = node.connections();
      expect(await node.poll(kept)).to.deep.equal(ALL_WELL);
      const server = cluster.server(number);
      const before = cluster.balancer.printed();
      server.freeze();
      try {
        const since = performance.now();
        const waiting = node.poll(kept);
        await told(cluster.balancer, `Server ready/hawser-${number} is DOWN`, before);
        expect(performance.now() - since).to.be.below(OUT_WITHIN);
        // Those of the hung server would wait for ever.
        expect(await waiting).to.include.members([0, 200]);
        await node.expectAnswers();
        expect(await node.poll(kept)).to.deep.equal(ALL_WELL);
      } finally {
        server.thaw();
        close(kept);
      }
      await told(cluster.balancer, `Server ready/hawser-${number} is UP`, before);
    });

  it('leads to servers that are not ready while none is', async () => {
    const before = cluster.balancer.printed();
    await own.cluster.kill();
    const client = makeClient(cluster.target);
    try {
      await told(cluster.balancer, 'backend ready has no server available', before);
      await ok(200, client.get('/health'));
    } finally {
      client.close();
      await own.cluster.start();
    }
    for (const number of [1, 2]) await told(cluster.balancer, `Server ready/hawser-${number} is UP`, before);
    await eventually(() => node.expectAnswers());
  });
});

describeWith(['nginx'], 'nginx, where TLS ends, in front of two servers', function () {
  this.timeout(240_000);
  let cluster: ServerCluster;
  let nginx: ProxyProgram;
  let node: PollingNode;

  before(async () => {
    const settings = {
      HAWSER_TRUSTED_PROXIES: '127.0.0.1',
      HAWSER_CLIENT_CERT_HEADER: 'X-SSL-Client-Cert',
    };
    cluster = await ServerCluster.make(await newDatabase(), { servers: 2, settings });
    await cluster.start();
    const [first, second] = [cluster.server(1), cluster.server(2)];
    nginx = await startNginxBeforeTwo([first.port, second.port], first.dataDir);
    node = await PollingNode.register({ ...first.target, port: nginx.port });
  });
  after(async () => {
    await nginx?.stop();
    await cluster?.close();
  });

  for (const number of [2, 1])
    it(`answers polls while server ${number} hangs, also if the other one hung before`, async () => {
      await eventually(() => node.expectAnswers());
      const server = cluster.server(number);
      const before = nginx.printed();
      server.freeze();
      try {
        // The server that hung before is left alone for some seconds more.
        await eventually(() => node.expectAnswers());
        await told(nginx, 'upstream server temporarily disabled', before);
        await node.expectAnswers();
      } finally {
        server.thaw();
      }
    });
});
