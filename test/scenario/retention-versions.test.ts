// full: SQLite, PostgreSQL
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DAY } from '../../src/lib/clock.ts';
import { entriesDuring } from '../support/audit-table.ts';
import {
  addChild,
  addCompositeDraft,
  compositeOf,
  createComposite,
  publishWithChildren,
} from '../support/composites.ts';
import {
  addVersion,
  CONFIGURATIONS,
  create,
  fileOf,
  publish,
  versionsOf,
} from '../support/configurations.ts';
import { ENGINE, itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { gitClient } from '../support/git-client.ts';
import { createToken, type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { expectProblem, ok } from '../support/replies.ts';
import {
  cleanUp,
  deletedBy,
  NOTHING_KEPT,
  publishVersions,
  RETENTION,
  RUNS,
  versionsLeft,
} from '../support/retention.ts';
import { started, startedForEach } from '../support/started.ts';

const configurationOf = (name: string) => `${CONFIGURATIONS}/${name}`;

describe('the cleanup of configurations', () => {
  const hawser = startedForEach(startHawser);

  const left = (name: string) => versionsLeft(hawser.admin, configurationOf(name));

  async function assign(name: string, wish: object = {}, node?: NodeUnderTest): Promise<NodeUnderTest> {
    const assigned = node ?? (await hawser.registerNode(`${name}-${Math.random()}.example.org`));
    const path = `/api/v1/nodes/${assigned.nodeId}/configuration`;
    await ok(204, hawser.admin.put(path, { configurationName: name, ...wish }));
    return assigned;
  }

  it('deletes what is beyond the newest and too old, and says what and why', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0', '1.2.0', '2.0.0');
    const before = await ok(200, hawser.admin.get(`${versionsOf('web')}/1.0.0`));
    const wish = { keepVersions: 2, keepDays: 0, keepReleaseVersions: false };
    const { runId, ...result } = await cleanUp(hawser.admin, 'configurations', wish);
    expect(result).to.deep.include({
      versionType: 'Configuration',
      isDryRun: false,
      deletedCount: 2,
      keptCount: 2,
    });
    expect(deletedBy(result)).to.deep.equal(['web 1.0.0', 'web 1.1.0']);
    expect(
      result.deletedVersions.find(({ version }: { version: string }) => version === '1.0.0'),
    ).to.deep.equal({
      name: 'web',
      version: '1.0.0',
      createdAt: before.createdAt,
      reason: 'Published version beyond the newest 2 and older than 0 days',
    });
    expect(await left('web')).to.deep.equal(['2.0.0', '1.2.0']);
    const [run] = await ok(200, hawser.admin.get(RUNS));
    expect(run).to.include({
      id: runId,
      versionType: 'Configuration',
      deletedCount: 2,
      keptCount: 2,
      error: null,
    });
    expect(run).to.include({ isScheduled: false, isDryRun: false });
    expect(Date.parse(run.completedAt)).to.be.at.least(Date.parse(run.startedAt));
  });

  it('makes a version go from every route and clone at once, while the others keep commits and content', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0', '2.0.0');
    const client = gitClient(hawser);
    const token = await createToken(hawser.client(), hawser.session, [
      'configurations.admin-override',
      'configurations.grants',
    ]);
    const kept = await ok(200, hawser.admin.get(`${versionsOf('web')}/2.0.0`));
    const blob = hawser.git('configurations/web.git', 'rev-parse', 'v1.1.0:own.txt').trim();
    const node = await assign('web');
    const checksum = `/api/v1/nodes/${node.nodeId}/configuration/checksum`;
    const before = await ok(200, node.client.get(checksum));
    await cleanUp(hawser.admin, 'configurations', NOTHING_KEPT);
    try {
      for (const version of ['1.0.0', '1.1.0']) {
        await expectProblem(hawser.admin.get(`${versionsOf('web')}/${version}`), 404, 'not_found');
        await expectProblem(hawser.admin.get(fileOf('web', version, 'own.txt')), 404, 'not_found');
      }
      expect(await ok(200, hawser.admin.get(configurationOf('web')))).to.include({ versionCount: 1 });
      expect(await ok(200, hawser.admin.get(`${versionsOf('web')}/2.0.0`))).to.deep.equal(kept);
      expect(await ok(200, node.client.get(checksum))).to.deep.equal(before);
      const clone = join(client.folder, 'clone');
      const cloned = await client.run('clone', '--quiet', client.url('configurations/web', token), clone);
      expect(cloned.code, cloned.output).to.equal(0);
      expect((await client.run('-C', clone, 'tag')).output.trim()).to.equal('v2.0.0');
      expect((await client.run('-C', clone, 'log', '--format=%H')).output.trim()).to.equal(kept.commit);
      expect((await client.run('-C', clone, 'cat-file', '-e', blob)).code).to.not.equal(0);
      expect((await client.run('-C', clone, 'fsck', '--strict')).code).to.equal(0);
      // As the maintenance will, once the objects are old enough. In PostgreSQL they are pruned (pruning.test.ts).
      if (ENGINE === 'sqlite') {
        hawser.git('configurations/web.git', 'gc', '--prune=now', '--quiet');
        expect(() => hawser.git('configurations/web.git', 'cat-file', '-e', blob)).to.throw();
      }
      hawser.git('configurations/web.git', 'fsck', '--strict');
      const own = await hawser.admin.get(fileOf('web', '2.0.0', 'own.txt'));
      expect(own.text).to.equal('web 2.0.0\n');
      await ok(201, addVersion(hawser.admin, 'web', { version: '1.1.0' }));
    } finally {
      client.close();
    }
  });

  it('changes nothing in a dry run, and says what it would do', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0', '2.0.0');
    const refs = hawser.git('configurations/web.git', 'for-each-ref');
    const wish = { ...NOTHING_KEPT, dryRun: true };
    const { result, entries } = await entriesDuring(hawser, () =>
      cleanUp(hawser.admin, 'configurations', wish),
    );
    expect(result).to.include({ isDryRun: true, deletedCount: 2, keptCount: 1 });
    expect(deletedBy(result)).to.deep.equal(['web 1.0.0', 'web 1.1.0']);
    expect(entries).to.deep.equal([]);
    expect(await left('web')).to.deep.equal(['2.0.0', '1.1.0', '1.0.0']);
    expect(hawser.git('configurations/web.git', 'for-each-ref')).to.equal(refs);
    expect((await ok(200, hawser.admin.get(RUNS)))[0]).to.include({ isDryRun: true, deletedCount: 2 });
  });

  it('never deletes what a node gets, by itself or as the child of a composite, or what a composite is pinned to', async () => {
    const versions = ['1.0.0', '1.1.0', '2.0.0', '2.1.0-beta.1', '3.0.0', '4.0.0', '5.0.0'];
    for (const name of ['direct', 'child', 'pinned']) await publishVersions(hawser.admin, name, ...versions);
    await assign('direct', { majorVersion: 1 });
    await assign('direct', { majorVersion: 2, prereleaseChannel: 'beta' });
    await publishWithChildren(hawser.admin, 'all', '1.0.0', [
      'child',
      { name: 'pinned', activeVersion: '1.0.0' },
    ]);
    await ok(201, addCompositeDraft(hawser.admin, 'all', '2.0.0'));
    await ok(201, addChild(hawser.admin, 'all', '2.0.0', 'pinned', { activeVersion: '3.0.0' }));
    await assign('all', { isComposite: true });
    await cleanUp(hawser.admin, 'configurations', NOTHING_KEPT);
    expect(await left('direct')).to.deep.equal(['5.0.0', '2.1.0-beta.1', '1.1.0']);
    expect(await left('child')).to.deep.equal(['5.0.0']);
    expect(await left('pinned')).to.deep.equal(['5.0.0', '3.0.0', '1.0.0']);
  });

  it('keeps releases unless told otherwise, drafts, and what was published last', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0-rc.1', '1.0.0', '1.1.0-rc.1', '1.1.0', '1.0.1-rc.1');
    await ok(201, addVersion(hawser.admin, 'web', { version: '0.9.0' }));
    await cleanUp(hawser.admin, 'configurations', { keepVersions: 0, keepDays: 0 });
    expect(await left('web')).to.deep.equal(['1.1.0', '1.0.1-rc.1', '1.0.0', '0.9.0']);
    await cleanUp(hawser.admin, 'configurations', NOTHING_KEPT);
    expect(await left('web')).to.deep.equal(['1.1.0', '1.0.1-rc.1', '0.9.0']);
  });

  itOnSqlite('keeps a version whose entry point a kept tag of stock git takes', async () => {
    const files = { 'site.yaml': '$schema: x\nresources: []\n' };
    await ok(201, create(hawser.admin, 'web', { version: '1.0.0', entryPoint: 'site.yaml' }, { files }));
    await ok(200, publish(hawser.admin, 'web', '1.0.0'));
    const outside = new Outside(hawser, 'web');
    for (const version of ['1.1.0', '1.2.0']) outside.tag(version, [outside.file('site.yaml', version)]);
    await eventually(async () => expect(await left('web')).to.have.length(3));
    const node = await assign('web');
    await cleanUp(hawser.admin, 'configurations', NOTHING_KEPT);
    expect(await left('web')).to.deep.equal(['1.2.0', '1.0.0']);
    const checksum = `/api/v1/nodes/${node.nodeId}/configuration/checksum`;
    expect(await ok(200, node.client.get(checksum))).to.include({
      version: '1.2.0',
      entryPoint: 'site.yaml',
    });
  });

  it('takes what the body leaves out from the settings of the server', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0', '1.2.0');
    expect(await cleanUp(hawser.admin, 'configurations')).to.include({ deletedCount: 0, keptCount: 3 });
    const settings = { keepVersions: 1, keepDays: 5, keepReleaseVersions: false };
    await ok(200, hawser.admin.put('/api/v1/settings/retention', settings));
    expect(await cleanUp(hawser.admin, 'configurations', {})).to.include({ deletedCount: 0 });
    hawser.clock.advance(6 * DAY);
    expect(await cleanUp(hawser.admin, 'configurations', { keepVersions: 2 })).to.include({
      deletedCount: 1,
    });
    const nulls = { keepVersions: null, keepDays: null, keepReleaseVersions: null, dryRun: null };
    expect(await cleanUp(hawser.admin, 'configurations', nulls)).to.include({ deletedCount: 1 });
    expect(await left('web')).to.deep.equal(['1.2.0']);
  });

  it("lets a configuration's own retention win, and leaves alone what is exempt", async () => {
    for (const name of ['plain', 'own', 'exempt']) {
      await publishVersions(hawser.admin, name, '1.0.0', '1.1.0', '1.2.0');
    }
    const set = (name: string, own: object) =>
      ok(200, hawser.admin.put(`${configurationOf(name)}/settings/retention`, own));
    await set('own', { keepVersions: 2 });
    await set('exempt', { enabled: false });
    const result = await cleanUp(hawser.admin, 'configurations', NOTHING_KEPT);
    expect(deletedBy(result)).to.deep.equal(['own 1.0.0', 'plain 1.0.0', 'plain 1.1.0']);
    expect(result.keptCount).to.equal(6);
    expect(await left('exempt')).to.deep.equal(['1.2.0', '1.1.0', '1.0.0']);
  });

  it('records every deleted version and the run in the audit trail', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0');
    const { id } = await ok(200, hawser.admin.get(configurationOf('web')));
    const { commit } = await ok(200, hawser.admin.get(`${versionsOf('web')}/1.0.0`));
    const { result, entries } = await entriesDuring(hawser, () =>
      cleanUp(hawser.admin, 'configurations', NOTHING_KEPT),
    );
    expect(
      entries.map(({ action, resource_id, actor_name }) => [action, resource_id, actor_name]),
    ).to.deep.equal([
      ['configuration.version_deleted', id, 'admin'],
      ['retention.run', result.runId, 'admin'],
    ]);
    expect(entries[0]?.details).to.include({
      name: 'web',
      version: '1.0.0',
      commit,
      retentionRun: result.runId,
    });
    expect(entries[1]?.details).to.include({ versionType: 'Configuration', deletedCount: 1, keptCount: 1 });
  });

  it('refuses bad wishes and records no run of them', async () => {
    for (const wish of [{ keepVersions: -1 }, { keepDays: 1.5 }, { keepCount: 1 }, { dryRun: 'no' }]) {
      const path = `${RETENTION}/configurations/cleanup`;
      await expectProblem(hawser.admin.post(path, wish), 400, 'validation_failed', JSON.stringify(wish));
    }
    for (const kind of ['configurations', 'composite-configurations', 'parameters']) {
      const none = hawser.admin.post(`${RETENTION}/${kind}/cleanup`);
      await expectProblem(none, 400, 'validation_failed: malformed_json', kind);
    }
    expect(await ok(200, hawser.admin.get(RUNS))).to.deep.equal([]);
  });

  itOnSqlite('cleans the others where one repository is damaged, and records why it failed', async () => {
    await publishVersions(hawser.admin, 'broken', '1.0.0', '1.1.0');
    await publishVersions(hawser.admin, 'sound', '1.0.0', '1.1.0');
    const oid = hawser.git('configurations/broken.git', 'rev-parse', 'v1.0.0^{tree}').trim();
    await hawser.server.close();
    rmSync(join(hawser.reposDir, 'configurations/broken.git/objects', oid.slice(0, 2), oid.slice(2)));
    await hawser.restart();
    const path = `${RETENTION}/configurations/cleanup`;
    await expectProblem(hawser.admin.post(path, NOTHING_KEPT), 500, 'repository_damaged');
    expect(await left('sound')).to.deep.equal(['1.1.0']);
    const [run] = await ok(200, hawser.admin.get(RUNS));
    expect(run).to.include({ deletedCount: 1 });
    expect(run.error)
      .to.match(/^broken: .*damaged/)
      .and.not.contain('/');
  });

  itOnSqlite('works without git, and the run says that nothing was repacked', async () => {
    const other = await startHawser({ PATH: '/nowhere' });
    try {
      await publishVersions(other.admin, 'web', '1.0.0', '1.1.0');
      await cleanUp(other.admin, 'configurations', { ...NOTHING_KEPT, dryRun: true });
      expect((await ok(200, other.admin.get(RUNS)))[0].error).to.equal(null);
      expect(await cleanUp(other.admin, 'configurations', NOTHING_KEPT)).to.include({ deletedCount: 1 });
      const [run] = await ok(200, other.admin.get(RUNS));
      expect(run.error).to.match(/nothing was repacked/i);
      other.git('configurations/web.git', 'fsck', '--strict');
    } finally {
      await other.close();
    }
  });
});

describe('the cleanup of composites', () => {
  const hawser = started(startHawser);

  it('deletes old versions but what a node gets, and so frees what they were pinned to', async () => {
    const { admin } = hawser;
    await publishVersions(admin, 'web', '1.0.0', '2.0.0', '3.0.0');
    await publishWithChildren(admin, 'all', '1.0.0', [{ name: 'web', activeVersion: '1.0.0' }]);
    await publishWithChildren(admin, 'all', '2.0.0', [{ name: 'web', activeVersion: '2.0.0' }]);
    await publishWithChildren(admin, 'all', '3.0.0', ['web']);
    await ok(201, addCompositeDraft(admin, 'all', '0.1.0'));
    await ok(201, createComposite(admin, 'empty'));
    const node = await hawser.registerNode('a.example.org');
    const wish = { configurationName: 'all', isComposite: true, majorVersion: 2 };
    await ok(204, admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, wish));
    expect(deletedBy(await cleanUp(admin, 'configurations', NOTHING_KEPT))).to.deep.equal([]);
    const { result, entries } = await entriesDuring(hawser, () =>
      cleanUp(admin, 'composite-configurations', NOTHING_KEPT),
    );
    expect(result).to.include({ versionType: 'Composite', deletedCount: 1, keptCount: 3 });
    expect(deletedBy(result)).to.deep.equal(['all 1.0.0']);
    expect(entries.map(({ action }) => action)).to.deep.equal(['composite.version_deleted', 'retention.run']);
    expect(await versionsLeft(admin, compositeOf('all'))).to.deep.equal(['3.0.0', '2.0.0', '0.1.0']);
    expect(deletedBy(await cleanUp(admin, 'configurations', NOTHING_KEPT))).to.deep.equal(['web 1.0.0']);
    hawser.git('composites/all.git', 'fsck', '--strict');
  });
});
