// full: SQLite, PostgreSQL
import { expect } from 'chai';
import type { Client } from '../support/client.ts';
import { publishWithChildren } from '../support/composites.ts';
import { create, MAIN, publish } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, saveParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const FILES = { [MAIN]: '$schema: x\nresources: []\n' };
const DECLARING = {
  [MAIN]: `$schema: x
parameters:
  port: {type: int, minValue: 1}
  name: {type: string}
  size: {type: int, defaultValue: 3}
resources: []
`,
};

describe("the resolution of a node's parameters", () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let path: string;

  before(async () => {
    const environment = await createScopeType(hawser, 'Environment');
    await createScopeType(hawser, 'Ring');
    const site = await createScopeType(hawser, 'Site');
    node = await hawser.registerNode('web-01.example.org');
    path = `/api/v1/nodes/${node.nodeId}/parameters`;
    await tagNode(hawser, node.nodeId, await createScopeValue(hawser, site, 'berlin'));
    await tagNode(hawser, node.nodeId, await createScopeValue(hawser, environment, 'prod'));
  });

  async function make(name: string, files: Record<string, string>, ...versions: string[]): Promise<string> {
    await publishConfiguration(
      hawser.admin,
      name,
      Object.fromEntries(versions.map((version) => [version, files])),
    );
    return configurationId(hawser.admin, name);
  }

  const resolution = (query = '', client: Client = hawser.admin) => client.get(`${path}/resolution${query}`);
  const expectProblemOfBoth = async (query: string, status: number, code: string, client?: Client) => {
    for (const what of ['resolution', 'provenance'])
      await expectProblem((client ?? hawser.admin).get(`${path}/${what}${query}`), status, code, what);
  };
  const problemsShown = async () =>
    (await ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}`))).parameterProblems;

  it('is 404 while nothing is assigned, unless a configuration is named', async () => {
    await expectProblemOfBoth('', 404, 'no_configuration_assigned');
    expect(await problemsShown()).to.equal(0);
    const id = await make('unassigned', FILES, '1.0.0', '2.0.0-rc.1');
    expect(await ok(200, resolution(`?configurationId=${id}`))).to.include({
      configurationId: id,
      configurationVersion: '1.0.0',
      prereleaseChannel: null,
    });
  });

  it('lists the scopes that speak for the node in merging order, with the version that each gives', async () => {
    const id = await make('web', FILES, '1.0.0', '2.0.0');
    await assign(hawser, node, 'web', { prereleaseChannel: 'beta' });
    const save = (wish: Omit<Parameters<typeof saveParameters>[1], 'configuration'>) =>
      saveParameters(hawser, { configuration: 'web', ...wish });
    await save({ version: '1.4.0', content: 'parameters: {a: 1}' });
    await save({ version: '1.5.0', content: 'parameters: {a: 1}' });
    await save({ version: '3.0.0', content: 'parameters: {a: 1}' });
    await save({ scopeType: 'Environment', value: 'prod', version: '2.0.0', content: 'parameters: {a: 1}' });
    await save({ scopeType: 'Environment', value: 'prod', version: '2.1.0-rc.1', content: null });
    await save({ scopeType: 'Environment', value: 'test', version: '2.0.0', content: 'parameters: {a: 1}' });
    const draft = { version: '2.0.0', content: 'parameters: {a: 1}', publish: false };
    await save({ scopeType: 'Site', value: 'berlin', ...draft });
    await save({ scopeType: 'Node', value: node.fqdn, version: '2.0.0', content: 'parameters: {a: 1}' });
    const reply = await resolution();
    expect(await ok(200, reply)).to.deep.equal({
      nodeId: node.nodeId,
      configurationId: id,
      configurationVersion: '2.0.0',
      prereleaseChannel: 'beta',
      problems: [],
      scopes: [
        {
          ...{ scopeTypeName: 'Default', scopeValue: null, precedence: 0 },
          ...{ resolvedVersion: '1.5.0', isPrerelease: false, isPassthrough: false },
          ...{ isFallback: true, noPublishedVersion: false },
        },
        {
          ...{ scopeTypeName: 'Environment', scopeValue: 'prod', precedence: 1 },
          ...{ resolvedVersion: '2.1.0-rc.1', isPrerelease: true, isPassthrough: true },
          ...{ isFallback: false, noPublishedVersion: false },
        },
        {
          ...{ scopeTypeName: 'Site', scopeValue: 'berlin', precedence: 3 },
          ...{ resolvedVersion: null, isPrerelease: false, isPassthrough: false },
          ...{ isFallback: false, noPublishedVersion: true },
        },
        {
          ...{ scopeTypeName: 'Node', scopeValue: node.fqdn, precedence: 4 },
          ...{ resolvedVersion: '2.0.0', isPrerelease: false, isPassthrough: false },
          ...{ isFallback: false, noPublishedVersion: false },
        },
      ],
    });
    const etag = String(reply.headers['etag']);
    const again = await hawser.admin.get(`${path}/resolution/`, { 'If-None-Match': etag });
    expect(again.status).to.equal(304);
    await save({ scopeType: 'Site', value: 'berlin', version: '2.0.1', content: 'parameters: {a: 2}' });
    expect((await hawser.admin.get(`${path}/resolution`, { 'If-None-Match': etag })).status).to.equal(200);
    await assign(hawser, node, 'web', { majorVersion: 1 });
    const { configurationVersion, scopes } = await ok(200, resolution());
    expect(configurationVersion).to.equal('1.0.0');
    expect(scopes.map((each: { resolvedVersion: string }) => each.resolvedVersion)).to.deep.equal([
      '1.5.0',
      null,
      null,
      null,
    ]);
  });

  it('of another configuration than the assigned one is what an assignment without wishes would give', async () => {
    await assign(hawser, node, 'web', { majorVersion: 1, prereleaseChannel: 'alpha' });
    const other = await make('other', FILES, '1.0.0', '2.0.0', '2.1.0-alpha');
    expect(await ok(200, resolution(`?configurationId=${other}`))).to.include({
      configurationVersion: '2.0.0',
      prereleaseChannel: null,
    });
    const web = await configurationId(hawser.admin, 'web');
    expect(await ok(200, resolution(`?configurationId=${web}`))).to.include({
      configurationVersion: '1.0.0',
      prereleaseChannel: 'alpha',
    });
  });

  it('of a composite is that of one child, as the composite gives it', async () => {
    const pinned = await make('pinned', DECLARING, '1.0.0', '2.0.0');
    await publishWithChildren(hawser.admin, 'all', '1.0.0', [
      'web',
      { name: 'pinned', activeVersion: '1.0.0' },
    ]);
    await assign(hawser, node, 'all', { isComposite: true, prereleaseChannel: 'rc' });
    await expectProblemOfBoth('', 400, 'configuration_id_required');
    const answer = await ok(200, resolution(`?configurationId=${pinned}`));
    expect(answer).to.include({ configurationVersion: '1.0.0', prereleaseChannel: 'rc' });
    expect(answer.problems).to.have.length(2);
    expect(await problemsShown()).to.equal(2);
    const other = await configurationId(hawser.admin, 'other');
    expect(await ok(200, resolution(`?configurationId=${other}`))).to.include({
      configurationVersion: '2.0.0',
      prereleaseChannel: null,
    });
  });

  it('tells what is wrong with the whole, and the node how much that is', async () => {
    await make('declared', DECLARING, '1.0.0');
    await assign(hawser, node, 'declared');
    const missing = (name: string) => ({
      path: `/parameters/${name}`,
      message: 'Required, as it has no default value',
      code: 'required',
    });
    expect((await ok(200, resolution())).problems).to.deep.equal([missing('port'), missing('name')]);
    expect(await problemsShown()).to.equal(2);
    await saveParameters(hawser, { configuration: 'declared', content: 'parameters: {port: 80}' });
    expect((await ok(200, resolution())).problems).to.deep.equal([missing('name')]);
    expect((await ok(200, hawser.admin.get(`${path}/provenance`))).problems).to.deep.equal([missing('name')]);
    expect(await problemsShown()).to.equal(1);
    const content = 'parameters: {name: web}';
    await saveParameters(hawser, { configuration: 'declared', scopeType: 'Site', value: 'berlin', content });
    expect((await ok(200, resolution())).problems).to.deep.equal([]);
    expect(await problemsShown()).to.equal(0);
  });

  itOnSqlite('is 404 where no version fits, which is no fault of the node', async () => {
    const id = await make('fleeting', DECLARING, '1.0.0');
    await assign(hawser, node, 'fleeting');
    expect(await problemsShown()).to.equal(2);
    hawser.git('configurations/fleeting.git', 'tag', '-d', 'v1.0.0');
    await eventually(() => expectProblemOfBoth('', 404, 'no_eligible_version'));
    await expectProblemOfBoth(`?configurationId=${id}`, 404, 'no_eligible_version');
    expect(await problemsShown()).to.equal(0);
  });

  it('of a configuration that brings its own parameters has scopes that give nothing', async () => {
    await ok(201, create(hawser.admin, 'own', { useServerManagedParameters: 'false' }, { files: DECLARING }));
    await ok(200, publish(hawser.admin, 'own', '1.0.0'));
    await assign(hawser, node, 'own');
    const { scopes, problems } = await ok(200, resolution());
    expect(problems).to.deep.equal([]);
    expect(scopes.map((scope: Record<string, unknown>) => scope['scopeTypeName'])).to.deep.equal([
      'Default',
      'Environment',
      'Site',
      'Node',
    ]);
    for (const scope of scopes) expect(scope).to.include({ resolvedVersion: null, noPublishedVersion: true });
    expect(await ok(200, hawser.admin.get(`${path}/provenance`))).to.deep.include({
      mergedParameters: '{}\n',
      provenance: {},
    });
    expect(await problemsShown()).to.equal(0);
  });

  it('is also for whoever may read the configuration, and of no other', async () => {
    await assign(hawser, node, 'web');
    const grants = [{ on: 'configuration', name: 'web', level: 'Read' }] as const;
    const reader = await makeUser(hawser, { username: 'reader', permissions: ['nodes.read'], grants });
    await ok(200, resolution('', reader));
    const other = await configurationId(hawser.admin, 'other');
    await expectProblemOfBoth(`?configurationId=${other}`, 404, 'not_found', reader);
  });

  it('knows no other node or configuration', async () => {
    await assign(hawser, node, 'web');
    const nowhere = '7a1c5f0e-0000-4000-8000-000000000000';
    for (const query of [`?configurationId=${nowhere}`, '?configurationId=web', '?configurationId='])
      await expectProblemOfBoth(query, 404, 'not_found');
    await expectProblemOfBoth('?configurationId=a&configurationId=b', 400, 'validation_failed');
    for (const id of [nowhere, 'gone.example.org'])
      for (const what of ['resolution', 'provenance'])
        await expectProblem(hawser.admin.get(`/api/v1/nodes/${id}/parameters/${what}`), 404, 'not_found');
  });
});
