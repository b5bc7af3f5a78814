// full: PostgreSQL
/** The release before this one and this one, side by side on one database. */

import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { type Client, makeClient } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { ServerCluster } from '../support/cluster/cluster.ts';
import type { ClusterServer } from '../support/cluster/server.ts';
import { addVersion, CONFIGURATIONS, MAIN } from '../support/configurations.ts';
import { buildEarlierRelease, type EarlierRelease } from '../support/earlier-release.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { gitClient } from '../support/git-client.ts';
import {
  ADMIN_PASSWORD,
  ALL_SCOPES,
  createKey,
  createToken,
  publishConfiguration,
  signIn,
} from '../support/hawser.ts';
import { newDatabase } from '../support/postgres.ts';
import { ok } from '../support/replies.ts';

describeOnPostgres('an upgrade of one server after the other', function () {
  this.timeout(180_000);
  let earlier: EarlierRelease;
  let cluster: ServerCluster;
  let token: string;

  before(async () => {
    earlier = buildEarlierRelease();
    cluster = await ServerCluster.make(await newDatabase(), { servers: 2 });
    for (const server of cluster.servers) server.project = earlier.folder;
    await cluster.start();
    const client = makeClient(cluster.server(1).target);
    token = await createToken(client, await signIn(client, 'admin', ADMIN_PASSWORD), ALL_SCOPES);
    client.close();
  });
  after(async () => {
    await cluster?.close();
    earlier?.remove();
  });

  async function asAdmin<T>(server: ClusterServer, work: (admin: Client) => Promise<T>): Promise<T> {
    const client = makeClient(server.target);
    try {
      return await work(client.with({ Authorization: `Bearer ${token}` }));
    } finally {
      client.close();
    }
  }

  async function upgrade(server: ClusterServer): Promise<void> {
    await server.stop();
    server.project = PROJECT;
    await server.start();
  }

  it('lets both releases write, offer and clone the same, and loses nothing', async () => {
    const [one, other] = [cluster.server(1), cluster.server(2)];
    const identity = await makeClientCertificate({ commonName: 'node-1.example.org' });
    const node = makeClient(one.target, identity);
    const path = await asAdmin(one, async (admin) => {
      await publishConfiguration(admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
      const body = { registrationKey: await createKey(admin), fqdn: 'node-1.example.org' };
      const { nodeId } = await ok(200, node.post('/api/v1/nodes/register', body));
      await ok(204, admin.put(`/api/v1/nodes/${nodeId}/configuration`, { configurationName: 'web' }));
      return `/api/v1/nodes/${nodeId}/configuration`;
    });
    node.close();

    const offered = (server: ClusterServer, version: string) =>
      eventually(async () => {
        const client = makeClient(server.target, identity);
        const offer = await ok(200, client.get(`${path}/checksum`)).finally(() => client.close());
        expect(offer.version).to.equal(version);
      });
    const publishAt = async (server: ClusterServer, version: string) => {
      await asAdmin(server, async (admin) => {
        await ok(
          201,
          addVersion(
            admin,
            'web',
            { version },
            { files: { [MAIN]: `$schema: x\n# ${version}\nresources: []\n` } },
          ),
        );
        await ok(200, admin.put(`${CONFIGURATIONS}/web/versions/${version}/publish`));
      });
      for (const each of [one, other]) await offered(each, version);
    };

    await upgrade(one);
    await publishAt(one, '1.1.0');
    await publishAt(other, '1.2.0');
    await upgrade(other);
    await publishAt(other, '1.3.0');
    for (const server of [one, other]) {
      const git = gitClient({ dataDir: server.dataDir, server });
      const { output } = await git.run('ls-remote', '--tags', '--refs', git.url('configurations/web', token));
      git.close();
      expect(output.match(/v[\d.]+$/gm), output).to.deep.equal(['v1.0.0', 'v1.1.0', 'v1.2.0', 'v1.3.0']);
      expect(server.errors).to.deep.equal([]);
    }
  });
});
