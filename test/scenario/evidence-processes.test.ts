// full: SQLite, PostgreSQL
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Client, type Identity, makeClient } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import {
  asAdmin,
  createKey,
  type Hawser,
  type NodeUnderTest,
  publishConfiguration,
  startHawser,
} from '../support/hawser.ts';
import { holdDatabase } from '../support/held-database.ts';
import { assign, poll } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import {
  declare,
  download,
  expectRunning,
  manifestOf,
  offeredTo,
  runningOf,
  sendReport,
} from '../support/running.ts';
import { spawnHawser } from '../support/spawned.ts';
import { started } from '../support/started.ts';

const OTHER = 'ab'.repeat(32);

describe('what nodes run, over restarts and faults', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
      '2.0.0': { 'main.dsc.yaml': '$schema: y\nresources: []\n' },
    });
    node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'web', { majorVersion: 1 });
  });

  it('is written when the server ends right after the call, and stays', async () => {
    const checksum = await offeredTo(node);
    await declare(node, checksum);
    await hawser.restart();
    const running = await runningOf(hawser, node);
    expect(running).to.include({ checksum, evidence: 'Declared', version: '1.0.0' });
    node.client = hawser.client(node.identity);
    await declare(node, checksum);
    await ok(201, sendReport(node));
    expect(await runningOf(hawser, node)).to.deep.equal(running);
  });

  it('is kept while the database cannot be written, and written then', async () => {
    const { checksum: before } = await runningOf(hawser, node);
    const holder = await holdDatabase(hawser);
    let checksum = '';
    try {
      await ok(200, poll(node));
      await ok(304, poll(node, before));
      const { headers } = await download(node);
      checksum = String(headers['etag']).slice(1, -1);
      expect(checksum).to.equal(before);
    } finally {
      await holder.release();
    }
    const report = await ok(201, sendReport(node));
    expect(report).to.include({ configurationChecksum: checksum, checksumSource: 'Served' });
    await expectRunning(hawser, node, checksum, 'Declared');
  });

  it('is written later where a change came while the database was held', async () => {
    await assign(hawser, node, 'web', { majorVersion: 2 });
    const holder = await holdDatabase(hawser);
    let checksum = '';
    try {
      checksum = await offeredTo(node);
      await ok(304, poll(node, checksum));
    } finally {
      await holder.release();
    }
    expect(await expectRunning(hawser, node, checksum, 'Declared')).to.include({ version: '2.0.0' });
    expect(await manifestOf(hawser, checksum)).to.include({ version: '2.0.0' });
  });
});

describeOnPostgres('what nodes run, of two servers', () => {
  let servers: [Hawser, Hawser];
  /** The node as each of the servers knows it. */
  let nodes: [NodeUnderTest, NodeUnderTest];

  before(async () => {
    const first = await startHawser();
    servers = [first, await startHawser({ HAWSER_DATABASE_URL: first.databaseUrl ?? '' })];
    await publishConfiguration(first.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
      '2.0.0': { 'main.dsc.yaml': '$schema: y\nresources: []\n' },
    });
    const node = await first.registerNode('web-01.example.org');
    nodes = [node, { ...node, client: servers[1].client(node.identity) }];
    await offer(1);
  });
  after(async () => {
    for (const server of [...servers].reverse()) await server.close();
  });

  const of = <T>(pair: [T, T], number: number): T => pair[number % 2] as T;
  const at = (number: number) => of(nodes, number);
  const offer = (majorVersion: number) => assign(servers[0], nodes[0], 'web', { majorVersion });
  /** What each of them says. */
  const running = (checksum: string, evidence: 'Declared' | 'Served') =>
    Promise.all(servers.map((server) => expectRunning(server, nodes[0], checksum, evidence)));
  /** The offer of a server, which hears of a change of another a second later at most. */
  const offered = (number: number, version: string) =>
    eventually(async () => {
      const offer = await ok(200, poll(at(number)));
      expect(offer.version).to.equal(version);
      return offer.checksum as string;
    });

  it('is the same through both, whichever of them learned of it', async () => {
    const checksum = await offered(0, '1.0.0');
    for (let round = 0; round < 4; round += 1) {
      for (const node of nodes) await declare(node, checksum);
      for (const shown of await running(checksum, 'Declared')) expect(shown.version).to.equal('1.0.0');
      // The other one knows that the node declared it. It must not go on believing so.
      await ok(201, sendReport(at(round), { configurationChecksum: OTHER }));
      for (const shown of await running(OTHER, 'Declared')) expect(shown.version).to.equal(null);
      await eventually(async () => {
        await declare(at(round + 1), checksum);
        expect(await runningOf(of(servers, round), nodes[0])).to.include({ checksum });
      });
    }
  });

  it('names a bundle in a report that comes through the other', async () => {
    for (let round = 0; round < 4; round += 1) {
      const major = 2 - (round % 2);
      await offer(major);
      await offered(round, `${major}.0.0`);
      const { headers } = await download(at(round));
      const checksum = String(headers['etag']).slice(1, -1);
      await running(checksum, 'Served');
      const report = await ok(201, sendReport(at(round + 1)));
      expect(report).to.include({ configurationChecksum: checksum, checksumSource: 'Served' });
    }
  });
});

describe('what nodes run, of a server that is killed', () => {
  it('is there afterwards with the report that declared it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hawser-evidence-'));
    const identity = await makeClientCertificate({ commonName: 'web-01.example.org' });
    const clients: Client[] = [];
    let hawser = await spawnHawser(folder);
    const connect = async (certificate?: Identity) => {
      const client = makeClient(await hawser.listening(), certificate);
      clients.push(client);
      return client;
    };
    const kill = async () => {
      hawser.child.kill('SIGKILL');
      await hawser.ended;
    };
    try {
      let admin = await asAdmin(await connect());
      await publishConfiguration(admin, 'web', {
        '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
      });
      const client = await connect(identity);
      const fqdn = 'web-01.example.org';
      const registration = { registrationKey: await createKey(admin), fqdn };
      const { nodeId } = await ok(200, client.post('/api/v1/nodes/register', registration));
      const node = { nodeId, fqdn, identity, client };
      await ok(204, admin.put(`/api/v1/nodes/${nodeId}/configuration`, { configurationName: 'web' }));
      const { checksum, version } = await ok(200, poll(node));
      await ok(201, sendReport(node, { configurationChecksum: OTHER }));
      const report = await ok(201, sendReport(node, { configurationChecksum: checksum }));
      await kill();
      hawser = await spawnHawser(folder);
      admin = await asAdmin(await connect());
      const again = { ...node, client: await connect(identity) };
      const running = () => runningOf({ admin }, { nodeId });
      expect(await running()).to.include({ checksum, evidence: 'Declared', since: report.timestamp });
      const [last] = await ok(200, admin.get(`/api/v1/nodes/${nodeId}/reports`));
      expect(last).to.include({ configurationChecksum: checksum, checksumSource: 'Declared' });
      await eventually(async () => {
        await declare(again, checksum);
        expect(await running()).to.include({ checksum, version });
      });
    } finally {
      for (const client of clients) client.close();
      await kill();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
