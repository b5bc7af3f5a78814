// full: PostgreSQL
/** Three servers on one PostgreSQL: what each of them sees and answers, and what happens when one of them goes wrong. */

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Client, makeClient, type Reply, type Target } from '../support/client.ts';
import { type ClientCertificate, makeClientCertificate } from '../support/client-certificates.ts';
import { ServerCluster } from '../support/cluster/cluster.ts';
import { freezeAmid } from '../support/cluster/freeze.ts';
import { addVersion, CONFIGURATIONS, create, MAIN } from '../support/configurations.ts';
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
import { itWith } from '../support/optional-tools.ts';
import { newDatabase } from '../support/postgres.ts';
import { ok } from '../support/replies.ts';
import { DEFAULT_ID, NODE_ID, SCOPE_TYPES } from '../support/scopes.ts';
import { unzipTexts } from '../support/unzip.ts';

const SERVERS = 3;
const PUBLISHES_AT_ONCE = 50;
const PUBLISHES = 200;

const files = (content: string) => ({ files: { [MAIN]: `$schema: x\n# ${content}\nresources: []\n` } });
const versionOf = (name: string, version: string) => `${CONFIGURATIONS}/${name}/versions/${version}`;

describeOnPostgres('three servers on one database', function () {
  this.timeout(180_000);
  let cluster: ServerCluster;
  let token: string;
  /** One client of an administrator for each server. */
  let admins: Client[];
  let nodes: number;

  before(async () => {
    cluster = await ServerCluster.make(await newDatabase(), { servers: SERVERS });
    await cluster.start();
    const client = makeClient(cluster.server(1).target);
    token = await createToken(client, await signIn(client, 'admin', ADMIN_PASSWORD), ALL_SCOPES);
    client.close();
    admins = cluster.servers.map(({ target }) => administrator(target));
    nodes = 0;
  });
  after(async () => {
    for (const admin of admins ?? []) admin.close();
    await cluster?.close();
  });

  const administrator = (target: Target) => makeClient(target).with({ Authorization: `Bearer ${token}` });
  /** The servers in turn. */
  const admin = (number: number): Client => admins[number % SERVERS] as Client;

  /** Registers a node at one of the servers. */
  async function register(configurationName: string): Promise<{ path: string; identity: ClientCertificate }> {
    nodes += 1;
    const fqdn = `node-${nodes}.example.org`;
    const identity = await makeClientCertificate({ commonName: fqdn });
    const client = makeClient(cluster.server(1).target, identity);
    const body = { registrationKey: await createKey(admin(1)), fqdn };
    const { nodeId } = await ok(200, client.post('/api/v1/nodes/register', body));
    client.close();
    const path = `/api/v1/nodes/${nodeId}/configuration`;
    await ok(204, admin(2).put(path, { configurationName }));
    return { path, identity };
  }

  async function newestEvent(client: Client): Promise<{ id: string; subject: string }> {
    let newest = { id: '', subject: '' };
    for (;;) {
      const page = await ok(200, client.get(`/api/v1/events?after=${newest.id}`));
      if (page.length === 0) return newest;
      newest = page.at(-1);
    }
  }

  /** Resolves when the server offers the version to the node. */
  async function offers(client: Client, path: string, version: string): Promise<void> {
    await eventually(async () => {
      const offer = await ok(200, client.get(`${path}/checksum`));
      expect(offer.version).to.equal(version);
    });
  }

  it('have one authority, so that whoever trusts one of them trusts all', () => {
    const authorities = cluster.servers.map(({ target }) => target.ca);
    expect(new Set(authorities).size).to.equal(1);
  });

  it('let exactly one of many publish a version, and refuse the others', async () => {
    await ok(201, create(admin(0), 'contended', { version: '1.0.0' }, files('contended')));
    const path = `${versionOf('contended', '1.0.0')}/publish`;
    const replies = await Promise.all(
      Array.from({ length: PUBLISHES_AT_ONCE }, (_, number) => admin(number).put(path)),
    );
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([200, ...Array(PUBLISHES_AT_ONCE - 1).fill(409)]);
    const [{ commit }] = replies.filter(({ status }) => status === 200).map(({ json }: Reply) => json);
    for (const each of admins)
      expect(await ok(200, each.get(versionOf('contended', '1.0.0')))).to.include({ commit });
    const entries = await ok(200, admin(1).get('/api/v1/audit?action=configuration.version_published'));
    const about = entries.filter(
      ({ details }: { details: { name: string } }) => details.name === 'contended',
    );
    expect(about).to.have.length(1);
  });

  it('let one of those who create or change the same thing at once do it', async () => {
    const created = await Promise.all(
      admins.map((each) => create(each, 'wanted', { version: '1.0.0' }, files(''))),
    );
    expect(created.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409]);
    const path = `${CONFIGURATIONS}/wanted`;
    const { etag } = (await admin(0).get(path)).headers;
    const headers = { 'If-Match': String(etag) };
    const changed = await Promise.all(
      admins.map((each, at) => each.call('PATCH', path, { json: { description: `${at}` }, headers })),
    );
    expect(changed.map(({ status }) => status).sort()).to.deep.equal([200, 412, 412]);
  });

  it('keep every version of a repository that all write to at once', async () => {
    await ok(201, create(admin(0), 'crowded', { version: '1.0.0' }, files('first')));
    const versions = Array.from({ length: 12 }, (_, at) => `2.${at}.0`);
    await Promise.all(
      versions.map(async (version, at) => {
        await ok(201, addVersion(admin(at), 'crowded', { version }, files(version)));
        await ok(200, admin(at + 1).put(`${versionOf('crowded', version)}/publish`));
      }),
    );
    for (const each of admins) {
      const listed: { version: string }[] = await ok(200, each.get(`${CONFIGURATIONS}/crowded/versions`));
      expect(listed.map(({ version }) => version)).to.have.members(['1.0.0', ...versions]);
    }
  });

  it('tell in their lists what their version lists show, and date a change once', async () => {
    await ok(201, create(admin(0), 'dated', { version: '1.0.0' }, files('first')));
    for (let round = 1; round < 7; round += 1) {
      const version = `1.${round}.0`;
      await ok(201, addVersion(admin(round), 'dated', { version }, files(version)));
      await ok(200, admin(round + 1).put(`${versionOf('dated', version)}/publish`));
      const dates = new Set<string>();
      // The first answer of each server may be the one for which it reads the refs.
      for (const each of [...admins, ...admins]) {
        const { updatedAt, ...shown } = await ok(200, each.get(`${CONFIGURATIONS}/dated`));
        dates.add(updatedAt);
        expect(shown).to.include({ versionCount: round + 1, latestPublishedVersion: version });
        expect(await ok(200, each.get(`${CONFIGURATIONS}/dated/versions`))).to.have.length(round + 1);
      }
      expect([...dates], version).to.have.length(1);
    }
  });

  it('show a change to whoever asks the next moment at another one', async () => {
    await ok(201, create(admin(0), 'shown', { version: '1.0.0' }, files('shown')));
    for (let number = 1; number <= 12; number += 1) {
      const description = `change ${number}`;
      await ok(200, admin(number).call('PATCH', `${CONFIGURATIONS}/shown`, { json: { description } }));
      for (const each of admins)
        expect(await ok(200, each.get(`${CONFIGURATIONS}/shown`))).to.include({ description });
    }
  });

  it('tell whoever waits for events, at each of them, what happens at another', async () => {
    await ok(201, create(admin(0), 'told-before', { version: '1.0.0' }, files('before')));
    const last = await eventually(async () => {
      const newest = await newestEvent(admin(1));
      expect(newest.subject).to.equal('configurations/told-before');
      return newest;
    });
    const waits = admins.map((each) => ok(200, each.get(`/api/v1/events?after=${last.id}&wait=60`)));
    await ok(201, create(admin(2), 'told', { version: '1.0.0' }, files('told')));
    for (const [event] of await Promise.all(waits))
      expect(event).to.include({ type: 'configuration.created', subject: 'configurations/told' });
  });

  it(`offer each of ${PUBLISHES} versions, wherever it was published`, async () => {
    await publishConfiguration(admin(0), 'offered', { '1.0.0': files('first').files });
    const { path, identity } = await register('offered');
    const clients = cluster.servers.map(({ target }) => makeClient(target, identity));
    for (let number = 1; number <= PUBLISHES; number += 1) {
      const version = `1.${number}.0`;
      await ok(201, addVersion(admin(number), 'offered', { version }, files(version)));
      await ok(200, admin(number + 1).put(`${versionOf('offered', version)}/publish`));
      await Promise.all(clients.map((client) => offers(client, path, version)));
    }
    const bundles = await Promise.all(clients.map((client) => client.get(`${path}/bundle`)));
    expect(new Set(bundles.map(({ headers }) => headers['repr-digest'])).size).to.equal(1);
    for (const client of clients) client.close();
  });

  it('offer what was withdrawn no longer, and nothing to a node from which all was taken', async () => {
    await publishConfiguration(admin(0), 'taken', { '1.0.0': files('').files, '1.1.0': files('new').files });
    const { path, identity } = await register('taken');
    const clients = cluster.servers.map(({ target }) => makeClient(target, identity));
    const everywhere = (version: string) =>
      Promise.all(clients.map((client) => offers(client, path, version)));
    await everywhere('1.1.0');
    const withdrawal = `${versionOf('taken', '1.1.0')}/withdraw`;
    for (let round = 0; round < SERVERS; round += 1) {
      await ok(200, admin(round).put(withdrawal, { reason: `round ${round}` }));
      await everywhere('1.0.0');
      await ok(204, admin(round + 1).delete(withdrawal));
      await everywhere('1.1.0');
    }
    const refused = (code: string) =>
      Promise.all(
        clients.map((client) =>
          eventually(async () => expect((await client.get(`${path}/checksum`)).json.code).to.equal(code)),
        ),
      );
    await ok(204, admin(1).delete(path));
    await refused('no_configuration_assigned');
    await ok(204, admin(2).delete(path.replace('/configuration', '')));
    await refused('unauthenticated');
    for (const client of clients) client.close();
  });

  it('give a node the parameters of its scopes as they are now, wherever these were changed', async () => {
    await publishConfiguration(admin(0), 'scoped', { '1.0.0': files('scoped').files });
    const { id } = await ok(200, admin(0).get(`${CONFIGURATIONS}/scoped`));
    const { path, identity } = await register('scoped');
    const clients = cluster.servers.map(({ target }) => makeClient(target, identity));
    let turn = 0;
    /** At another server each time. */
    const call = async (method: string, address: string, json?: unknown) => {
      turn += 1;
      const reply = await admin(turn).call(method, address, json === undefined ? {} : { json });
      expect(reply.status, `${method} ${address} ${reply.text}`).to.be.lessThan(300);
      return reply.text === '' ? undefined : reply.json;
    };
    const [zone, tier] = [
      await call('POST', SCOPE_TYPES, { name: 'Zone' }),
      await call('POST', SCOPE_TYPES, { name: 'Tier' }),
    ];
    const north = await call('POST', `${SCOPE_TYPES}/${zone.id}/values`, { value: 'north' });
    const front = await call('POST', `${SCOPE_TYPES}/${tier.id}/values`, { value: 'front' });
    const save = async (type: string, from: string, scopeValue?: string) => {
      const address = `/api/v1/parameters/${type}/${id}`;
      const content = `parameters: {from: ${from}}`;
      await call('PUT', address, { version: '1.0.0', content, ...(scopeValue && { scopeValue }) });
      await call('PUT', `${address}/versions/1.0.0/publish${scopeValue ? `?scopeValue=${scopeValue}` : ''}`);
    };
    await save(DEFAULT_ID, 'default');
    await save(zone.id, 'zone', 'north');
    await save(tier.id, 'tier', 'front');
    const expectFrom = (from: string) =>
      Promise.all(
        clients.map((client) =>
          eventually(async () => {
            const { bytes } = await client.get(`${path}/bundle`);
            expect((await unzipTexts(bytes))['parameters.yaml']).to.equal(`parameters:\n  from: ${from}\n`);
          }),
        ),
      );
    const tags = `${path.replace('/configuration', '')}/tags`;
    const reorder = (...scopeTypeIds: string[]) => call('PUT', `${SCOPE_TYPES}/reorder`, { scopeTypeIds });
    await expectFrom('default');
    await call('POST', tags, { scopeValueId: north.id });
    await expectFrom('zone');
    await call('POST', tags, { scopeValueId: front.id });
    await expectFrom('tier');
    await reorder(DEFAULT_ID, tier.id, zone.id, NODE_ID);
    await expectFrom('zone');
    await call('DELETE', `${tags}/${north.id}`);
    await expectFrom('tier');
    await call('DELETE', `${tags}/${front.id}`);
    await expectFrom('default');
    for (const client of clients) client.close();
  });

  itWith(['haproxy'], 'know a node by its certificate through HAProxy', async () => {
    await publishConfiguration(admin(0), 'balanced', { '1.0.0': files('balanced').files });
    const { path, identity } = await register('balanced');
    for (let call = 0; call < 2 * SERVERS; call += 1) {
      const client = makeClient(cluster.target, identity);
      await offers(client, path, '1.0.0');
      client.close();
    }
  });

  it('go on to write while one of them is frozen amid a change, and its change fails', async () => {
    await publishConfiguration(admin(0), 'frozen', { '1.0.0': files('frozen').files });
    await ok(201, addVersion(admin(0), 'frozen', { version: '1.1.0' }, files('never twice')));
    const frozen = cluster.server(1);
    const [sent] = await freezeAmid(cluster, frozen, () =>
      admin(0).put(`${versionOf('frozen', '1.1.0')}/publish`),
    );
    try {
      // The others wait for the lock that the frozen server holds, until PostgreSQL takes it away.
      await eventually(() =>
        ok(201, addVersion(admin(1), 'frozen', { version: '1.2.0' }, files('elsewhere'))),
      );
      await ok(200, admin(2).put(`${versionOf('frozen', '1.2.0')}/publish`));
    } finally {
      frozen.thaw();
    }
    expect((await sent).status).to.equal(503);
    for (const each of admins) {
      await eventually(async () => {
        expect(await ok(200, each.get(versionOf('frozen', '1.1.0')))).to.include({ status: 'Draft' });
        expect(await ok(200, each.get(versionOf('frozen', '1.2.0')))).to.include({ status: 'Published' });
      });
    }
    await ok(200, admin(0).put(`${versionOf('frozen', '1.1.0')}/publish`));
  });

  it('serve all there is from a server whose repositories were deleted', async () => {
    await publishConfiguration(admin(0), 'deleted', { '1.0.0': files('deleted').files });
    const { path, identity } = await register('deleted');
    const server = cluster.server(2);
    const [, second] = admins as [Client, Client];
    const node = makeClient(server.target, identity);
    const git = gitClient({ dataDir: server.dataDir, server: { port: server.port } });
    const clone = async (into: string) => {
      const words = ['clone', '-q', '--mirror', git.url('configurations/deleted', token), into];
      const { code, output } = await git.run(...words);
      expect(code, output).to.equal(0);
      return (await git.run('-C', join(git.folder, into), 'tag')).output.trim().split('\n');
    };
    try {
      expect(await clone('before')).to.deep.equal(['v1.0.0']);
      rmSync(server.reposDir, { recursive: true });
      await ok(200, second.get(`${versionOf('deleted', '1.0.0')}/files/${MAIN}`));
      await offers(node, path, '1.0.0');
      expect((await node.get(`${path}/bundle`)).status).to.equal(200);
      await ok(201, addVersion(second, 'deleted', { version: '1.1.0' }, files('after')));
      await ok(200, second.put(`${versionOf('deleted', '1.1.0')}/publish`));
      await offers(node, path, '1.1.0');
      expect(await clone('after')).to.deep.equal(['v1.0.0', 'v1.1.0']);
      expect(existsSync(server.reposDir)).to.equal(true);
    } finally {
      node.close();
      git.close();
    }
  });

  it('log no error in all of this but that of the frozen one', () => {
    const [first, ...others] = cluster.servers.map(({ errors }) => errors);
    expect(others.flat()).to.deep.equal([]);
    for (const line of first ?? []) expect(JSON.parse(line)).to.include({ msg: 'request', status: 503 });
  });
});
