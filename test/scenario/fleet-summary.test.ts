// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { DAY, MINUTE } from '../../src/lib/clock.ts';
import { publishWithChildren } from '../support/composites.ts';
import { testedService, testOutput } from '../support/dsc-results.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { ok } from '../support/replies.ts';

const SUMMARY = '/api/v1/fleet/summary';
const NODES = '/api/v1/nodes';

describe('the fleet at a glance', () => {
  let hawser: Hawser;
  beforeEach(async () => {
    hawser = await startHawser();
  });
  afterEach(() => hawser.close());

  const summary = () => ok(200, hawser.admin.get(SUMMARY));
  const names = async (query: string): Promise<string[]> => {
    const nodes = await ok(200, hawser.admin.get(`${NODES}?${query}`));
    return nodes.map(({ fqdn }: { fqdn: string }) => fqdn.split('.')[0]);
  };
  const assign = (node: NodeUnderTest, configurationName: string, more = {}) =>
    ok(204, hawser.admin.put(`${NODES}/${node.nodeId}/configuration`, { configurationName, ...more }));
  const report = (node: NodeUnderTest, isGood: boolean) =>
    ok(
      201,
      node.client.post(`${NODES}/${node.nodeId}/reports/`, {
        operation: 'Test',
        result: testOutput([testedService(isGood)]),
      }),
    );

  it('is empty without nodes, and names every status', async () => {
    expect(await summary()).to.deep.equal({
      nodes: 0,
      byStatus: { Unknown: 0, Compliant: 0, NonCompliant: 0, Error: 0 },
      byLcmStatus: { Unknown: 0, Idle: 0, Downloading: 0, Testing: 0, Remediating: 0, Error: 0 },
      stale: 0,
      unassigned: 0,
      neverCheckedIn: 0,
      certificatesExpiring: 0,
      configurations: [],
    });
  });

  it('counts nodes by what they are, and configurations by their nodes', async () => {
    for (const name of ['base', 'web'])
      await publishConfiguration(hawser.admin, name, { '1.0.0': { 'main.dsc.yaml': 'x' } });
    await publishWithChildren(hawser.admin, 'web', '1.0.0', ['base']);
    const nodes: NodeUnderTest[] = [];
    for (const name of ['a', 'b', 'c', 'd']) nodes.push(await hawser.registerNode(`${name}.example.org`));
    const [a, b, c, d] = nodes as [NodeUnderTest, NodeUnderTest, NodeUnderTest, NodeUnderTest];
    await assign(a, 'base');
    await assign(b, 'web');
    await assign(c, 'web', { isComposite: true });
    await assign(d, 'web', { isComposite: true });
    await ok(204, a.client.put(`${NODES}/${a.nodeId}/lcm-status`, { lcmStatus: 'Idle' }));
    await report(d, false);
    const found = await summary();
    expect(found).to.include({ nodes: 4, unassigned: 0, stale: 0, certificatesExpiring: 0 });
    expect(found.byLcmStatus).to.include({ Idle: 1, Unknown: 3 });
    const listed = found.configurations.map((each: Record<string, unknown>) => [
      each['name'],
      each['isComposite'],
      each['nodes'],
    ]);
    expect(listed).to.deep.equal([
      ['web', true, 2],
      ['base', false, 1],
      ['web', false, 1],
    ]);
    expect(found.byStatus).to.deep.equal({ Unknown: 3, Compliant: 0, NonCompliant: 1, Error: 0 });
    const byStatus = { Unknown: 1, Compliant: 0, NonCompliant: 1, Error: 0 };
    expect(found.configurations[0].byStatus).to.deep.equal(byStatus);
    await ok(204, hawser.admin.delete(`${NODES}/${c.nodeId}/configuration`));
    await ok(204, hawser.admin.delete(`${NODES}/${d.nodeId}`));
    const later = await summary();
    expect(later).to.include({ nodes: 3, unassigned: 1 });
    expect(later.configurations.map((each: { name: string }) => each.name)).to.deep.equal(['base', 'web']);
  });

  it('counts who is late, who never called, and whose certificate ends, as the list finds them', async () => {
    const calls = await hawser.registerNode('calls.example.org');
    await hawser.registerNode('silent.example.org');
    const reported = { configurationModeInterval: '00:15:00' };
    await ok(204, calls.client.put(`${NODES}/${calls.nodeId}/reported-config`, reported));
    await calls.client.get(`${NODES}/${calls.nodeId}/configuration/checksum`);
    // Written at the close.
    await hawser.restart();
    expect(await summary()).to.include({ nodes: 2, stale: 0, neverCheckedIn: 1, certificatesExpiring: 0 });
    expect(await names('sort=lastCheckIn')).to.deep.equal(['silent', 'calls']);
    expect(await names('sort=-lastCheckIn')).to.deep.equal(['calls', 'silent']);
    hawser.clock.advance(31 * MINUTE);
    expect(await summary()).to.include({ stale: 1, neverCheckedIn: 1 });
    expect(await names('stale=true')).to.deep.equal(['calls']);
    const { certificate } = await ok(200, hawser.admin.get(`${NODES}/${calls.nodeId}`));
    const left = Date.parse(certificate.notAfter) - hawser.clock.now();
    expect(await names('certificateExpiring=true')).to.deep.equal([]);
    hawser.clock.advance(left - 30 * DAY + MINUTE);
    expect((await summary()).certificatesExpiring).to.be.at.least(1);
    expect(await names('certificateExpiring=true')).to.include('calls');
    expect(await names('certificateExpiring=false')).to.not.include('calls');
  });

  it('shows what nodes are offered, which follows what is published', async () => {
    await publishConfiguration(hawser.admin, 'base', { '1.0.0': { 'main.dsc.yaml': 'x' } });
    const follows = await hawser.registerNode('follows.example.org');
    const stays = await hawser.registerNode('stays.example.org');
    await hawser.registerNode('none.example.org');
    await assign(follows, 'base');
    await assign(stays, 'base', { version: '1.0.0' });
    const offered = async () =>
      (await ok(200, hawser.admin.get(NODES))).map(
        (node: { offeredVersion: string | null }) => node.offeredVersion,
      );
    expect(await offered()).to.deep.equal(['1.0.0', null, '1.0.0']);
    expect(await names('version=1.0.0')).to.deep.equal(['follows', 'stays']);
    await ok(
      201,
      hawser.admin.post('/api/v1/configurations/base/versions', { version: '1.1.0', from: '1.0.0' }),
    );
    await ok(200, hawser.admin.put('/api/v1/configurations/base/versions/1.1.0/publish'));
    expect(await offered()).to.deep.equal(['1.1.0', null, '1.0.0']);
    expect(await names('version=1.0.0')).to.deep.equal(['stays']);
    expect(await names('version=1.1.0&configurationName=base')).to.deep.equal(['follows']);
    const detail = await ok(200, hawser.admin.get(`${NODES}/${follows.nodeId}`));
    expect([detail.offeredVersion, detail.assignment.resolvedVersion]).to.deep.equal(['1.1.0', '1.1.0']);
  });

  it('shows what nodes run and how that is known, and finds them by it', async () => {
    await publishConfiguration(hawser.admin, 'base', { '1.0.0': { 'main.dsc.yaml': 'x' } });
    const told = await hawser.registerNode('told.example.org');
    await hawser.registerNode('silent.example.org');
    await assign(told, 'base');
    await ok(200, told.client.get(`${NODES}/${told.nodeId}/configuration/checksum`));
    // Written at the close.
    await hawser.restart();
    const nodes = await ok(200, hawser.admin.get(NODES));
    const running = nodes.map((node: { running: object | null }) => node.running);
    const shown = { version: '1.0.0', evidence: 'Told', configurationName: 'base', isComposite: false };
    expect(running).to.deep.equal([null, shown]);
    expect(await names('evidence=Told')).to.deep.equal(['told']);
    expect(await names('evidence=told&configurationName=base&version=1.0.0')).to.deep.equal(['told']);
    expect(await names('evidence=Declared')).to.deep.equal([]);
  });
});
