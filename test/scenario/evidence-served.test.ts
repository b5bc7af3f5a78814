// full: SQLite, PostgreSQL
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationPath } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import {
  countWrites,
  download,
  expectRunning,
  manifestOf,
  offeredTo,
  runningOf,
  sendReport,
} from '../support/running.ts';
import { started } from '../support/started.ts';
import { askWithoutReading } from '../support/unread-answer.ts';

/** More than the buffers of a connection take. */
const LARGE = 24 * 1024 * 1024;

describe('a bundle counts as served', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let next = 0;

  before(async () => {
    await publishConfiguration(hawser.admin, 'small', {
      '1.0.0': { 'main.dsc.yaml': 'one' },
      '2.0.0': { 'main.dsc.yaml': 'two' },
    });
    await publishConfiguration(hawser.admin, 'large', {
      '1.0.0': { 'main.dsc.yaml': 'one', 'data.bin': randomBytes(LARGE) },
    });
  });

  beforeEach(async () => {
    next += 1;
    node = await hawser.registerNode(`node-${next}.example.org`);
    await assign(hawser, node, 'small', { majorVersion: 1 });
  });

  const bundlePath = () => `${configurationPath(node)}/bundle`;
  const running = () => runningOf(hawser, node);

  /** Sends a request on a connection of its own. */
  async function ask(head: string): Promise<TLSSocket> {
    const { port, ca } = hawser.target();
    const { cert, key } = node.identity;
    const socket = connect({ host: '127.0.0.1', port, ca, cert, key, servername: 'localhost' });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    socket.write(`GET ${bundlePath()} HTTP/1.1\r\nHost: localhost\r\n${head}\r\n`);
    return socket;
  }

  it('once its last byte is sent, with the digest of the ZIP', async () => {
    const before = hawser.clock.now();
    const { headers } = await download(node);
    const checksum = String(headers['etag']).slice(1, -1);
    const served = await expectRunning(hawser, node, checksum, 'Served');
    expect(served).to.include({ configurationName: 'small', version: '1.0.0' });
    expect(Date.parse(served.since)).to.be.at.least(before);
    const manifest = await manifestOf(hawser, checksum);
    expect(`sha-256=:${manifest?.bundleDigest}:`).to.equal(headers['repr-digest']);
    expect(manifest?.firstServedAt).to.equal(Date.parse(served.since));
  });

  it('where the connection ends with the answer, too', async () => {
    const socket = await ask('Connection: close\r\n');
    socket.resume();
    await once(socket, 'close');
    await expectRunning(hawser, node, await offeredTo(node), 'Served');
  });

  it('where it is large, read slowly and to its end', async () => {
    await assign(hawser, node, 'large');
    const answer = await askWithoutReading(hawser.target(), node.identity, bundlePath());
    await sleep(100);
    expect(await running()).to.equal(null);
    expect((await answer.read()).length).to.be.greaterThan(LARGE);
    const checksum = String(answer.headers['etag']).slice(1, -1);
    await expectRunning(hawser, node, checksum, 'Served');
  });

  it('not where the client breaks off, whether after the head, in the middle, or before the head', async () => {
    await assign(hawser, node, 'large');
    const checksum = await offeredTo(node);
    const told = await expectRunning(hawser, node, checksum, 'Told');
    const answer = await askWithoutReading(hawser.target(), node.identity, bundlePath());
    answer.breakOff();
    for (const bytes of [0, 1, 8 * 1024 * 1024]) {
      const socket = await ask('');
      let received = 0;
      if (bytes > 0)
        await new Promise<void>((resolve) => {
          socket.on('data', ({ length }: Buffer) => {
            received += length;
            if (received >= bytes) resolve();
          });
        });
      socket.destroy();
    }
    // The server learns of it, and would have written it by then.
    await sleep(300);
    await ok(201, sendReport(node));
    expect(await running()).to.deep.equal(told);
  });

  it('after a poll of the same, and not again after it was declared', async () => {
    const checksum = await offeredTo(node);
    await download(node);
    const served = await expectRunning(hawser, node, checksum, 'Served');
    const writes = await countWrites(hawser);
    await download(node);
    const report = await ok(201, sendReport(node));
    expect(report).to.include({ configurationChecksum: checksum, checksumSource: 'Served' });
    expect(await running()).to.deep.equal(served);
    expect(await writes()).to.equal(0);
  });

  it('for each report that names none, from the moment on at which the node has it', async () => {
    const nothing = await ok(201, sendReport(node));
    expect(nothing).to.include({ configurationChecksum: null, checksumSource: null });
    const seen: (string | undefined)[] = [];
    for (const majorVersion of [1, 2, 1]) {
      await assign(hawser, node, 'small', { majorVersion });
      const { headers } = await download(node);
      const report = await ok(201, sendReport(node, { configurationChecksum: null }));
      expect(report.checksumSource).to.equal('Served');
      expect(`"${report.configurationChecksum}"`).to.equal(headers['etag']);
      seen.push(report.configurationChecksum);
      // What the node is told later is no bundle that it has.
      await offeredTo(node);
    }
    expect(new Set(seen).size).to.equal(2);
    const list = await ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}/reports`));
    expect(
      list.map((report: { configurationChecksum: string }) => report.configurationChecksum),
    ).to.deep.equal([...seen.reverse(), null]);
    const one = await ok(200, hawser.admin.get(`/api/v1/reports/${list[0].id}`));
    expect(one).to.include({ configurationChecksum: seen[0], checksumSource: 'Served' });
  });

  it('not where a user gets it', async () => {
    await ok(200, hawser.admin.get(bundlePath()));
    const report = await ok(201, sendReport(node));
    expect(report).to.include({ configurationChecksum: null, checksumSource: null });
    expect(await running()).to.equal(null);
  });
});
