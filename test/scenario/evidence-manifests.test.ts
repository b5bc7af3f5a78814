// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { DAY } from '../../src/lib/clock.ts';
import { publishWithChildren } from '../support/composites.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, poll, saveParameters } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import { cleanUp, NOTHING_KEPT, RETENTION } from '../support/retention.ts';
import { declare, download, expectRunning, manifestOf, offeredTo, sendReport } from '../support/running.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

describe('the manifest of a checksum', () => {
  const hawser = started(startHawser);
  let next = 0;

  before(async () => {
    const main = {
      'main.dsc.yaml': '$schema: x\nparameters: {port: {type: int, defaultValue: 1}}\nresources: []\n',
    };
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': main, '2.0.0': main });
    await publishConfiguration(hawser.admin, 'plain', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
    });
    await createScopeType(hawser, 'Zone')
      .then((id) => createScopeValue(hawser, id, 'north'))
      .then((id) => {
        north = id;
      });
    await saveParameters(hawser, { configuration: 'web', content: 'parameters: {port: 80}' });
    const zone = { configuration: 'web', scopeType: 'Zone', value: 'north' };
    await saveParameters(hawser, { ...zone, content: 'parameters: {port: 81}' });
  });
  let north = '';

  async function addNode(configuration: string, more = {}): Promise<NodeUnderTest> {
    next += 1;
    const node = await hawser.registerNode(`node-${next}.example.org`);
    await assign(hawser, node, configuration, more);
    return node;
  }
  const deleteNode = (node: NodeUnderTest) => ok(204, hawser.admin.delete(`/api/v1/nodes/${node.nodeId}`));
  /** What a node ran names it a while longer. */
  async function expectGoneWithThePast(checksum: string): Promise<void> {
    expect(await manifestOf(hawser, checksum)).to.include({ checksum });
    await ok(200, hawser.admin.put('/api/v1/settings/retention', { historyKeepDays: 1 }));
    hawser.clock.advance(2 * DAY);
    await cleanUp(hawser.admin, 'status-events', {});
    expect(await manifestOf(hawser, checksum)).to.equal(undefined);
  }
  const gitTag = (repository: string, tag: string) => {
    const [objectId, commit, tagger] = hawser
      .git(
        repository,
        'for-each-ref',
        `refs/tags/${tag}`,
        '--format=%(objectname)%09%(*objectname)%09%(taggername)',
      )
      .trim()
      .split('\t');
    return { objectId, commit, tagger };
  };

  it('holds the tag, and the parameter files in the order of merging, without those that skip their scope', async () => {
    const node = await addNode('web', { majorVersion: 1 });
    await tagNode(hawser, node.nodeId, north);
    const own = { configuration: 'web', scopeType: 'Node', value: node.fqdn };
    await saveParameters(hawser, { ...own, content: null });
    const checksum = await offeredTo(node);
    await expectRunning(hawser, node, checksum, 'Told');
    const manifest = await manifestOf(hawser, checksum);
    expect(manifest).to.include({
      ...{ checksum, configurationName: 'web', isComposite: false, version: '1.0.0' },
      ...{ bundleDigest: null, firstServedAt: null },
    });
    const { tag, entryPoint, parts } = manifest?.content ?? expect.fail();
    expect(tag).to.include(gitTag('configurations/web.git', 'v1.0.0'));
    expect(Date.parse(tag.taggedAt)).to.be.closeTo(hawser.clock.now(), 60_000);
    expect(entryPoint).to.equal('main.dsc.yaml');
    expect(parts).to.have.length(1);
    expect(parts[0]).to.deep.include({ configurationName: 'web', version: '1.0.0', tag });
    const files = parts[0]?.parameters ?? [];
    expect(
      files.map(({ scopeTypeName, scopeValue, version }) => [scopeTypeName, scopeValue, version]),
    ).to.deep.equal([
      ['Default', null, '1.0.0'],
      ['Zone', 'north', '1.0.0'],
    ]);
    const id = (await ok(200, hawser.admin.get('/api/v1/configurations/web'))).id;
    const shown = await ok(200, hawser.admin.get('/api/v1/configurations/web/parameter-files'));
    for (const file of files) {
      const { checksum: sha256 } = shown.find(
        (each: { scopeTypeName: string; configurationId: string }) =>
          each.scopeTypeName === file.scopeTypeName && each.configurationId === id,
      );
      expect(file.checksum).to.equal(sha256);
      expect(file.tagObjectId).to.match(/^[0-9a-f]{40}$/);
      expect(hawser.git('parameters/web.git', 'cat-file', '-t', file.tagObjectId).trim()).to.equal('tag');
    }
    await deleteNode(node);
  });

  it('of a composite holds its own tag, and its children in its order', async () => {
    await publishWithChildren(hawser.admin, 'stack', '1.0.0', [
      { name: 'web', order: 2 },
      { name: 'plain', order: 1 },
    ]);
    const node = await addNode('stack', { isComposite: true });
    const checksum = await offeredTo(node);
    await expectRunning(hawser, node, checksum, 'Told');
    const manifest = await manifestOf(hawser, checksum);
    expect(manifest).to.include({ configurationName: 'stack', isComposite: true, version: '1.0.0' });
    const { tag, parts } = manifest?.content ?? expect.fail();
    expect(tag).to.include(gitTag('composites/stack.git', 'v1.0.0'));
    expect(parts.map(({ configurationName, version }) => [configurationName, version])).to.deep.equal([
      ['plain', '1.0.0'],
      ['web', '2.0.0'],
    ]);
    expect(parts[0]?.tag).to.include(gitTag('configurations/plain.git', 'v1.0.0'));
    expect(parts.map(({ parameters }) => parameters.length)).to.deep.equal([0, 1]);
    await deleteNode(node);
    await expectGoneWithThePast(checksum);
  });

  it('is that of the first files where others give the same checksum', async () => {
    const node = await addNode('web');
    const checksum = await offeredTo(node);
    await declare(node, checksum);
    await expectRunning(hawser, node, checksum, 'Declared');
    const before = await manifestOf(hawser, checksum);
    await saveParameters(hawser, {
      configuration: 'web',
      version: '1.1.0',
      content: 'parameters: {port: 80}',
    });
    expect(await offeredTo(node)).to.equal(checksum);
    await download(node);
    await eventually(async () => {
      const { bundleDigest, firstServedAt, ...manifest } =
        (await manifestOf(hawser, checksum)) ?? expect.fail();
      expect(bundleDigest).to.match(/^[A-Za-z0-9+/]{43}=$/);
      expect(firstServedAt).to.be.closeTo(hawser.clock.now(), 10_000);
      expect(before).to.deep.include(manifest);
    });
    await deleteNode(node);
  });

  it('goes with the last node that runs it, and the past', async () => {
    const [one, other] = [await addNode('plain'), await addNode('plain')];
    const checksum = await offeredTo(one);
    await offeredTo(other);
    await expectRunning(hawser, one, checksum, 'Told');
    await expectRunning(hawser, other, checksum, 'Told');
    await assign(hawser, one, 'web');
    await expectRunning(hawser, one, await offeredTo(one), 'Told');
    expect(await manifestOf(hawser, checksum)).to.include({ configurationName: 'plain' });
    await deleteNode(other);
    await expectGoneWithThePast(checksum);
    await assign(hawser, one, 'plain');
    await ok(304, poll(one, checksum));
    expect(await expectRunning(hawser, one, checksum, 'Declared')).to.include({ version: '1.0.0' });
    await deleteNode(one);
    await expectGoneWithThePast(checksum);
  });

  it('goes with the last report that names it, and the past', async () => {
    const node = await addNode('plain');
    const checksum = await offeredTo(node);
    await expectRunning(hawser, node, checksum, 'Told');
    for (let count = 0; count < 3; count += 1)
      await ok(201, sendReport(node, { configurationChecksum: checksum }));
    const second = await addNode('plain');
    await download(second);
    await ok(201, sendReport(second));
    for (const each of [node, second]) {
      await assign(hawser, each, 'web');
      await expectRunning(hawser, each, await offeredTo(each), 'Told');
    }
    await deleteNode(node);
    // It has the old bundle as long as it has not fetched another one.
    expect(await manifestOf(hawser, checksum)).to.include({ version: '1.0.0' });
    await download(second);
    await expectRunning(hawser, second, await offeredTo(second), 'Served');
    expect(await manifestOf(hawser, checksum)).to.include({ version: '1.0.0' });
    hawser.clock.advance(1_000);
    const nothing = { keepCount: 0, keepDays: NOTHING_KEPT.keepDays };
    await ok(200, hawser.admin.post(`${RETENTION}/reports/cleanup`, nothing));
    await expectGoneWithThePast(checksum);
  });
});
