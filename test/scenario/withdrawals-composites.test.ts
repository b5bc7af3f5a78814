// full: SQLite
import { expect } from 'chai';
import { onlyEntry, shortly } from '../support/audit-table.ts';
import {
  addChild,
  addCompositeDraft,
  childrenOf,
  compositeOf,
  compositeVersionOf,
  publishComposite,
  publishWithChildren,
} from '../support/composites.ts';
import { addVersion, MAIN } from '../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { validated } from '../support/parameter-schemas.ts';
import { makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { cleanUp, deletedBy, NOTHING_KEPT, publishVersions, versionsLeft } from '../support/retention.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { startedForEach } from '../support/started.ts';
import { unzipTexts } from '../support/unzip.ts';
import {
  offerAgain,
  offerCompositeAgain,
  versionOf,
  withdraw,
  withdrawComposite,
} from '../support/withdrawals.ts';

const NOBODY_PINNED = { pinned: 0, pinnedNodes: [] };

describe('withdrawing versions of and in composites', () => {
  const hawser = startedForEach(startHawser);

  const pathOf = (node: NodeUnderTest, what = '') => `/api/v1/nodes/${node.nodeId}/configuration${what}`;

  async function assign(configurationName: string, wish: object = {}): Promise<NodeUnderTest> {
    const node = await hawser.registerNode(`n-${Math.random()}.example.org`);
    await ok(204, hawser.admin.put(pathOf(node), { configurationName, ...wish }));
    return node;
  }
  const assignComposite = (name: string, wish: object = {}) => assign(name, { isComposite: true, ...wish });

  const gets = async (node: NodeUnderTest): Promise<string> => {
    const reply = await node.client.get(pathOf(node, '/checksum'));
    return reply.json.version ?? reply.json.code;
  };
  const fileOf = async (node: NodeUnderTest, path: string): Promise<string | undefined> =>
    (await unzipTexts((await node.client.get(pathOf(node, '/bundle'))).bytes))[path];
  const itemsOf = async (name: string, version: string) =>
    (await ok(200, hawser.admin.get(compositeVersionOf(name, version)))).items;
  const dryRun = async (path: string, client = hawser.admin) =>
    ok(200, client.put(`${path}/withdraw?dryRun=true`));

  it('takes a following child to its next version, and leaves a pinned one where it is', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0');
    await publishWithChildren(hawser.admin, 'follows', '1.0.0', ['web']);
    await publishWithChildren(hawser.admin, 'pinned', '1.0.0', [{ name: 'web', activeVersion: '1.1.0' }]);
    const [follower, fixed] = [await assignComposite('follows'), await assignComposite('pinned')];
    await ok(200, withdraw(hawser.admin, 'web', '1.1.0'));
    expect(await fileOf(follower, 'web/own.txt')).to.equal('web 1.0.0\n');
    expect(await fileOf(fixed, 'web/own.txt')).to.equal('web 1.1.0\n');
    expect((await itemsOf('pinned', '1.0.0'))[0]).to.include({
      activeVersion: '1.1.0',
      pinnedToWithdrawn: true,
    });
    expect((await itemsOf('follows', '1.0.0'))[0]).to.include({
      activeVersion: null,
      pinnedToWithdrawn: false,
    });
    await ok(204, offerAgain(hawser.admin, 'web', '1.1.0'));
    expect(await fileOf(follower, 'web/own.txt')).to.equal('web 1.1.0\n');
    expect((await itemsOf('pinned', '1.0.0'))[0]).to.include({ pinnedToWithdrawn: false });
  });

  it('refuses a new pin to it; a pin that is there may be moved and published', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0');
    await publishVersions(hawser.admin, 'base', '1.0.0');
    await publishWithChildren(hawser.admin, 'site', '1.0.0', ['base']);
    await ok(201, addCompositeDraft(hawser.admin, 'site', '2.0.0'));
    const item = await ok(201, addChild(hawser.admin, 'site', '2.0.0', 'web', { activeVersion: '1.1.0' }));
    expect(item).to.include({ pinnedToWithdrawn: false });
    await ok(200, withdraw(hawser.admin, 'web', '1.1.0'));
    await ok(201, addCompositeDraft(hawser.admin, 'site', '3.0.0'));
    const before = await ok(200, hawser.admin.get(compositeOf('site')));
    await expectProblem(
      addChild(hawser.admin, 'site', '3.0.0', 'web', { activeVersion: '1.1.0' }),
      409,
      'no_eligible_version',
    );
    expect(await ok(200, hawser.admin.get(compositeOf('site')))).to.deep.equal(before);
    const child = `${childrenOf('site', '2.0.0')}/${item.id}`;
    expect(await ok(200, hawser.admin.put(child, { order: 9 }))).to.include({
      order: 9,
      pinnedToWithdrawn: true,
    });
    expect(await ok(200, hawser.admin.put(child, { activeVersion: '1.1.0', order: 8 }))).to.include({
      order: 8,
    });
    await ok(200, hawser.admin.put(child, { activeVersion: '1.0.0' }));
    await expectProblem(hawser.admin.put(child, { activeVersion: '1.1.0' }), 409, 'no_eligible_version');
    await ok(204, offerAgain(hawser.admin, 'web', '1.1.0'));
    await ok(200, hawser.admin.put(child, { activeVersion: '1.1.0' }));
    await ok(200, withdraw(hawser.admin, 'web', '1.1.0'));
    const published = await ok(200, publishComposite(hawser.admin, 'site', '2.0.0'));
    expect(published.items[0]).to.include({ activeVersion: '1.1.0', pinnedToWithdrawn: true });
    // A child that follows has nothing to follow once all its versions are withdrawn.
    await ok(201, addChild(hawser.admin, 'site', '3.0.0', 'web'));
    await ok(200, withdraw(hawser.admin, 'web', '1.0.0'));
    await expectProblem(publishComposite(hawser.admin, 'site', '3.0.0'), 409, 'unpublished_child');
  });

  it('takes a composite back in the same way', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0');
    await publishWithChildren(hawser.admin, 'site', '1.0.0', ['web']);
    await publishWithChildren(hawser.admin, 'site', '1.1.0', [{ name: 'web', order: 3 }]);
    const node = await assignComposite('site');
    const { id } = await ok(200, hawser.admin.get(compositeOf('site')));
    const before = await ok(200, hawser.admin.get(compositeVersionOf('site', '1.1.0')));
    const session = hawser.client().with({ Cookie: hawser.session });
    const entry = await onlyEntry(hawser, session, (client) =>
      withdrawComposite(client, 'site', '1.1.0', 'why'),
    );
    const details = { name: 'site', version: '1.1.0', commit: before.commit };
    expect(shortly(entry)).to.deep.equal({
      action: 'composite.version_withdrawn',
      resource_type: 'CompositeConfiguration',
      resource_id: id,
      details: { ...details, reason: 'why' },
    });
    const after = await ok(200, hawser.admin.get(compositeVersionOf('site', '1.1.0')));
    expect(after).to.deep.equal({ ...before, withdrawn: { ...after.withdrawn, by: 'admin', reason: 'why' } });
    expect(await ok(200, withdrawComposite(hawser.admin, 'site', '1.1.0', 'again'))).to.deep.equal(after);
    expect(await gets(node)).to.equal('1.0.0');
    expect(await ok(200, hawser.admin.get(compositeOf('site')))).to.include({
      versionCount: 2,
      latestPublishedVersion: '1.0.0',
    });
    const refs = hawser.git('composites/site.git', 'for-each-ref', '--format=%(refname) %(*objectname)');
    expect(refs).to.contain('refs/tags/withdrawn/v1.1.0');
    hawser.git('composites/site.git', 'fsck', '--strict');
    await ok(201, addCompositeDraft(hawser.admin, 'site', '2.0.0'));
    await expectProblem(withdrawComposite(hawser.admin, 'site', '2.0.0'), 409, 'not_published');
    await expectProblem(withdrawComposite(hawser.admin, 'site', '3.0.0'), 404, 'not_found');
    await expectInvalid(withdrawComposite(hawser.admin, 'site', '1.0.0', ''));
    const back = await onlyEntry(hawser, session, (client) => offerCompositeAgain(client, 'site', '1.1.0'));
    expect(shortly(back)).to.deep.include({ action: 'composite.version_offered_again', details });
    await expectProblem(offerCompositeAgain(hawser.admin, 'site', '1.1.0'), 404, 'not_found');
    expect(await gets(node)).to.equal('1.1.0');
    await ok(200, withdrawComposite(hawser.admin, 'site', '1.1.0'));
    const cleaned = await cleanUp(hawser.admin, 'composite-configurations', NOTHING_KEPT);
    expect(deletedBy(cleaned)).to.deep.equal(['site 1.1.0']);
    expect(await versionsLeft(hawser.admin, compositeOf('site'))).to.deep.equal(['2.0.0', '1.0.0']);
    expect(hawser.git('composites/site.git', 'tag').trim()).to.equal('v1.0.0');
  });

  it('keeps a withdrawn version that a composite is pinned to from a cleanup', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0', '1.2.0');
    await publishWithChildren(hawser.admin, 'site', '1.0.0', [{ name: 'web', activeVersion: '1.1.0' }]);
    await ok(200, withdraw(hawser.admin, 'web', '1.1.0'));
    const cleaned = await cleanUp(hawser.admin, 'configurations', NOTHING_KEPT);
    expect(deletedBy(cleaned)).to.deep.equal(['web 1.0.0']);
    expect(hawser.git('configurations/web.git', 'tag').trim().split('\n')).to.deep.equal([
      'v1.1.0',
      'v1.2.0',
      'withdrawn/v1.1.0',
    ]);
    const node = await assignComposite('site');
    expect(await fileOf(node, 'web/own.txt')).to.equal('web 1.1.0\n');
  });

  it('says in a dry run who would get what, and changes nothing', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0', '2.0.0', '2.1.0-rc.1');
    await publishVersions(hawser.admin, 'base', '1.0.0');
    await publishWithChildren(hawser.admin, 'follows', '1.0.0', ['web', 'base']);
    await publishWithChildren(hawser.admin, 'pinned', '1.0.0', [{ name: 'web', activeVersion: '2.0.0' }]);
    await ok(201, addCompositeDraft(hawser.admin, 'pinned', '1.1.0'));
    await ok(201, addChild(hawser.admin, 'pinned', '1.1.0', 'web', { activeVersion: '2.0.0' }));
    await publishWithChildren(hawser.admin, 'another', '1.0.0', [
      { name: 'web', activeVersion: '1.0.0' },
      'base',
    ]);
    await assign('web');
    await assign('web', { majorVersion: 2 });
    await assign('web', { majorVersion: 1 });
    await assign('web', { prereleaseChannel: 'rc' });
    await assign('base');
    await assignComposite('follows');
    await assignComposite('follows');
    await assignComposite('follows', { prereleaseChannel: 'rc' });
    const fixed = await assignComposite('pinned');
    const refs = hawser.git('configurations/web.git', 'for-each-ref');
    const pins = [
      { compositeName: 'pinned', version: '1.1.0' },
      { compositeName: 'pinned', version: '1.0.0' },
    ];
    const kept = [{ nodeId: fixed.nodeId, fqdn: fixed.fqdn }];
    expect(await dryRun(versionOf('web', '2.0.0'))).to.deep.equal({
      ...{ nodes: 4, direct: 2, viaComposites: 2, pinned: 1, pinnedNodes: kept },
      wouldGet: [
        { version: '1.1.0', nodes: 3 },
        { version: null, nodes: 1 },
      ],
      pinnedBy: pins,
    });
    expect(await dryRun(versionOf('web', '2.1.0-rc.1'))).to.deep.equal({
      ...{ nodes: 2, direct: 1, viaComposites: 1, ...NOBODY_PINNED },
      wouldGet: [{ version: '2.0.0', nodes: 2 }],
      pinnedBy: [],
    });
    expect(await dryRun(versionOf('web', '1.0.0'))).to.deep.equal({
      ...{ nodes: 0, direct: 0, viaComposites: 0, ...NOBODY_PINNED },
      wouldGet: [],
      pinnedBy: [{ compositeName: 'another', version: '1.0.0' }],
    });
    expect(await dryRun(versionOf('base', '1.0.0'))).to.deep.equal({
      ...{ nodes: 4, direct: 1, viaComposites: 3, ...NOBODY_PINNED },
      wouldGet: [{ version: null, nodes: 4 }],
      pinnedBy: [],
    });
    const given = hawser.admin.put(`${versionOf('web', '2.0.0')}/withdraw?dryRun=TRUE`, { reason: 'why' });
    expect((await ok(200, given)).nodes).to.equal(4);
    expect(hawser.git('configurations/web.git', 'for-each-ref')).to.equal(refs);
    // What it said is what happens.
    await ok(200, withdraw(hawser.admin, 'web', '2.0.0'));
    expect(await gets(fixed)).to.equal('1.0.0');
    expect(await dryRun(versionOf('web', '1.1.0'))).to.deep.equal({
      ...{ nodes: 4, direct: 2, viaComposites: 2, ...NOBODY_PINNED },
      wouldGet: [{ version: '1.0.0', nodes: 4 }],
      pinnedBy: [],
    });
    expect(await dryRun(versionOf('web', '2.0.0'))).to.deep.equal({
      ...{ nodes: 0, direct: 0, viaComposites: 0, pinned: 1, pinnedNodes: kept },
      ...{ wouldGet: [], pinnedBy: pins },
    });
    await publishWithChildren(hawser.admin, 'follows', '1.1.0', ['web']);
    expect(await dryRun(compositeVersionOf('follows', '1.1.0'))).to.deep.equal({
      ...{ nodes: 3, direct: 3, viaComposites: 0, ...NOBODY_PINNED },
      wouldGet: [{ version: '1.0.0', nodes: 3 }],
      pinnedBy: [],
    });
    expect(await dryRun(compositeVersionOf('follows', '1.0.0'))).to.include({ nodes: 0 });
    expect(await dryRun(compositeVersionOf('pinned', '1.0.0'))).to.deep.equal({
      ...{ nodes: 1, direct: 1, viaComposites: 0, ...NOBODY_PINNED },
      wouldGet: [{ version: null, nodes: 1 }],
      pinnedBy: [],
    });
  });

  it('stays with a node that is pinned to it, which is not counted and cannot be pinned anew', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0');
    await publishWithChildren(hawser.admin, 'site', '1.0.0', ['web']);
    await publishWithChildren(hawser.admin, 'site', '1.1.0', ['web']);
    const fixed = await assign('web', { version: '1.1.0' });
    const site = await assignComposite('site', { version: '1.1.0' });
    await assign('web');
    expect(await dryRun(versionOf('web', '1.1.0'))).to.deep.equal({
      ...{ nodes: 2, direct: 1, viaComposites: 1, wouldGet: [{ version: '1.0.0', nodes: 2 }] },
      ...{ pinned: 1, pinnedNodes: [{ nodeId: fixed.nodeId, fqdn: fixed.fqdn }], pinnedBy: [] },
    });
    expect(await dryRun(compositeVersionOf('site', '1.1.0'))).to.deep.include({
      ...{ nodes: 0, pinned: 1, pinnedNodes: [{ nodeId: site.nodeId, fqdn: site.fqdn }] },
    });
    await ok(200, withdraw(hawser.admin, 'web', '1.1.0'));
    await ok(200, withdrawComposite(hawser.admin, 'site', '1.1.0'));
    expect([await gets(fixed), await gets(site)]).to.deep.equal(['1.1.0', '1.1.0']);
    expect(await fileOf(site, 'web/own.txt')).to.equal('web 1.0.0\n');
    const assignment = async (node: NodeUnderTest) =>
      (await ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}`))).assignment;
    for (const node of [fixed, site])
      expect(await assignment(node)).to.include({ version: '1.1.0', pinnedToWithdrawn: true });
    const other = await assign('web');
    for (const [configurationName, isComposite] of [
      ['web', false],
      ['site', true],
    ])
      await expectProblem(
        hawser.admin.put(pathOf(other), { configurationName, isComposite, version: '1.1.0' }),
        409,
        'no_eligible_version',
      );
    const cleaned = await cleanUp(hawser.admin, 'configurations', NOTHING_KEPT);
    expect(deletedBy(cleaned)).to.deep.equal([]);
    await ok(204, offerAgain(hawser.admin, 'web', '1.1.0'));
    expect(await assignment(fixed)).to.include({ pinnedToWithdrawn: false });
    await ok(204, hawser.admin.put(pathOf(other), { configurationName: 'web', version: '1.1.0' }));
  });

  it('names in a dry run only composites that the caller may read', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0');
    for (const name of ['mine', 'theirs'])
      await publishWithChildren(hawser.admin, name, '1.0.0', [{ name: 'web', activeVersion: '1.1.0' }]);
    await assignComposite('theirs');
    const manager = await makeUser(hawser, {
      username: 'manager',
      grants: [
        { on: 'configuration', name: 'web', level: 'Manage' },
        { on: 'composite', name: 'mine', level: 'Read' },
      ],
    });
    expect(await dryRun(versionOf('web', '1.1.0'), manager)).to.deep.include({
      pinnedBy: [{ compositeName: 'mine', version: '1.0.0' }],
      // Nodes are named only to those who may read them.
      ...{ pinned: 1, pinnedNodes: [] },
    });
  });

  it('is not what a draft is compared with, nor what parameter files are checked with', async () => {
    const schema = (type: string) => ({
      [MAIN]: `$schema: x\nparameters:\n  port:\n    type: ${type}\nresources: []\n`,
    });
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': schema('int'), '2.0.0': schema('string') });
    await ok(201, addVersion(hawser.admin, 'web', { version: '2.1.0' }, { files: schema('int') }));
    const publishing = () => hawser.admin.put(`${versionOf('web', '2.1.0')}/publish`);
    await expectProblem(publishing(), 409, 'incompatible_parameters');
    const comparedWith = async () =>
      (await ok(200, hawser.admin.get('/api/v1/configurations/web/compare?to=2.1.0'))).from.version;
    expect(await comparedWith()).to.equal('2.0.0');
    await ok(200, withdraw(hawser.admin, 'web', '2.0.0'));
    expect(await comparedWith()).to.equal('1.0.0');
    await ok(200, publishing());
    await ok(204, offerAgain(hawser.admin, 'web', '2.0.0'));
    const isText = { port: 'eighty' };
    expect((await validated(hawser.admin, 'web', isText)).isValid).to.equal(false);
    await ok(200, withdraw(hawser.admin, 'web', '2.1.0'));
    expect((await validated(hawser.admin, 'web', isText)).isValid).to.equal(true);
    expect((await validated(hawser.admin, 'web', isText, '?version=2.1.0')).isValid).to.equal(false);
    const { id } = await ok(200, hawser.admin.get('/api/v1/configurations/web'));
    const content = 'parameters: {port: eighty}';
    const path = `/api/v1/parameters/${DEFAULT_ID}/${id}`;
    await ok(201, hawser.admin.put(path, { version: '2.0.0', content }));
    await ok(204, offerAgain(hawser.admin, 'web', '2.1.0'));
    await expectInvalid(hawser.admin.put(path, { version: '2.0.1', content }));
  });
});
