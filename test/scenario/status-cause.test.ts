// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { HOUR, MINUTE } from '../../src/lib/clock.ts';
import { grouped, testedService, testOutput } from '../support/dsc-results.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, poll } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { ok } from '../support/replies.ts';
import { offeredTo } from '../support/running.ts';
import { started } from '../support/started.ts';
import { offerAgain, withdraw } from '../support/withdrawals.ts';

const NODES = '/api/v1/nodes';
const SERVICE = 'Microsoft.Windows/Service';

describe('why a node is not well, and since when', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let next = 0;

  beforeEach(async () => {
    next += 1;
    node = await hawser.registerNode(`web-${next}.example.org`);
  });

  const details = (client = hawser.admin) => ok(200, client.get(`${NODES}/${node.nodeId}`));
  const listed = async () => (await ok(200, hawser.admin.get(`${NODES}?fqdn=${node.fqdn}`)))[0];
  const report = (result: unknown, more = {}) =>
    ok(201, node.client.post(`${NODES}/${node.nodeId}/reports`, { operation: 'Test', result, ...more }));
  const lcm = (lcmStatus: string) =>
    ok(204, node.client.put(`${NODES}/${node.nodeId}/lcm-status`, { lcmStatus }));
  const release = (name: string) =>
    publishConfiguration(hawser.admin, name, { '1.0.0': { 'main.dsc.yaml': name } });

  it('is nothing for a node that never reported, and its status is as old as the node', async () => {
    const shown = await details();
    expect(shown).to.include({ statusReason: null, statusCause: null, lastReport: null });
    expect(shown.statusSince).to.equal(shown.createdAt);
    expect(await listed()).to.include({ statusReason: null, statusSince: shown.createdAt });
  });

  it('is the first error of the last report; the time is that of the change, not of the last report', async () => {
    const first = await report(testOutput([], true));
    const { statusSince, statusCause, statusReason, lastReport } = await details();
    expect(statusSince).to.equal(first.timestamp);
    expect(statusCause).to.deep.equal({
      ...{ kind: 'Report', at: first.timestamp, reportId: first.id, message: 'Access is denied.' },
      resource: { type: SERVICE, name: 'Web server' },
    });
    expect(statusReason).to.equal(`Web server (${SERVICE}): Access is denied.`);
    expect(lastReport).to.deep.equal(first);
    expect(first).to.include({ outOfState: 0 }).and.to.have.deep.property('firstFault', statusCause);
    hawser.clock.advance(MINUTE);
    const second = await report(testOutput([testedService(false)], true));
    expect(second.outOfState).to.equal(1);
    expect((await details()).statusCause.reportId).to.equal(second.id);
    expect(await listed()).to.include({ statusSince, statusReason });
    hawser.clock.advance(MINUTE);
    const well = await report(testOutput([testedService(true)]));
    expect(well).to.include({ outOfState: 0, firstFault: null });
    expect(await listed()).to.include({
      status: 'Compliant',
      statusSince: well.timestamp,
      statusReason: null,
    });
    expect((await details()).statusCause).to.equal(null);
  });

  it('is the first resource that is out of its state, with what differs, in a group too', async () => {
    const members = [testedService(true, 'a'), testedService(false, 'b'), testedService(false, 'c')];
    const { id } = await report(testOutput([grouped('g', members)]));
    expect((await details()).statusCause).to.deep.include({
      ...{ kind: 'Report', reportId: id, message: 'differs in status' },
      resource: { type: SERVICE, name: 'b' },
    });
    expect((await listed()).statusReason).to.equal(`b (${SERVICE}): differs in status`);
    const [shown] = await ok(200, hawser.admin.get(`${NODES}/${node.nodeId}/reports`));
    expect(shown.outOfState).to.equal(2);
  });

  it('is what the last report tells before all else', async () => {
    await report(testOutput([], true));
    await lcm('Error');
    await ok(404, poll(node));
    const { statusCause } = await details();
    expect(statusCause.kind).to.equal('Report');
    await report(testOutput([testedService(true)]));
    expect((await details()).statusCause.kind).to.equal('LcmStatus');
  });

  it('is an LCM in error', async () => {
    await lcm('Error');
    const { statusCause, statusReason } = await details();
    expect(statusCause).to.include({ kind: 'LcmStatus', reportId: null, resource: null });
    expect(statusReason)
      .to.equal(statusCause.message)
      .and.to.match(/in error/);
    await lcm('Idle');
    expect((await details()).statusCause).to.equal(null);
  });

  it('is a poll that is answered with an error, until one is answered well', async () => {
    const name = `app-${next}`;
    await release(name);
    await assign(hawser, node, name);
    await offeredTo(node);
    await ok(200, withdraw(hawser.admin, name, '1.0.0'));
    await ok(404, poll(node));
    const { at, message } = await eventually(async () => {
      const { statusCause } = await details();
      expect(statusCause).to.include({ kind: 'Problem' });
      return statusCause;
    });
    expect(message).to.match(/^no_eligible_version: ./);
    expect((await listed()).statusReason).to.equal(`Its poll is answered with ${message}`);
    hawser.clock.advance(MINUTE);
    await ok(404, poll(node));
    await ok(204, offerAgain(hawser.admin, name, '1.0.0'));
    expect((await details()).statusCause).to.include({ kind: 'Problem', at });
    await offeredTo(node);
    await eventually(async () => expect((await details()).statusCause).to.equal(null));
  });

  it('is silence', async () => {
    await ok(
      204,
      node.client.put(`${NODES}/${node.nodeId}/reported-config`, { configurationModeInterval: '00:15:00' }),
    );
    await lcm('Idle');
    await eventually(async () => expect((await listed()).lastCheckIn).to.be.a('string'));
    const { lastCheckIn } = await details();
    hawser.clock.advance(10 * HOUR);
    try {
      const { statusCause, statusReason } = await details();
      expect(statusCause).to.include({ kind: 'Silence', at: lastCheckIn });
      expect(statusReason).to.include(lastCheckIn);
    } finally {
      hawser.clock.advance(-10 * HOUR);
    }
  });

  it('names what the report ran, as long as its manifest is kept', async () => {
    const name = `named-${next}`;
    await release(name);
    await assign(hawser, node, name);
    const configurationChecksum = await offeredTo(node);
    expect(await report(testOutput([]), { configurationChecksum })).to.include({
      ...{ configurationName: name, version: '1.0.0' },
    });
    const unknown = await report(testOutput([]), { configurationChecksum: 'ab'.repeat(32) });
    expect(unknown).to.include({ configurationName: null, version: null });
  });

  it('shows the last report to those alone who may read reports', async () => {
    await report(testOutput([], true));
    const reader = await makeUser(hawser, { username: `reader-${next}`, permissions: ['nodes.read'] });
    const shown = await details(reader);
    expect(shown).to.include({ lastReport: null });
    expect(shown.statusCause).to.include({ message: 'Access is denied.' });
  });
});
