// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { parse } from 'yaml';
import {
  addChild,
  addCompositeDraft,
  childrenOf,
  createComposite,
  publishComposite,
  publishWithChildren,
} from '../support/composites.ts';
import { addVersion, create, MAIN, publish } from '../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { preview, publishing, type Wish } from '../support/previews.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { unzip, unzipTexts } from '../support/unzip.ts';

const SCHEMA = 'https://aka.ms/dsc/schemas/v3/bundled/config/document.json';

describe('a node pulls a composite', () => {
  const hawser = started(startHawser);
  let nodes: Record<string, NodeUnderTest>;

  before(async () => {
    nodes = {};
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { [MAIN]: 'web one\n', 'modules/iis.yaml': 'iis' },
    });
    await publishConfiguration(hawser.admin, 'base', { '1.0.0': { [MAIN]: 'base one\n' } });
    await publishConfiguration(hawser.admin, 'other', { '1.0.0': { [MAIN]: 'other one\n' } });
  });

  const nodeNamed = async (name: string): Promise<NodeUnderTest> => {
    const node = nodes[name] ?? (await hawser.registerNode(`${name}.example.org`));
    nodes[name] = node;
    return node;
  };
  const pathOf = (node: NodeUnderTest, what = '') => `/api/v1/nodes/${node.nodeId}/configuration${what}`;
  const assign = async (name: string, configurationName: string, more: Record<string, unknown> = {}) => {
    const node = await nodeNamed(name);
    const body = { configurationName, isComposite: true, ...more };
    return hawser.admin.put(pathOf(node), body);
  };
  const checksum = async (name: string) => {
    const node = await nodeNamed(name);
    return ok(200, node.client.get(pathOf(node, '/checksum')));
  };
  const bundle = async (name: string) => {
    const node = await nodeNamed(name);
    const reply = await node.client.get(pathOf(node, '/bundle'));
    expect(reply.status, reply.text).to.equal(200);
    return reply;
  };
  const release = async (name: string, version: string, content = `${name} ${version}\n`) => {
    await ok(201, addVersion(hawser.admin, name, { version }, { files: { [MAIN]: content } }));
    await ok(200, publish(hawser.admin, name, version));
  };

  it('as a ZIP of a folder per child and a document that includes each in order', async () => {
    await publishWithChildren(hawser.admin, 'site', '1.0.0', [
      { name: 'web', order: 5 },
      { name: 'base', order: 1 },
    ]);
    await ok(204, assign('first', 'site'));
    const answer = await checksum('first');
    expect(answer).to.have.all.keys(
      'checksum',
      'entryPoint',
      'parametersFile',
      'configurationName',
      'version',
    );
    const { checksum: sum, ...rest } = answer;
    expect(rest).to.deep.equal({
      configurationName: 'site',
      version: '1.0.0',
      entryPoint: MAIN,
      parametersFile: null,
    });
    expect(sum).to.match(/^[0-9a-f]{64}$/);
    const reply = await bundle('first');
    expect(reply.headers['etag']).to.equal(`"${sum}"`);
    expect(reply.headers['content-disposition']).to.equal('attachment; filename="site-v1.0.0.zip"');
    const files = await unzipTexts(reply.bytes);
    const document = files[MAIN] ?? '';
    expect(files).to.deep.equal({
      [MAIN]: document,
      'base/main.dsc.yaml': 'base one\n',
      'web/main.dsc.yaml': 'web one\n',
      'web/modules/iis.yaml': 'iis',
    });
    expect(parse(document, { version: '1.2', strict: true })).to.deep.equal({
      $schema: SCHEMA,
      resources: [
        {
          name: 'base',
          type: 'Microsoft.DSC/Include',
          properties: { configurationFile: 'base/main.dsc.yaml' },
        },
        {
          name: 'web',
          type: 'Microsoft.DSC/Include',
          properties: { configurationFile: 'web/main.dsc.yaml' },
        },
      ],
    });
    const node = await nodeNamed('first');
    const own = await node.client.get(pathOf(node));
    expect(own.text).to.equal(document);
    expect(own.headers['content-type']).to.match(/yaml/);
    expect(own.headers['etag']).to.equal(`"${sum}"`);
    const known = { 'If-None-Match': `"${sum}"` };
    for (const what of ['', '/checksum', '/bundle']) {
      expect((await node.client.get(pathOf(node, what), known)).status, what).to.equal(304);
    }
  });

  it('as JSON where the entry point is', async () => {
    await publishWithChildren(hawser.admin, 'json', '1.0.0', ['web'], { entryPoint: 'start/Main.dsc.JSON' });
    await ok(204, assign('json', 'json'));
    expect(await checksum('json')).to.include({ entryPoint: 'start/Main.dsc.JSON', parametersFile: null });
    const files = await unzipTexts((await bundle('json')).bytes);
    const document = JSON.parse(files['start/Main.dsc.JSON'] ?? '');
    expect(document.$schema).to.equal(SCHEMA);
    expect(document.resources[0].properties).to.deep.equal({ configurationFile: 'web/main.dsc.yaml' });
    const node = await nodeNamed('json');
    expect((await node.client.get(pathOf(node))).headers['content-type']).to.match(/^application\/json/);
  });

  it('of which a release of a child reaches exactly the nodes that get it', async () => {
    await publishWithChildren(hawser.admin, 'floating', '1.0.0', ['web', 'base']);
    await publishWithChildren(hawser.admin, 'pinned', '1.0.0', [
      { name: 'web', activeVersion: '1.0.0' },
      'base',
    ]);
    await publishWithChildren(hawser.admin, 'unrelated', '1.0.0', ['other']);
    for (const name of ['floating', 'pinned', 'unrelated']) await ok(204, assign(name, name));
    await ok(204, assign('alone', 'web', { isComposite: false }));
    await ok(204, assign('base', 'base', { isComposite: false }));
    const names = ['floating', 'pinned', 'unrelated', 'alone', 'base'];
    const sums = async () => Promise.all(names.map(async (name) => (await checksum(name)).checksum));
    const changed = async (work: () => Promise<unknown>) => {
      const before = await sums();
      await work();
      const after = await sums();
      return names.filter((_, at) => before[at] !== after[at]);
    };
    const draft = () =>
      ok(201, addVersion(hawser.admin, 'web', { version: '1.1.0' }, { files: { [MAIN]: 'web two\n' } }));
    expect(await changed(draft)).to.deep.equal([]);
    expect(await changed(() => publish(hawser.admin, 'web', '1.1.0'))).to.deep.equal(['floating', 'alone']);
    expect((await unzipTexts((await bundle('floating')).bytes))['web/main.dsc.yaml']).to.equal('web two\n');
    expect((await unzipTexts((await bundle('pinned')).bytes))['web/main.dsc.yaml']).to.equal('web one\n');
    // The same content under a higher number is another version.
    expect(await changed(() => release('web', '1.2.0', 'web two\n'))).to.deep.equal(['floating', 'alone']);
    expect(await changed(() => release('web', '1.0.5'))).to.deep.equal([]);
    expect(await changed(() => release('base', '1.1.0'))).to.deep.equal(['floating', 'pinned', 'base']);
    expect(await changed(() => release('web', '2.0.0-rc.1'))).to.deep.equal([]);
  });

  it('of which a change of its own versions reaches it only once published', async () => {
    await publishWithChildren(hawser.admin, 'own', '1.0.0', ['other']);
    await ok(204, assign('own', 'own'));
    const { checksum: before } = await checksum('own');
    await ok(201, addCompositeDraft(hawser.admin, 'own', '1.1.0'));
    const item = await ok(201, addChild(hawser.admin, 'own', '1.1.0', 'other'));
    expect((await checksum('own')).checksum).to.equal(before);
    await ok(200, publishComposite(hawser.admin, 'own', '1.1.0'));
    const after = await checksum('own');
    expect(after).to.include({ version: '1.1.0' }).and.to.not.include({ checksum: before });
    const path = `${childrenOf('own', '1.1.0')}/${item.id}`;
    await expectProblem(hawser.admin.put(path, { order: 1 }), 409, 'published_version');
    expect((await checksum('own')).checksum).to.equal(after.checksum);
  });

  it('in the order of the children, on which the checksum depends', async () => {
    await publishWithChildren(hawser.admin, 'ordered', '1.0.0', ['base', 'other']);
    await publishWithChildren(hawser.admin, 'ordered', '2.0.0', ['other', 'base']);
    await ok(204, assign('ordered', 'ordered', { majorVersion: 1 }));
    const one = await bundle('ordered');
    await ok(204, assign('ordered', 'ordered', { majorVersion: 2 }));
    const two = await bundle('ordered');
    expect(two.headers['etag']).to.not.equal(one.headers['etag']);
    const order = async (bytes: Buffer) => (await unzip(bytes)).map(({ path }) => path);
    expect(await order(one.bytes)).to.deep.equal([MAIN, 'base/main.dsc.yaml', 'other/main.dsc.yaml']);
    expect(await order(two.bytes)).to.deep.equal([MAIN, 'other/main.dsc.yaml', 'base/main.dsc.yaml']);
  });

  it("with the node's channel for floating children, and its major version for the composite alone", async () => {
    await publishConfiguration(hawser.admin, 'app', {
      '3.0.0': { [MAIN]: 'app 3.0.0' },
      '3.1.0-beta.1': { [MAIN]: 'app beta' },
      '3.1.0-rc.1': { [MAIN]: 'app rc' },
    });
    await publishWithChildren(hawser.admin, 'suite', '1.0.0', ['app']);
    await publishWithChildren(hawser.admin, 'suite', '1.1.0-beta.1', ['app', 'base']);
    await publishWithChildren(hawser.admin, 'suite', '2.0.0', [
      { name: 'app', activeVersion: '3.1.0-beta.1' },
    ]);
    const got = async (more: Record<string, unknown>) => {
      await ok(204, assign('suite', 'suite', more));
      const { version } = await checksum('suite');
      return `${version} ${(await unzipTexts((await bundle('suite')).bytes))['app/main.dsc.yaml']}`;
    };
    expect(await got({ majorVersion: 1 })).to.equal('1.0.0 app 3.0.0');
    expect(await got({ majorVersion: 1, prereleaseChannel: 'beta' })).to.equal('1.1.0-beta.1 app rc');
    expect(await got({ majorVersion: 1, prereleaseChannel: 'rc' })).to.equal('1.0.0 app rc');
    // A pin holds whatever the channel.
    expect(await got({})).to.equal('2.0.0 app beta');
    expect(await got({ prereleaseChannel: 'rc' })).to.equal('2.0.0 app beta');
    await expectProblem(assign('suite', 'suite', { majorVersion: 3 }), 409, 'no_eligible_version');
  });

  it("with the highest of a child's major where it follows one, whatever is above it", async () => {
    const { admin } = hawser;
    const content = (version: string) => ({ [MAIN]: `lib ${version}` });
    const versions = ['1.0.0', '1.1.0', '1.2.0-rc.1', '2.0.0'];
    const contents = Object.fromEntries(versions.map((version) => [version, content(version)]));
    await publishConfiguration(admin, 'lib', contents);
    await publishWithChildren(admin, 'kit', '1.0.0', ['base', { name: 'lib', majorVersion: 1 }]);
    await ok(204, assign('kit', 'kit'));
    await ok(204, assign('kit-rc', 'kit', { prereleaseChannel: 'rc' }));
    const got = async (name: string) => (await unzipTexts((await bundle(name)).bytes))['lib/main.dsc.yaml'];
    expect([await got('kit'), await got('kit-rc')]).to.deep.equal(['lib 1.1.0', 'lib 1.2.0-rc.1']);

    const before = (await checksum('kit')).checksum;
    await release('lib', '2.1.0');
    expect((await checksum('kit')).checksum).to.equal(before);
    await ok(201, addVersion(admin, 'lib', { version: '1.3.0' }, { files: content('1.3.0') }));
    await ok(201, addCompositeDraft(admin, 'kit', '1.1.0'));
    await ok(201, addChild(admin, 'kit', '1.1.0', 'lib', { majorVersion: 2 }));
    const affected = async (change: Wish) => (await preview(admin, [change])).counts.changed;
    expect(await affected(publishing('lib', '1.3.0'))).to.equal(2);
    expect(await affected({ kind: 'PublishComposite', compositeName: 'kit', version: '1.1.0' })).to.equal(2);
    const { nodes } = await ok(200, publish(admin, 'lib', '1.3.0'));
    expect(nodes).to.include({ offered: 2, direct: 0, viaComposites: 2, pinned: 0 });
    expect([await got('kit'), await got('kit-rc')]).to.deep.equal(['lib 1.3.0', 'lib 1.3.0']);

    await ok(200, admin.put('/api/v1/configurations/lib/versions/1.3.0/withdraw', { reason: 'bad' }));
    expect([await got('kit'), await got('kit-rc')]).to.deep.equal(['lib 1.1.0', 'lib 1.2.0-rc.1']);
    const limits = { keepVersions: 1, keepDays: 0, keepReleaseVersions: false, dryRun: true };
    const cleaned = await ok(200, admin.post('/api/v1/retention/configurations/cleanup', limits));
    const gone = cleaned.deletedVersions.filter((each: { name: string }) => each.name === 'lib');
    expect(gone.map((each: { version: string }) => each.version))
      .to.include('1.0.0')
      .and.to.not.include.members(['1.1.0'])
      .and.to.not.include.members(['1.2.0-rc.1']);
    await ok(200, publishComposite(admin, 'kit', '1.1.0'));
    expect([await got('kit'), await got('kit-rc')]).to.deep.equal(['lib 2.1.0\n', 'lib 2.1.0\n']);
  });

  it('not one that gives it nothing: without an eligible version, its own or of a child', async () => {
    await ok(201, create(hawser.admin, 'soon', { version: '1.0.0-rc.1' }));
    await ok(200, publish(hawser.admin, 'soon', '1.0.0-rc.1'));
    await ok(201, createComposite(hawser.admin, 'early'));
    await expectProblem(assign('early', 'early'), 409, 'no_eligible_version');
    await ok(201, addCompositeDraft(hawser.admin, 'early', '1.0.0'));
    await ok(201, addChild(hawser.admin, 'early', '1.0.0', 'soon'));
    await expectProblem(assign('early', 'early'), 409, 'no_eligible_version');
    await ok(200, publishComposite(hawser.admin, 'early', '1.0.0'));
    await expectProblem(assign('early', 'early'), 409, 'no_eligible_version');
    await ok(204, assign('early', 'early', { prereleaseChannel: 'rc' }));
    expect((await checksum('early')).version).to.equal('1.0.0');
    await publishWithChildren(hawser.admin, 'early', '1.1.0', ['base']);
    await ok(204, assign('early', 'early'));
    await publishWithChildren(hawser.admin, 'early', '1.2.0', ['soon']);
    const node = await nodeNamed('early');
    for (const what of ['', '/checksum', '/bundle']) {
      await expectProblem(node.client.get(pathOf(node, what)), 404, 'no_eligible_version');
    }
    await release('soon', '1.0.0');
    expect((await checksum('early')).version).to.equal('1.2.0');
  });

  it('byte for byte the same each time, and after a restart', async () => {
    await ok(204, assign('same', 'site'));
    const first = await bundle('same');
    expect((await bundle('same')).bytes.equals(first.bytes)).to.equal(true);
    await hawser.restart();
    for (const name of Object.keys(nodes)) {
      const node = nodes[name];
      if (node) nodes[name] = { ...node, client: hawser.client(node.identity) };
    }
    const again = await bundle('same');
    expect(again.bytes.equals(first.bytes)).to.equal(true);
    expect(again.headers['etag']).to.equal(first.headers['etag']);
    expect(again.headers['repr-digest']).to.equal(first.headers['repr-digest']);
  });

  it('and shows it in list and detail, which the list can be filtered by', async () => {
    await ok(201, create(hawser.admin, 'site'));
    await ok(200, publish(hawser.admin, 'site', '1.0.0'));
    await ok(204, assign('shown', 'site', { majorVersion: 1, prereleaseChannel: 'beta' }));
    await ok(204, assign('namesake', 'site', { isComposite: false }));
    const node = await nodeNamed('shown');
    const detail = await ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}`));
    expect(detail.configurationName).to.equal('site');
    expect(detail.assignment).to.deep.equal({
      configurationName: 'site',
      isComposite: true,
      majorVersion: 1,
      prereleaseChannel: 'beta',
      version: null,
      resolvedVersion: '1.0.0',
      pinnedToWithdrawn: false,
    });
    const list = await ok(200, hawser.admin.get('/api/v1/nodes?configurationName=site'));
    const shown = list.map((entry: { fqdn: string; configurationName: string }) => entry.fqdn);
    expect(shown).to.include.members(['shown.example.org', 'namesake.example.org']);
    expect(shown).to.not.include('odd.example.org');
    expect(await ok(200, hawser.admin.get('/api/v1/nodes?configurationName=SITE'))).to.deep.equal([]);
  });

  it('which must be named as what it is', async () => {
    await expectProblem(assign('first', 'floating', { isComposite: false }), 404, 'not_found');
    await expectProblem(assign('first', 'web'), 404, 'not_found');
    await expectProblem(assign('first', 'Site'), 404, 'not_found');
    await expectProblem(assign('first', 'site', { isComposite: 'true' }), 400, 'validation_failed');
  });

  it('and a user may look at it with nodes.read and Read on the composite and each child', async () => {
    const bob = await makeUser(hawser, { username: 'bob', roles: ['Operator'] });
    await ok(204, assign('watched', 'site'));
    const node = await nodeNamed('watched');
    const views = ['', '/checksum', '/bundle'];
    const isHidden = async (client = bob.client) => {
      for (const what of views) {
        const hidden = await expectProblem(client.get(pathOf(node, what)), 404, 'not_found', what);
        expect(hidden.text).to.not.match(/site|web|base/);
      }
    };
    const body = { configurationName: 'site', isComposite: true };
    await isHidden();
    await expectProblem(bob.client.put(pathOf(node), body), 404, 'not_found');
    const grant = { principalType: 'User', principalId: bob.userId, level: 'Read' };
    const grants = (thing: string) => `/api/v1/${thing}/permissions`;
    const needed = ['composite-configurations/site', 'configurations/web', 'configurations/base'];
    for (const thing of needed) {
      await isHidden();
      await ok(204, hawser.admin.put(grants(thing), grant));
    }
    for (const what of views) {
      const theirs = await node.client.get(pathOf(node, what));
      expect((await bob.client.get(pathOf(node, what))).bytes.equals(theirs.bytes), what).to.equal(true);
    }
    await ok(204, bob.client.put(pathOf(node), body));
    await isHidden(await bob.withToken('nodes.read', 'configurations.grants'));
    await isHidden(await bob.withToken('nodes.read', 'composite-configurations.grants'));
    const both = await bob.withToken(
      'nodes.read',
      'configurations.grants',
      'composite-configurations.grants',
    );
    for (const what of views) await ok(200, both.get(pathOf(node, what)));
    // A child that is taken from its reader is taken with every composite that has it.
    for (const thing of needed) {
      await ok(204, hawser.admin.delete(`${grants(thing)}/User/${bob.userId}`));
      await isHidden();
      await ok(204, hawser.admin.put(grants(thing), grant));
      await ok(200, bob.client.get(pathOf(node, '/bundle')));
    }
  });

  it('and with a new version a new child, which its readers must be able to read too', async () => {
    const cleo = await makeUser(hawser, { username: 'cleo', roles: ['Viewer'] });
    await publishWithChildren(hawser.admin, 'growing', '1.0.0', ['web']);
    await ok(204, assign('grown', 'growing'));
    const node = await nodeNamed('grown');
    const grant = { principalType: 'User', principalId: cleo.userId, level: 'Read' };
    for (const thing of ['composite-configurations/growing', 'configurations/web']) {
      await ok(204, hawser.admin.put(`/api/v1/${thing}/permissions`, grant));
    }
    const before = await cleo.client.get(pathOf(node, '/checksum'));
    await ok(200, before);
    await publishWithChildren(hawser.admin, 'growing', '1.1.0', ['web', 'other']);
    const known = { 'If-None-Match': String(before.headers['etag']) };
    for (const what of ['', '/checksum', '/bundle']) {
      await expectProblem(cleo.client.get(pathOf(node, what), known), 404, 'not_found', what);
      expect((await node.client.get(pathOf(node, what))).status, what).to.equal(200);
    }
    await ok(204, hawser.admin.put('/api/v1/configurations/other/permissions', grant));
    await ok(200, cleo.client.get(pathOf(node, '/bundle')));
  });

  it('whose parameters are explained child by child, to those who may read the child', async () => {
    const dora = await makeUser(hawser, { username: 'dora', roles: ['Viewer'] });
    await ok(204, assign('explained', 'site'));
    const node = await nodeNamed('explained');
    const grant = { principalType: 'User', principalId: dora.userId, level: 'Read' };
    const { id } = await ok(200, hawser.admin.get('/api/v1/configurations/web'));
    const { id: otherId } = await ok(200, hawser.admin.get('/api/v1/configurations/other'));
    const explain = (what: string, configurationId: string) =>
      dora.client.get(`/api/v1/nodes/${node.nodeId}/parameters/${what}?configurationId=${configurationId}`);
    const WHAT = ['provenance', 'resolution'];
    for (const what of WHAT) await expectProblem(explain(what, id), 404, 'not_found');
    for (const name of ['web', 'other']) {
      await ok(204, hawser.admin.put(`/api/v1/configurations/${name}/parameters/permissions`, grant));
    }
    for (const what of WHAT) {
      await expectProblem(explain(what, id), 404, 'not_found', what);
      // What the node does not get says nothing of a composite.
      await ok(200, explain(what, otherId));
    }
    await ok(204, hawser.admin.put('/api/v1/configurations/web/permissions', grant));
    for (const what of WHAT) await ok(200, explain(what, id));
  });
});
