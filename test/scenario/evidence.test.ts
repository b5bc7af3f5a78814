// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationPath, poll } from '../support/parameter-files.ts';
import { readMetrics, sumOf } from '../support/prometheus.ts';
import { expectProblem, ok } from '../support/replies.ts';
import {
  countWrites,
  declare,
  download,
  expectRunning,
  offeredTo,
  runningOf,
  sendReport,
} from '../support/running.ts';
import { started } from '../support/started.ts';
import { offerAgain, withdraw } from '../support/withdrawals.ts';

const TOKEN = 'the-token-that-opens-the-metrics';
const OTHER = 'ab'.repeat(32);

describe('what a node runs', () => {
  const hawser = started(() => startHawser({ HAWSER_METRICS_TOKEN: TOKEN }));
  let node: NodeUnderTest;
  let next = 0;

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': 'one' },
      '2.0.0': { 'main.dsc.yaml': 'two' },
    });
  });

  beforeEach(async () => {
    next += 1;
    node = await hawser.registerNode(`web-${next}.example.org`);
    await assign(hawser, node, 'web', { majorVersion: 1 });
  });

  const path = () => configurationPath(node);
  const running = () => runningOf(hawser, node);
  /** A report of now comes after all that its node's calls before it have told, and so writes it. */
  const settle = () => ok(201, sendReport(node));

  it('is null until the node is told something, whatever is assigned', async () => {
    expect(await running()).to.equal(null);
    await ok(204, hawser.admin.delete(path()));
    await expectProblem(poll(node), 404, 'no_configuration_assigned');
    await settle();
    expect(await running()).to.equal(null);
  });

  it('is Told by a poll that is answered with it, also by one of the entry point', async () => {
    const before = hawser.clock.now();
    const checksum = await offeredTo(node);
    const told = await expectRunning(hawser, node, checksum, 'Told');
    expect(told).to.deep.equal({
      ...{ checksum, configurationName: 'web', version: '1.0.0', evidence: 'Told' },
      since: told.since,
    });
    expect(Date.parse(told.since)).to.be.within(before, hawser.clock.now());
    await assign(hawser, node, 'web', { majorVersion: 2 });
    await ok(200, node.client.get(path()));
    const other = await eventually(async () => {
      const shown = await running();
      expect(shown.version).to.equal('2.0.0');
      return shown;
    });
    expect(other).to.include({ evidence: 'Told', checksum: await offeredTo(node) });
  });

  it('is Declared by a poll that names exactly the checksum, and keeps the time of the first', async () => {
    const checksum = await offeredTo(node);
    await declare(node, checksum);
    const declared = await expectRunning(hawser, node, checksum, 'Declared');
    hawser.clock.advance(60_000);
    await declare(node, checksum);
    await offeredTo(node);
    await ok(304, node.client.get(path(), { 'If-None-Match': `"${checksum}"` }));
    await download(node);
    await settle();
    expect(await running()).to.deep.equal(declared);
  });

  it('is Declared by the If-None-Match of the entry point too', async () => {
    const checksum = await offeredTo(node);
    await ok(304, node.client.get(path(), { 'If-None-Match': `"${checksum}"` }));
    await expectRunning(hawser, node, checksum, 'Declared');
  });

  it('is not declared by a list, by *, by another checksum, by HEAD, or by asking for the bundle', async () => {
    const checksum = await offeredTo(node);
    for (const known of ['*', `"${checksum}", "x"`, `"x","${checksum}"`])
      await ok(304, node.client.get(`${path()}/checksum`, { 'If-None-Match': known }));
    const headers = { 'If-None-Match': `"${checksum}"` };
    await ok(304, node.client.call('HEAD', `${path()}/checksum`, { headers }));
    await ok(304, node.client.get(`${path()}/bundle`, headers));
    await ok(200, poll(node, OTHER));
    await settle();
    expect(await running()).to.include({ checksum, evidence: 'Told' });
  });

  it('is not told by HEAD, by a refused answer, nor by what a user reads for the node', async () => {
    for (const part of ['', '/checksum', '/bundle'])
      expect((await node.client.call('HEAD', path() + part)).status).to.equal(200);
    await expectProblem(
      node.client.get(`${path()}/checksum`, { Accept: 'text/html' }),
      406,
      'not_acceptable',
    );
    const { checksum } = await ok(200, hawser.admin.get(`${path()}/checksum`));
    await ok(304, hawser.admin.get(`${path()}/checksum`, { 'If-None-Match': `"${checksum}"` }));
    await ok(200, hawser.admin.get(`${path()}/bundle`));
    await settle();
    expect(await running()).to.equal(null);
  });

  it('follows a change, a change back and a withdrawal, weaker evidence of another checksum too', async () => {
    const one = await offeredTo(node);
    await declare(node, one);
    await expectRunning(hawser, node, one, 'Declared');
    await assign(hawser, node, 'web', { majorVersion: 2 });
    const { checksum: two } = await ok(200, poll(node, one));
    expect(await expectRunning(hawser, node, two, 'Told')).to.include({ version: '2.0.0' });
    await assign(hawser, node, 'web', { majorVersion: 1 });
    await declare(node, one);
    await expectRunning(hawser, node, one, 'Declared');
    await assign(hawser, node, 'web');
    await declare(node, two);
    await expectRunning(hawser, node, two, 'Declared');
    await ok(200, withdraw(hawser.admin, 'web', '2.0.0'));
    expect((await ok(200, poll(node, two))).checksum).to.equal(one);
    await expectRunning(hawser, node, one, 'Told');
    await ok(204, offerAgain(hawser.admin, 'web', '2.0.0'));
    await declare(node, two);
    expect(await expectRunning(hawser, node, two, 'Declared')).to.include({ version: '2.0.0' });
  });

  it('is Served again by a bundle that the node got before it was told of another one', async () => {
    await assign(hawser, node, 'web');
    const two = await offeredTo(node);
    await download(node);
    await expectRunning(hawser, node, two, 'Served');
    await ok(200, withdraw(hawser.admin, 'web', '2.0.0'));
    await expectRunning(hawser, node, await offeredTo(node), 'Told');
    await ok(204, offerAgain(hawser.admin, 'web', '2.0.0'));
    expect(await offeredTo(node)).to.equal(two);
    await expectRunning(hawser, node, two, 'Told');
    await download(node);
    await expectRunning(hawser, node, two, 'Served');
  });

  it('is what a report names, and what the next poll names after that', async () => {
    const checksum = await offeredTo(node);
    await declare(node, checksum);
    await ok(201, sendReport(node, { configurationChecksum: OTHER.toUpperCase() }));
    expect(await running()).to.include({
      ...{ checksum: OTHER, evidence: 'Declared' },
      ...{ configurationName: null, version: null },
    });
    await declare(node, checksum);
    const again = await expectRunning(hawser, node, checksum, 'Declared');
    expect(again).to.include({ configurationName: 'web', version: '1.0.0' });
  });

  it('is what a report names, at once, where the node was only told or served it', async () => {
    const checksum = await offeredTo(node);
    await download(node);
    const report = await ok(201, sendReport(node, { configurationChecksum: checksum }));
    expect(report).to.include({ configurationChecksum: checksum, checksumSource: 'Declared' });
    expect(await running()).to.include({ checksum, evidence: 'Declared', since: report.timestamp });
  });

  it('writes nothing for the polls and reports of a fleet in which nothing changes', async () => {
    const checksum = await offeredTo(node);
    await declare(node, checksum);
    await ok(201, sendReport(node, { configurationChecksum: checksum }));
    const writes = await countWrites(hawser);
    for (let count = 0; count < 5; count += 1) {
      await declare(node, checksum);
      await offeredTo(node);
      await ok(201, sendReport(node, { configurationChecksum: checksum }));
    }
    // Another generation, in which the process knows nothing of the node.
    await publishConfiguration(hawser.admin, `other-${next}`, { '1.0.0': { 'main.dsc.yaml': 'x' } });
    await declare(node, checksum);
    await settle();
    expect(await writes()).to.equal(0);
  });

  it('is counted by the metrics, and no longer once the node is deleted', async () => {
    const scrape = async (evidence: string) =>
      sumOf(await readMetrics(hawser, TOKEN), 'hawser_nodes_running', { evidence });
    const [told, served, declared] = [await scrape('Told'), await scrape('Served'), await scrape('Declared')];
    const checksum = await offeredTo(node);
    await expectRunning(hawser, node, checksum, 'Told');
    expect(await scrape('Told')).to.equal(told + 1);
    await download(node);
    await expectRunning(hawser, node, checksum, 'Served');
    expect([await scrape('Told'), await scrape('Served')]).to.deep.equal([told, served + 1]);
    await declare(node, checksum);
    await expectRunning(hawser, node, checksum, 'Declared');
    expect([await scrape('Served'), await scrape('Declared')]).to.deep.equal([served, declared + 1]);
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${node.nodeId}`));
    expect(await scrape('Declared')).to.equal(declared);
  });
});
