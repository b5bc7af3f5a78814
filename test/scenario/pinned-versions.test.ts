// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { auditEntries } from '../support/audit.ts';
import { compositeOf, publishWithChildren } from '../support/composites.ts';
import { addVersion, CONFIGURATIONS, MAIN, publish } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { assign, configurationPath, poll, pullBundle, saveParameters } from '../support/parameter-files.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { cleanUp, deletedBy, NOTHING_KEPT, publishVersions, versionsLeft } from '../support/retention.ts';
import { started, startedForEach } from '../support/started.ts';

const FILES = { [MAIN]: '$schema: x\nresources: []\n' };

describe('a node that is pinned to a version', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;

  before(async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0', '2.0.0-rc.1', '2.0.0');
    await ok(201, addVersion(hawser.admin, 'web', { version: '3.0.0' }, { files: FILES }));
  });
  beforeEach(async () => {
    node ??= await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'web');
  });

  const delivered = async () => (await poll(node)).json.version ?? (await poll(node)).json.code;
  const assignment = async () => (await ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}`))).assignment;
  const put = (body: object) => hawser.admin.put(configurationPath(node), body);

  it('gets exactly that version while higher ones are published, and the highest once it is pinned no more', async () => {
    expect(await delivered()).to.equal('2.0.0');
    const unpinned = String((await poll(node)).headers['etag']).slice(1, -1);
    await assign(hawser, node, 'web', { version: '1.0.0' });
    expect(await delivered()).to.equal('1.0.0');
    await ok(200, poll(node, unpinned));
    expect((await pullBundle(node))['own.txt']).to.equal('web 1.0.0\n');
    expect(await assignment()).to.deep.equal({
      configurationName: 'web',
      isComposite: false,
      majorVersion: null,
      prereleaseChannel: null,
      version: '1.0.0',
      resolvedVersion: '1.0.0',
      pinnedToWithdrawn: false,
    });
    await ok(201, addVersion(hawser.admin, 'web', { version: '1.0.1' }, { files: FILES }));
    await ok(200, publish(hawser.admin, 'web', '1.0.1'));
    expect(await delivered()).to.equal('1.0.0');
    await hawser.restart();
    node = { ...node, client: hawser.client(node.identity) };
    expect(await delivered()).to.equal('1.0.0');
    await assign(hawser, node, 'web', { version: null });
    expect(await delivered()).to.equal('2.0.0');
    await ok(304, poll(node, unpinned));
    expect(await assignment()).to.include({ version: null, resolvedVersion: '2.0.0' });
  });

  it('moves from one pin to another, and to a prerelease without any channel', async () => {
    for (const version of ['1.0.0', '1.1.0', '2.0.0-rc.1']) {
      await assign(hawser, node, 'web', { version, majorVersion: null, prereleaseChannel: null });
      expect(await delivered()).to.equal(version);
    }
    const [entry] = await auditEntries(hawser, 'action=node.configuration_assigned&take=1');
    expect(entry?.details).to.deep.include({
      ...{ fqdn: node.fqdn, configurationName: 'web', isComposite: false },
      ...{ majorVersion: null, prereleaseChannel: null, version: '2.0.0-rc.1' },
    });
  });

  for (const [what, version] of Object.entries({
    'a draft': '3.0.0',
    'a version that is unknown': '7.0.0',
    'a version as Git tags it': 'v1.0.0',
    'other build metadata': '1.0.0+build',
    'a part of a version': '1.0',
    'a text that names no version': '../1.0.0',
  }))
    it(`cannot be one of ${what}: 409 no_eligible_version, and all stays`, async () => {
      await assign(hawser, node, 'web', { version: '1.1.0' });
      const { json } = await expectProblem(
        put({ configurationName: 'web', version }),
        409,
        'no_eligible_version',
      );
      if (version === 'v1.0.0') expect(json.detail).to.contain('drop the v: 1.0.0');
      expect(await delivered()).to.equal('1.1.0');
      expect(await assignment()).to.include({ version: '1.1.0' });
    });

  for (const [what, members, paths] of [
    ['a major version beside it', { version: '1.0.0', majorVersion: 1 }, ['/majorVersion']],
    ['the major version 0', { version: '1.0.0', majorVersion: 0 }, ['/majorVersion']],
    ['a channel', { version: '1.0.0', prereleaseChannel: 'rc' }, ['/prereleaseChannel']],
    [
      'both',
      { version: '1.0.0', majorVersion: 1, prereleaseChannel: 'rc' },
      ['/majorVersion', '/prereleaseChannel'],
    ],
    ['a major version beside one that is unknown', { version: '7.0.0', majorVersion: 1 }, ['/majorVersion']],
    ['an empty version', { version: '' }, ['/version']],
    ['a number', { version: 1 }, ['/version']],
    ['a list', { version: ['1.0.0'] }, ['/version']],
    ['a flag', { version: true }, ['/version']],
    ['more than any version is long', { version: '1'.repeat(201) }, ['/version']],
  ] as const)
    it(`cannot be made so with ${what}: 400, which names the member, and all stays`, async () => {
      const reply = await expectInvalid(put({ configurationName: 'web', ...members }));
      expect(reply.json.errors.map(({ path }: { path: string }) => path)).to.deep.equal(paths);
      expect(await delivered()).to.equal('2.0.0');
    });

  it('is found by If-Match as any other', async () => {
    const etag = String((await hawser.admin.get(configurationPath(node))).headers['etag']);
    const pin = (version: string) =>
      hawser.admin.call('PUT', configurationPath(node), {
        json: { configurationName: 'web', version },
        headers: { 'If-Match': etag },
      });
    await ok(204, pin('1.0.0'));
    await expectProblem(pin('1.1.0'), 412, 'precondition_failed');
    expect(await delivered()).to.equal('1.0.0');
  });

  it('gets stable parameters of the major of a prerelease that it is pinned to', async () => {
    await publishConfiguration(hawser.admin, 'app', { '1.0.0': FILES, '2.0.0-rc.1': FILES, '3.0.0': FILES });
    for (const version of ['1.0.0', '2.0.0', '2.1.0-rc.1', '3.0.0'])
      await saveParameters(hawser, {
        configuration: 'app',
        version,
        content: `parameters: {from: '${version}'}`,
      });
    await assign(hawser, node, 'app', { version: '2.0.0-rc.1' });
    expect((await pullBundle(node))['parameters.yaml']).to.contain('from: "2.0.0"');
    const resolution = `/api/v1/nodes/${node.nodeId}/parameters/resolution`;
    expect(await ok(200, hawser.admin.get(resolution))).to.deep.include({
      configurationVersion: '2.0.0-rc.1',
      prereleaseChannel: null,
    });
  });

  it('may have a version that is no SemVer', async () => {
    await ok(201, hawser.admin.upload(CONFIGURATIONS, { fields: { name: 'odd' }, files: FILES }));
    const settings = `${CONFIGURATIONS}/odd/settings`;
    await ok(200, hawser.admin.put(settings, { requireSemVer: false }));
    for (const version of ['release-1', 'release-2']) {
      await ok(201, addVersion(hawser.admin, 'odd', { version }, { files: FILES }));
      await ok(200, publish(hawser.admin, 'odd', version));
    }
    await assign(hawser, node, 'odd', { version: 'release-1' });
    expect(await delivered()).to.equal('release-1');
  });

  it('gets a composite as it was, with the highest stable version of a child that follows', async () => {
    await publishConfiguration(hawser.admin, 'base', { '1.0.0': FILES, '1.1.0': FILES, '2.0.0-rc.1': FILES });
    const followed = ['base', { name: 'web', activeVersion: '1.0.0' }];
    await publishWithChildren(hawser.admin, 'site', '1.0.0', followed);
    await publishWithChildren(hawser.admin, 'site', '2.0.0', ['base']);
    const site = { isComposite: true, version: '1.0.0' };
    await assign(hawser, node, 'site', site);
    expect(await delivered()).to.equal('1.0.0');
    const { version } = await ok(
      200,
      hawser.admin.get(`/api/v1/nodes/${node.nodeId}/configuration/checksum`),
    );
    expect(version).to.equal('1.0.0');
    expect(await assignment()).to.include({ ...site, configurationName: 'site', resolvedVersion: '1.0.0' });
    expect((await pullBundle(node))['web/own.txt']).to.equal('web 1.0.0\n');
    const base = (await ok(200, hawser.admin.get(`${CONFIGURATIONS}/base`))).id;
    const resolution = `/api/v1/nodes/${node.nodeId}/parameters/resolution?configurationId=${base}`;
    expect(await ok(200, hawser.admin.get(resolution))).to.include({ configurationVersion: '1.1.0' });
    await expectProblem(
      put({ configurationName: 'site', ...site, version: '3.0.0' }),
      409,
      'no_eligible_version',
    );
    await expectInvalid(put({ configurationName: 'site', ...site, majorVersion: 1 }));
    expect(await delivered()).to.equal('1.0.0');
  });

  itOnSqlite(
    'gets nothing more once stock git has deleted the version: 404 no_eligible_version',
    async () => {
      await publishVersions(hawser.admin, 'mail', '1.0.0', '1.1.0');
      await assign(hawser, node, 'mail', { version: '1.0.0' });
      expect(await delivered()).to.equal('1.0.0');
      new Outside(hawser, 'mail').git('tag', '-d', 'v1.0.0');
      await eventually(async () => expect(await delivered()).to.equal('no_eligible_version'));
      await expectProblem(poll(node), 404, 'no_eligible_version');
      expect(await assignment()).to.include({
        version: '1.0.0',
        resolvedVersion: null,
        pinnedToWithdrawn: false,
      });
      await assign(hawser, node, 'mail');
      expect(await delivered()).to.equal('1.1.0');
    },
  );
});

describe('a version that a node is pinned to', () => {
  const hawser = startedForEach(startHawser);

  const left = (path: string) => versionsLeft(hawser.admin, path);

  it('is kept by cleanups, with its parameter files, until nobody is pinned to it', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0', '2.0.0');
    for (const version of ['1.0.0', '2.0.0'])
      await saveParameters(hawser, {
        configuration: 'web',
        version,
        content: `parameters: {a: '${version}'}`,
      });
    const node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'web', { version: '1.0.0' });
    const before = await pullBundle(node);
    expect(before['parameters.yaml']).to.contain('1.0.0');
    expect(deletedBy(await cleanUp(hawser.admin, 'configurations', NOTHING_KEPT))).to.deep.equal([
      'web 1.1.0',
    ]);
    await cleanUp(hawser.admin, 'parameters', NOTHING_KEPT);
    expect(await pullBundle(node)).to.deep.equal(before);
    expect(await left(`${CONFIGURATIONS}/web`)).to.deep.equal(['2.0.0', '1.0.0']);
    await assign(hawser, node, 'web');
    expect(deletedBy(await cleanUp(hawser.admin, 'configurations', NOTHING_KEPT))).to.deep.equal([
      'web 1.0.0',
    ]);
    await expectProblem(
      hawser.admin.put(configurationPath(node), { configurationName: 'web', version: '1.0.0' }),
      409,
      'no_eligible_version',
    );
    expect((await poll(node)).json.version).to.equal('2.0.0');
  });

  for (const wish of [{ version: '1.1.0' }, { majorVersion: 1 }])
    it(`is gone before an assignment to ${Object.keys(wish)} or stays, if a cleanup runs at the same time`, async () => {
      const names = Array.from({ length: 12 }, (_, number) => `web-${number}`);
      for (const name of names) await publishVersions(hawser.admin, name, '1.1.0', '2.0.0');
      const others = await Promise.all(names.map((name) => hawser.registerNode(`${name}.example.org`)));
      const cleanup = cleanUp(hawser.admin, 'configurations', NOTHING_KEPT);
      const assigned = new Map<string, number>();
      for (const [number, name] of names.entries()) {
        const path = configurationPath(others[number] ?? expect.fail());
        const { status } = await hawser.admin.put(path, { configurationName: name, ...wish });
        expect(status).to.be.oneOf([204, 409]);
        assigned.set(name, status);
      }
      await cleanup;
      for (const [name, status] of assigned)
        expect((await left(`${CONFIGURATIONS}/${name}`)).includes('1.1.0'), name).to.equal(status === 204);
    });

  it('is kept of a composite too, and so are the children that it brings', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0');
    for (const [version, activeVersion] of [
      ['1.0.0', '1.0.0'],
      ['1.1.0', '1.1.0'],
      ['2.0.0', '1.1.0'],
    ] as const)
      await publishWithChildren(hawser.admin, 'site', version, [{ name: 'web', activeVersion }]);
    const node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'site', { isComposite: true, version: '1.0.0' });
    const before = await pullBundle(node);
    const result = await cleanUp(hawser.admin, 'composite-configurations', NOTHING_KEPT);
    expect(deletedBy(result)).to.deep.equal(['site 1.1.0']);
    await cleanUp(hawser.admin, 'configurations', NOTHING_KEPT);
    expect(await left(compositeOf('site'))).to.deep.equal(['2.0.0', '1.0.0']);
    expect(await pullBundle(node)).to.deep.equal(before);
  });
});
