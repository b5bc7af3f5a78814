// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { DAY, HOUR, MINUTE } from '../../src/lib/clock.ts';
import type { Client } from '../support/client.ts';
import { publishWithChildren } from '../support/composites.ts';
import { MAIN } from '../support/configurations.ts';
import { cellsOf, parseCsv } from '../support/csv.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign } from '../support/parameter-files.ts';
import { type Grant, makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { cleanUp } from '../support/retention.ts';
import { declare, download, offeredTo } from '../support/running.ts';
import { started } from '../support/started.ts';

const FLEET = '/api/v1/fleet/running';
const files = (text: string) => ({ [MAIN]: `# ${text}\n$schema: x\nresources: []\n` });

describe('what nodes ran', () => {
  const hawser = started(startHawser);
  let direct: NodeUnderTest;
  let child: NodeUnderTest;
  /** Before anything ran, when 1.0.0 was declared, and when 1.1.0 was told. */
  let times: { nothing: string; first: string; second: string };
  let checksums: { first: string; second: string; site: string };

  const reader = (username: string, permissions: 'nodes.read'[], ...grants: [Grant['on'], string][]) =>
    makeUser(hawser, {
      ...{ username, permissions },
      grants: grants.map(([on, name]) => ({ on, name, level: 'Read' })),
    });

  function moment(): string {
    hawser.clock.advance(MINUTE);
    const at = new Date(hawser.clock.now()).toISOString();
    hawser.clock.advance(MINUTE);
    return at;
  }
  const at = (time: string) => `at=${encodeURIComponent(time)}`;
  const pathOf = ({ nodeId }: NodeUnderTest, tail: string) => `/api/v1/nodes/${nodeId}/${tail}`;
  const nodesOf = (version: string, when: string) =>
    `/api/v1/configurations/web/versions/${version}/nodes?${at(when)}`;
  const list = (path: string, client: Client = hawser.admin) => ok(200, client.get(path));

  async function expectSheet(path: string): Promise<void> {
    const rows = await list(path);
    const { text, headers } = await hawser.admin.with({ Accept: 'text/csv' }).get(path);
    const [head, ...lines] = parseCsv(text);
    expect(headers['content-type']).to.match(/^text\/csv/);
    expect(head).to.deep.equal(Object.keys(rows[0]));
    expect(lines).to.deep.equal(rows.map(cellsOf));
  }

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': files('one') });
    await publishWithChildren(hawser.admin, 'site', '1.0.0', [{ name: 'web', order: 1 }]);
    direct = await hawser.registerNode('a-direct.example.org');
    child = await hawser.registerNode('b-child.example.org');
    await assign(hawser, direct, 'web');
    await assign(hawser, child, 'site', { isComposite: true });
    const nothing = moment();
    const first = await offeredTo(direct);
    await download(direct);
    await declare(direct, first);
    const site = await offeredTo(child);
    const wasFirst = moment();
    const version = { fields: { version: '1.1.0' }, files: files('two') };
    await ok(201, hawser.admin.upload('/api/v1/configurations/web/versions', version));
    await ok(200, hawser.admin.put('/api/v1/configurations/web/versions/1.1.0/publish'));
    const second = await offeredTo(direct);
    checksums = { first, second, site };
    times = { nothing, first: wasFirst, second: moment() };
  });

  it('is listed for a node, newest first, with the times of its evidence', async () => {
    const rows = await list(pathOf(direct, 'history'));
    expect(rows.map(({ checksum }: { checksum: string }) => checksum)).to.deep.equal([
      checksums.second,
      checksums.first,
    ]);
    const [now, before] = rows;
    const named = { configurationName: 'web', isComposite: false };
    expect(now).to.include({ ...named, version: '1.1.0', to: null, evidence: 'Told', toldAt: now.from });
    expect(before).to.include({ ...named, version: '1.0.0', to: now.from, evidence: 'Declared' });
    expect([now.servedAt, now.declaredAt]).to.deep.equal([null, null]);
    expect(before.toldAt <= before.servedAt && before.servedAt <= before.declaredAt).to.equal(true);
    const page = await hawser.admin.get(`${pathOf(direct, 'history')}?take=1&skip=1`);
    expect([page.json, page.headers['x-total-count']]).to.deep.equal([[before], '2']);
    await expectSheet(pathOf(direct, 'history'));
    expect(await list(`/api/v1/nodes/${direct.fqdn}/history`)).to.deep.equal(rows);
  });

  it('is told by the manifest of a time, and of now without one', async () => {
    const path = pathOf(direct, 'manifest');
    const first = await list(`${path}?${at(times.first)}`);
    expect(first).to.include({ checksum: checksums.first, version: '1.0.0', evidence: 'Declared' });
    expect(first.parts).to.have.length(1);
    const now = await list(path);
    expect(now).to.include({ checksum: checksums.second, version: '1.1.0', evidence: 'Told' });
    expect(await list(`${path}?${at(times.second)}`)).to.deep.equal(now);
    const inBerlin = new Date(Date.parse(times.first) + HOUR).toISOString().replace('Z', '+01:00');
    expect(await list(`${path}?${at(inBerlin)}`)).to.deep.equal(first);
    await expectProblem(hawser.admin.get(`${path}?${at(times.nothing)}`), 404, 'nothing_ran');
    const { checksum, version } = await list(`/api/v1/manifests/${checksums.first}`);
    expect(first).to.include({ checksum, version });
  });

  it('is told of the whole fleet, filtered, by name, as CSV too', async () => {
    const rows = await list(`${FLEET}?${at(times.first)}`);
    expect(rows.map(({ fqdn }: NodeUnderTest) => fqdn)).to.deep.equal([direct.fqdn, child.fqdn]);
    expect(rows[0]).to.include({ nodeId: direct.nodeId, deletedAt: null, checksum: checksums.first });
    expect(rows[0]).to.include({ configurationName: 'web', isComposite: false, version: '1.0.0' });
    expect(rows[1]).to.include({ configurationName: 'site', isComposite: true, evidence: 'Told' });
    const names = async (query: string) =>
      (await list(`${FLEET}?${query}`)).map(({ fqdn }: NodeUnderTest) => fqdn.split('.')[0]);
    expect(await names(at(times.nothing))).to.deep.equal([]);
    expect(await names(`${at(times.first)}&evidence=Declared`)).to.deep.equal(['a-direct']);
    expect(await names(`${at(times.first)}&isComposite=true`)).to.deep.equal(['b-child']);
    expect(await names(`${at(times.second)}&configurationName=web&version=1.0.0`)).to.deep.equal([]);
    expect(await names('configurationName=web&version=1.1.0')).to.deep.equal(['a-direct']);
    expect(await names(`${at(times.first)}&fqdn=B-CHI`)).to.deep.equal(['b-child']);
    expect(await names(`${at(times.first)}&fqdn=_`)).to.deep.equal([]);
    const page = await hawser.admin.get(`${FLEET}?take=1&skip=1`);
    expect([page.json.length, page.headers['x-total-count']]).to.deep.equal([1, '2']);
    await expectSheet(`${FLEET}?${at(times.first)}`);
    await expectInvalid(hawser.admin.get(`${FLEET}?colour=red`));
  });

  it('is told of a version, by whatever way the nodes got it', async () => {
    const ways = async (version: string, when: string) =>
      (await list(nodesOf(version, when))).map(({ fqdn, via }: Record<string, string>) => [fqdn, via]);
    expect(await ways('1.0.0', times.first)).to.deep.equal([
      [direct.fqdn, 'Direct'],
      [child.fqdn, 'site'],
    ]);
    expect(await ways('1.0.0', times.second)).to.deep.equal([[child.fqdn, 'site']]);
    expect(await ways('1.1.0', times.first)).to.deep.equal([]);
    const ofSite = '/api/v1/composite-configurations/site/versions/1.0.0/nodes';
    const [only] = await list(ofSite);
    expect(only).to.include({ nodeId: child.nodeId, checksum: checksums.site, via: 'Direct' });
    await expectSheet(nodesOf('1.0.0', times.first));
    await expectSheet(ofSite);
    await expectProblem(hawser.admin.get(nodesOf('9.0.0', times.first)), 404, 'not_found');
    const some = await reader('some', ['nodes.read'], ['configuration', 'web']);
    const seen = await list(nodesOf('1.0.0', times.first), some);
    expect(seen.map(({ via }: { via: string }) => via)).to.deep.equal(['Direct', null]);
  });

  it('is asked for with a time that has a zone and has come, and that is not before the past', async () => {
    const { historyFrom } = await list('/api/v1/settings/retention');
    const early = new Date(Date.parse(historyFrom) - 1).toISOString();
    const late = new Date(hawser.clock.now() + HOUR).toISOString();
    const paths = [FLEET, pathOf(direct, 'manifest'), '/api/v1/configurations/web/versions/1.0.0/nodes'];
    for (const path of paths) {
      for (const bad of ['2026-11-20', 'yesterday', '', '2026-11-20T09:08:00', '1764000000', late])
        await expectInvalid(hawser.admin.get(`${path}?${at(bad)}`));
      await expectProblem(hawser.admin.get(`${path}?${at(early)}`), 410, 'past_gone');
    }
  });

  it('is told to those alone who may read it', async () => {
    const nobody = await reader('nobody', []);
    const all = await reader('all', ['nodes.read']);
    for (const path of [FLEET, pathOf(direct, 'history'), nodesOf('1.0.0', times.first)])
      expect((await nobody.get(path)).status, path).to.equal(403);
    await expectProblem(all.get(nodesOf('1.0.0', times.first)), 404, 'not_found');
    for (const client of [nobody, all])
      await expectProblem(client.get(pathOf(direct, 'manifest')), 404, 'not_found');
    await expectProblem(nobody.get(`${pathOf(direct, 'manifest')}?${at(times.nothing)}`), 404, 'not_found');
    const granted = await reader('granted', [], ['configuration', 'web'], ['parameters', 'web']);
    expect(await list(pathOf(direct, 'manifest'), granted)).to.include({ checksum: checksums.second });
  });

  it('stays when the node is deleted, until it is cleaned', async () => {
    const gone = await hawser.registerNode('c-gone.example.org');
    await assign(hawser, gone, 'web');
    const checksum = await offeredTo(gone);
    const before = moment();
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${gone.nodeId}`));
    const after = moment();
    const [row] = await list(pathOf(gone, 'history'));
    expect(row.to).to.be.a('string');
    expect(await list(`${pathOf(gone, 'manifest')}?${at(before)}`)).to.include({ checksum });
    await expectProblem(hawser.admin.get(pathOf(gone, 'manifest')), 404, 'nothing_ran');
    const [then] = await list(`${FLEET}?${at(before)}&fqdn=c-gone`);
    expect(then).to.include({ nodeId: gone.nodeId, checksum });
    expect(Date.parse(then.deletedAt)).to.be.within(Date.parse(before), Date.parse(after));
    expect(await list(`${FLEET}?${at(after)}&fqdn=c-gone`)).to.deep.equal([]);
    await ok(200, hawser.admin.put('/api/v1/settings/retention', { historyKeepDays: 1 }));
    hawser.clock.advance(2 * DAY);
    const { deletedCount } = await cleanUp(hawser.admin, 'status-events', { dryRun: true });
    expect(await cleanUp(hawser.admin, 'status-events')).to.include({ deletedCount });
    await expectProblem(hawser.admin.get(pathOf(gone, 'history')), 404, 'not_found');
    await expectProblem(hawser.admin.get(`${FLEET}?${at(before)}`), 410, 'past_gone');
    // What held at the bound, and holds still, stays.
    expect(await list(pathOf(direct, 'history'))).to.have.length(1);
  });
});
