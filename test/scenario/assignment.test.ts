// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { newId } from '../../src/lib/ids.ts';
import type { Client, Reply } from '../support/client.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { etagOf, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const FILES = { 'main.dsc.yaml': 'content' };
const pathOf = (nodeId: string) => `/api/v1/nodes/${nodeId}/configuration`;

describe('an operator assigns a configuration to a node', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;

  before(async () => {
    node = await hawser.registerNode('web-01.example.org');
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': FILES,
      '1.2.0': FILES,
      '2.0.0-rc.1': FILES,
      '2.0.0': FILES,
      '2.1.0': FILES,
    });
    await publishConfiguration(hawser.admin, 'next', { '3.0.0-beta.1': FILES, '3.0.0-beta.2': FILES });
    await publishConfiguration(hawser.admin, 'rc', { '1.0.0-rc.1': FILES });
    const draft = { fields: { name: 'unpublished' }, files: FILES };
    await ok(201, hawser.admin.upload('/api/v1/configurations', draft));
  });

  const assign = (body: unknown, client: Client = hawser.admin): Promise<Reply> =>
    client.put(pathOf(node.nodeId), body);
  const delivered = async (): Promise<string> => {
    const { json } = await node.client.get(`${pathOf(node.nodeId)}/checksum`);
    return json.version ?? json.code;
  };
  const assignment = async (): Promise<unknown> =>
    (await hawser.admin.get(`/api/v1/nodes/${node.nodeId}`)).json.assignment;

  it('answers 204 without a body, and the node gets it at its next poll', async () => {
    const reply = await assign({ configurationName: 'web' });
    expect(reply.status).to.equal(204);
    expect(reply.bytes.length).to.equal(0);
    expect(await delivered()).to.equal('2.1.0');
    expect(await assignment()).to.deep.equal({
      configurationName: 'web',
      isComposite: false,
      majorVersion: null,
      prereleaseChannel: null,
      version: null,
      resolvedVersion: '2.1.0',
      pinnedToWithdrawn: false,
    });
  });

  it('replaces the assignment as a whole', async () => {
    const pinned = { configurationName: 'web', majorVersion: 1, prereleaseChannel: 'rc' };
    await ok(204, assign(pinned));
    expect(await delivered()).to.equal('1.2.0');
    await ok(204, assign({ configurationName: 'next', prereleaseChannel: 'beta' }));
    expect(await assignment()).to.deep.equal({
      configurationName: 'next',
      isComposite: false,
      majorVersion: null,
      prereleaseChannel: 'beta',
      version: null,
      resolvedVersion: '3.0.0-beta.2',
      pinnedToWithdrawn: false,
    });
    const explicit = { isComposite: null, majorVersion: null, prereleaseChannel: null };
    await ok(204, assign({ configurationName: 'web', ...explicit }));
    expect(await delivered()).to.equal('2.1.0');
  });

  it('answers 404 to an unknown configuration, composite or node', async () => {
    for (const body of [
      { configurationName: 'nothing' },
      { configurationName: 'WEB' },
      { configurationName: 'web', isComposite: true },
    ]) {
      await expectProblem(assign(body), 404, 'not_found');
    }
    for (const id of [newId(), 'web-02.example.org']) {
      expect((await hawser.admin.put(pathOf(id), { configurationName: 'web' })).status).to.equal(404);
      expect((await hawser.admin.delete(pathOf(id))).status).to.equal(404);
    }
    expect(await delivered()).to.equal('2.1.0');
  });

  for (const [fault, body] of Object.entries({
    'only drafts': { configurationName: 'unpublished' },
    'none of that major version': { configurationName: 'web', majorVersion: 9 },
    'prereleases alone, and no channel': { configurationName: 'next' },
    'a prerelease just below the channel': { configurationName: 'rc', prereleaseChannel: 'rc.2' },
  })) {
    it(`answers 409 no_eligible_version to ${fault}, and keeps what was assigned`, async () => {
      await expectProblem(assign(body), 409, 'no_eligible_version');
      expect(await delivered()).to.equal('2.1.0');
    });
  }

  for (const [fault, body] of [
    ['no name', {}],
    ['a negative major version', { configurationName: 'web', majorVersion: -1 }],
    ['a major version as text', { configurationName: 'web', majorVersion: '1' }],
    ['an empty channel', { configurationName: 'web', prereleaseChannel: '' }],
    ['a channel that is no prerelease', { configurationName: 'web', prereleaseChannel: 'rc..1' }],
    ['a flag as text', { configurationName: 'web', isComposite: 'no' }],
    ['an unknown member', { configurationName: 'web', versions: '1.0.0' }],
    ['null', null],
  ] as [string, unknown][]) {
    it(`answers 400 to ${fault}`, async () => {
      const reply = await expectProblem(assign(body), 400, 'validation_failed');
      expect(reply.json.errors.length).to.be.greaterThan(0);
    });
  }

  it('takes it back with 204, also when nothing is assigned', async () => {
    await ok(204, assign({ configurationName: 'web' }));
    for (const _ of [1, 2]) expect((await hawser.admin.delete(pathOf(node.nodeId))).status).to.equal(204);
    expect(await delivered()).to.equal('no_configuration_assigned');
    expect(await assignment()).to.equal(null);
  });

  it('heeds If-Match: the validator is that of what the node gets', async () => {
    const put = (body: unknown, etag: string) =>
      hawser.admin.call('PUT', pathOf(node.nodeId), { json: body, headers: { 'If-Match': etag } });
    const remove = (etag: string) =>
      hawser.admin.call('DELETE', pathOf(node.nodeId), { headers: { 'If-Match': etag } });
    await ok(204, assign({ configurationName: 'web' }));
    const etag = await etagOf(hawser.admin, pathOf(node.nodeId));
    await expectProblem(
      put({ configurationName: 'rc', prereleaseChannel: 'rc' }, '"other"'),
      412,
      'precondition_failed',
    );
    expect((await remove('"other"')).status).to.equal(412);
    expect(await delivered()).to.equal('2.1.0');
    await ok(204, put({ configurationName: 'web', majorVersion: 1 }, etag));
    expect((await put({ configurationName: 'web' }, etag)).status).to.equal(412);
    expect(await delivered()).to.equal('1.2.0');
    await ok(204, remove('*'));
    expect((await remove('*')).status).to.equal(412);
  });

  it('wants nodes.assign-configuration, and Read on the configuration, else it seems not to exist', async () => {
    const permissions = ['nodes.read', 'nodes.assign-configuration'] as const;
    const blind = await makeUser(hawser, { username: 'blind', permissions });
    const unreadable = await assign({ configurationName: 'web' }, blind);
    const unknown = await assign({ configurationName: 'nothing' }, blind);
    expect(unreadable.status).to.equal(404);
    const withoutDate = ({ headers: { date: _, 'x-request-id': __, ...headers }, text }: Reply) =>
      JSON.stringify(headers) + text;
    expect(withoutDate(unreadable)).to.equal(withoutDate(unknown));
    // What cannot be read cannot be asked for its versions either.
    expect((await assign({ configurationName: 'unpublished' }, blind)).status).to.equal(404);
    const grants = [{ on: 'configuration', name: 'web', level: 'Read' }] as const;
    const reader = await makeUser(hawser, { username: 'reader', permissions, grants });
    await ok(204, assign({ configurationName: 'web' }, reader));
    expect((await assign({ configurationName: 'next', prereleaseChannel: 'beta' }, reader)).status).to.equal(
      404,
    );
  });
});
