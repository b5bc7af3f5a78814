// full: SQLite, PostgreSQL
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Client, type Identity, makeClient, type Target } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { describeOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import {
  ADMIN_PASSWORD,
  ALL_SCOPES,
  createKey,
  createToken,
  type NodeUnderTest,
  publishConfiguration,
  signIn,
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
import { type Spawned, spawnHawser } from '../support/spawned.ts';
import { started } from '../support/started.ts';

const OTHER = 'ab'.repeat(32);
/** Enough that each of two workers has some: connections are dealt out in turn. */
const CONNECTIONS = 4;

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

describeOnSqlite('what nodes run, of a server of two workers', () => {
  let folder: string;
  let hawser: Spawned;
  let target: Target;
  let admin: Client;
  let identity: Identity;
  let nodeId: string;
  /** The node over several connections, which different workers serve. */
  let nodes: NodeUnderTest[];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-evidence-'));
    identity = await makeClientCertificate({ commonName: 'web-01.example.org' });
    await start();
    await publishConfiguration(admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
      '2.0.0': { 'main.dsc.yaml': '$schema: y\nresources: []\n' },
    });
    const registrationKey = await createKey(admin);
    const client = makeClient(target, identity);
    const fqdn = 'web-01.example.org';
    nodeId = (await ok(200, client.post('/api/v1/nodes/register', { registrationKey, fqdn }))).nodeId;
    client.close();
    connectNodes();
    await offer(1);
  });
  after(async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    hawser = await spawnHawser(folder, { HAWSER_WORKERS: '2' });
    target = await hawser.listening();
    const first = makeClient(target);
    const session = await signIn(first, 'admin', ADMIN_PASSWORD);
    const token = await createToken(first, session, ALL_SCOPES);
    admin = first.with({ Authorization: `Bearer ${token}` });
  }
  function connectNodes(): void {
    nodes = Array.from({ length: CONNECTIONS }, () => {
      const client = makeClient(target, identity);
      return { nodeId, fqdn: 'web-01.example.org', identity, client } as NodeUnderTest;
    });
  }
  async function kill(): Promise<void> {
    for (const { client } of nodes ?? []) client.close();
    admin.close();
    hawser.child.kill('SIGKILL');
    await hawser.ended;
  }
  const at = (index: number) => nodes[index % CONNECTIONS] as NodeUnderTest;
  const offer = (majorVersion: number) =>
    ok(204, admin.put(`/api/v1/nodes/${nodeId}/configuration`, { configurationName: 'web', majorVersion }));
  const running = () => runningOf({ admin }, { nodeId });

  it('is the same through all of them, whichever of them learned of it', async () => {
    const checksum = await offeredTo(at(0));
    for (let round = 0; round < CONNECTIONS; round += 1) {
      for (const node of nodes) await declare(node, checksum);
      expect(await expectRunning({ admin }, at(0), checksum, 'Declared')).to.include({ version: '1.0.0' });
      // Another worker knows that the node declared it. It must not go on believing so.
      await ok(201, sendReport(at(round), { configurationChecksum: OTHER }));
      expect(await running()).to.include({ checksum: OTHER, evidence: 'Declared', version: null });
      await declare(at(round + 1), checksum);
      await expectRunning({ admin }, at(0), checksum, 'Declared');
    }
  });

  it('names a bundle in a report that comes through another worker', async () => {
    for (let round = 0; round < CONNECTIONS; round += 1) {
      // Another one than before.
      await offer(2 - (round % 2));
      const { headers } = await download(at(round));
      const checksum = String(headers['etag']).slice(1, -1);
      await expectRunning({ admin }, at(0), checksum, 'Served');
      const report = await ok(201, sendReport(at(round + 1)));
      expect(report).to.include({ configurationChecksum: checksum, checksumSource: 'Served' });
    }
  });

  it('follows each change and change back', async () => {
    for (let round = 0; round < CONNECTIONS; round += 1) {
      const major = 2 - (round % 2);
      await offer(major);
      const checksum = await offeredTo(at(round));
      await expectRunning({ admin }, at(0), checksum, 'Told');
      await declare(at(round + 1), checksum);
      const shown = await expectRunning({ admin }, at(0), checksum, 'Declared');
      expect(shown.version).to.equal(`${major}.0.0`);
    }
  });

  it('survives kill -9 with the report that declared it', async () => {
    const { checksum, version } = await ok(200, poll(at(0)));
    await ok(201, sendReport(at(0), { configurationChecksum: OTHER }));
    const report = await ok(201, sendReport(at(1), { configurationChecksum: checksum }));
    await kill();
    await start();
    connectNodes();
    expect(await running()).to.include({ checksum, evidence: 'Declared', since: report.timestamp });
    const [last] = await ok(200, admin.get(`/api/v1/nodes/${nodeId}/reports`));
    expect(last).to.include({ configurationChecksum: checksum, checksumSource: 'Declared' });
    await eventually(async () => {
      await declare(at(0), checksum);
      expect(await running()).to.include({ checksum, version });
    });
  });
});
