// everyday: SQLite, PostgreSQL
import { expect } from 'chai';
import type { Client, Form, Reply } from '../support/client.ts';
import { describeOnSqlite, itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const CONFIGURATIONS = '/api/v1/configurations';

describe('a node pulls what is assigned to it', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let path: string;

  before(async () => {
    node = await hawser.registerNode('web-01.example.org');
    path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': 'one', 'modules/iis.yaml': 'x' },
    });
  });

  const assign = async (configurationName: string, more: Record<string, unknown> = {}): Promise<void> => {
    await ok(204, hawser.admin.put(path, { configurationName, ...more }));
  };
  const checksum = (known?: string): Promise<Reply> =>
    node.client.get(`${path}/checksum`, known === undefined ? {} : { 'If-None-Match': known });
  const draft = async (name: string, version: string, form: Form): Promise<void> => {
    const fields = { version, ...form.fields };
    await ok(201, hawser.admin.upload(`${CONFIGURATIONS}/${name}/versions`, { ...form, fields }));
  };
  const publish = async (name: string, version: string): Promise<void> => {
    await ok(200, hawser.admin.put(`${CONFIGURATIONS}/${name}/versions/${version}/publish`));
  };

  it('answers 404 no_configuration_assigned before anything is assigned', async () => {
    for (const part of ['', '/', '/checksum', '/bundle']) {
      await expectProblem(node.client.get(path + part), 404, 'no_configuration_assigned');
    }
  });

  it('answers a poll with all that an agent reads, and the checksum as ETag', async () => {
    await assign('web');
    const reply = await checksum();
    expect(reply.status).to.equal(200);
    expect(reply.headers['content-type']).to.match(/^application\/json/);
    expect(reply.json).to.have.all.keys(
      'checksum',
      'entryPoint',
      'parametersFile',
      'configurationName',
      'version',
    );
    expect(reply.json).to.include({
      configurationName: 'web',
      version: '1.0.0',
      entryPoint: 'main.dsc.yaml',
      parametersFile: null,
    });
    expect(reply.json.checksum).to.match(/^[0-9a-f]{64}$/);
    expect(reply.headers['etag']).to.equal(`"${reply.json.checksum}"`);
  });

  it('gets 304 for the checksum it knows, in a list, as a weak one and as *', async () => {
    const etag = String((await checksum()).headers['etag']);
    for (const known of [etag, `"x", ${etag}`, `W/${etag}`, '*']) {
      const reply = await checksum(known);
      expect(reply.status).to.equal(304);
      expect(reply.headers['etag']).to.equal(etag);
      expect(reply.bytes.length).to.equal(0);
    }
    expect((await checksum('"x"')).status).to.equal(200);
    expect((await checksum(etag.slice(1, -1))).status).to.equal(200);
  });

  it('sees a publish at its next poll, and a draft never', async () => {
    const etag = String((await checksum()).headers['etag']);
    await draft('web', '1.1.0', { files: { 'main.dsc.yaml': 'two' } });
    expect((await checksum(etag)).status).to.equal(304);
    await publish('web', '1.1.0');
    const next = await checksum(etag);
    expect(next.status).to.equal(200);
    expect(next.json.version).to.equal('1.1.0');
    expect((await node.client.get(path)).text).to.equal('two');
  });

  it('stays on its pinned major version, and follows within it', async () => {
    await assign('web', { majorVersion: 1 });
    const etag = String((await checksum()).headers['etag']);
    await draft('web', '2.0.0', { files: { 'main.dsc.yaml': 'three' } });
    await publish('web', '2.0.0');
    expect((await checksum(etag)).status).to.equal(304);
    await draft('web', '1.1.1', { files: { 'main.dsc.yaml': 'two and a bit' } });
    await publish('web', '1.1.1');
    expect((await checksum(etag)).json.version).to.equal('1.1.1');
    await assign('web');
    expect((await checksum(etag)).json.version).to.equal('2.0.0');
  });

  it('gets a prerelease only in its channel', async () => {
    await draft('web', '2.1.0-rc.1', { files: { 'main.dsc.yaml': 'soon' } });
    await publish('web', '2.1.0-rc.1');
    await assign('web');
    expect((await checksum()).json.version).to.equal('2.0.0');
    await assign('web', { prereleaseChannel: 'rc' });
    expect((await checksum()).json.version).to.equal('2.1.0-rc.1');
  });

  it('downloads the entry point byte for byte with the media type of its name', async () => {
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x00, 0xff, 0x0d, 0x0a, 0x80]);
    const form = { fields: { name: 'typed', entryPoint: 'conf/start.json' } };
    const files = { 'conf/start.json': bytes, 'main.dsc.yaml': 'not this' };
    expect((await hawser.admin.upload(CONFIGURATIONS, { ...form, files })).status).to.equal(201);
    await publish('typed', '1.0.0');
    await assign('typed');
    const reply = await node.client.get(path);
    expect(reply.status).to.equal(200);
    expect(reply.bytes.equals(bytes)).to.equal(true);
    expect(reply.headers['content-type']).to.equal('application/json');
    expect(reply.headers['etag']).to.equal((await checksum()).headers['etag']);
    const again = await node.client.get(path, { 'If-None-Match': String(reply.headers['etag']) });
    expect(again.status).to.equal(304);
    await assign('web');
    expect((await node.client.get(path)).headers['content-type']).to.equal('application/yaml');
  });

  itOnSqlite('answers 404 no_eligible_version once its version is gone', async () => {
    await publishConfiguration(hawser.admin, 'fleeting', { '1.0.0': { 'main.dsc.yaml': 'x' } });
    await assign('fleeting');
    expect((await checksum()).status).to.equal(200);
    hawser.git('configurations/fleeting.git', 'tag', '-d', 'v1.0.0');
    // Stock git has moved the refs under the server, which looks for that every second or so.
    await eventually(async () => {
      expect((await checksum()).json).to.include({ status: 404, code: 'no_eligible_version' });
    });
    expect((await node.client.get(`${path}/bundle`)).json.code).to.equal('no_eligible_version');
    const details = (await hawser.admin.get(`/api/v1/nodes/${node.nodeId}`)).json;
    expect(details.assignment).to.include({ configurationName: 'fleeting', resolvedVersion: null });
  });
});

describeOnSqlite('the checksum changes when and only when what the node gets does', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let path: string;
  const checksums: Record<string, string> = {};

  const FILES = { 'main.dsc.yaml': 'one', 'other.dsc.yaml': 'one', 'lib/a.ps1': 'two' };
  /** Each differs from `base` in one respect. */
  const VARIANTS: Record<string, Form> = {
    base: { fields: { version: '1.0.0' }, files: FILES },
    'the version': { fields: { version: '1.0.1' }, files: FILES },
    'the entry point': { fields: { version: '1.0.0', entryPoint: 'other.dsc.yaml' }, files: FILES },
    'the content of a file': { fields: { version: '1.0.0' }, files: { ...FILES, 'lib/a.ps1': 'three' } },
    'a path': {
      fields: { version: '1.0.0' },
      files: { 'main.dsc.yaml': 'one', 'other.dsc.yaml': 'one', 'lib/b.ps1': 'two' },
    },
    'the contents of two files, exchanged': {
      fields: { version: '1.0.0' },
      files: { ...FILES, 'main.dsc.yaml': 'two', 'lib/a.ps1': 'one' },
    },
    'one file more': { fields: { version: '1.0.0' }, files: { ...FILES, 'lib/b.ps1': '' } },
  };

  before(async () => {
    node = await hawser.registerNode('web-01.example.org');
    path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await publishConfiguration(hawser.admin, 'web', { '0.1.0': FILES });
    await publishConfiguration(hawser.admin, 'web2', { '1.0.0': FILES });
    for (const [respect, form] of Object.entries(VARIANTS)) checksums[respect] = await checksumOf(form);
  });

  const poll = async (configurationName: string): Promise<string> => {
    await ok(204, hawser.admin.put(path, { configurationName }));
    return (await node.client.get(`${path}/checksum`)).json.checksum;
  };

  /** Publishes the form, and makes way again with stock git for another version of the same number. */
  async function checksumOf(form: Form, author: Client = hawser.admin): Promise<string> {
    const version = form.fields?.['version'] ?? '';
    const versions = `${CONFIGURATIONS}/web/versions`;
    const fields = { entryPoint: 'main.dsc.yaml', ...form.fields };
    await ok(201, author.upload(versions, { ...form, fields }));
    await ok(200, author.put(`${versions}/${version}/publish`));
    const checksum = await poll('web');
    hawser.git('configurations/web.git', 'tag', '-d', `v${version}`);
    return checksum;
  }

  for (const respect of Object.keys(VARIANTS).filter((name) => name !== 'base')) {
    it(`another one for another: ${respect}`, () => {
      expect(checksums[respect]).to.match(/^[0-9a-f]{64}$/);
      expect(checksums[respect]).to.not.equal(checksums['base']);
    });
  }

  it('another one for another name, and no two alike', async () => {
    const all = [...Object.values(checksums), await poll('web2')];
    expect(new Set(all).size).to.equal(all.length);
  });

  it('the same for another author, order of upload and commit, and with a draft above', async () => {
    const grants = [{ on: 'configuration', name: 'web', level: 'Modify' }] as const;
    const author = await makeUser(hawser, { username: 'author', permissions: [], grants });
    const files = Object.fromEntries(Object.entries(FILES).reverse());
    const draft = { fields: { version: '1.5.0' }, files: { 'main.dsc.yaml': 'a draft' } };
    expect((await author.upload(`${CONFIGURATIONS}/web/versions`, draft)).status).to.equal(201);
    hawser.clock.advance(60_000);
    const fields = { version: '1.0.0' };
    expect(await checksumOf({ fields, files }, author)).to.equal(checksums['base']);
  });
});

describe('people read what a node gets', () => {
  const hawser = started(startHawser);

  it('which does not count as a call of the node', async () => {
    const { nodeId } = await hawser.registerNode('web-01.example.org');
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { 'main.dsc.yaml': 'one' } });
    const path = `/api/v1/nodes/${nodeId}/configuration`;
    await ok(204, hawser.admin.put(path, { configurationName: 'web' }));
    for (const part of ['', '/checksum', '/bundle']) await ok(200, hawser.admin.get(path + part));
    await hawser.restart();
    expect((await hawser.admin.get(`/api/v1/nodes/${nodeId}`)).json.lastCheckIn).to.equal(null);
  });

  it('not with a grant on its parameters alone', async () => {
    const { nodeId } = await hawser.registerNode('web-02.example.org');
    const path = `/api/v1/nodes/${nodeId}/configuration`;
    await ok(204, hawser.admin.put(path, { configurationName: 'web' }));
    const halfway = await makeUser(hawser, {
      ...{ username: 'halfway', permissions: ['nodes.read'] },
      grants: [{ on: 'parameters', name: 'web', level: 'Manage' }],
    });
    for (const part of ['', '/checksum', '/bundle'])
      await expectProblem(halfway.get(path + part), 404, 'not_found', part);
  });
});
