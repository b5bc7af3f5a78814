// everyday: SQLite
import { expect } from 'chai';
import type { Client, Reply } from '../support/client.ts';
import { addCompositeDraft, createComposite, publishWithChildren } from '../support/composites.ts';
import { addVersion, create, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, saveParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { askFor, PREVIEWS, publishing, setting, type Wish } from '../support/previews.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const UNKNOWN = '0b1f7c52-6a53-4d0e-9d43-7c1d2f0c9a11';
const FILES = { [MAIN]: '$schema: x\nresources: []\n' };
const DECLARING = { files: { [MAIN]: '$schema: x\nparameters:\n  port: {type: int}\nresources: []\n' } };
const RETYPED = { files: { [MAIN]: '$schema: x\nparameters:\n  port: {type: string}\nresources: []\n' } };
const PORT = 'parameters:\n  port: 80\n';

/** What could not be carried out is answered as the deed itself would be, and named by its place. */
describe('a preview of what cannot be done', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let other: NodeUnderTest;
  let prod: string;
  let test: string;

  before(async () => {
    node = await hawser.registerNode('web-01.example.org');
    other = await hawser.registerNode('web-02.example.org');
    await publishConfiguration(hawser.admin, 'plain', { '1.0.0': FILES });
    await publishConfiguration(hawser.admin, 'secret', { '1.0.0': FILES });
    await ok(201, create(hawser.admin, 'web', { version: '1.0.0' }, DECLARING));
    await ok(200, publish(hawser.admin, 'web', '1.0.0'));
    await ok(201, addVersion(hawser.admin, 'web', { version: '1.1.0' }, DECLARING));
    const environment = await createScopeType(hawser, 'Environment');
    await createScopeType(hawser, 'Region', { valueMode: 'Restricted' });
    prod = await createScopeValue(hawser, environment, 'prod');
    test = await createScopeValue(hawser, environment, 'test');
    await tagNode(hawser, other.nodeId, prod);
    await saveParameters(hawser, { configuration: 'web', content: PORT });
    await saveParameters(hawser, { configuration: 'web', version: '1.1.0', content: PORT, publish: false });
    await assign(hawser, node, 'plain');
  });

  const refused = async (
    changes: readonly Wish[],
    status: number,
    code: string,
    at: number | string = 0,
    client: Client = hawser.admin,
  ): Promise<Reply> => {
    const reply = await expectProblem(askFor(client, changes), status, code, JSON.stringify(changes));
    const path = typeof at === 'string' ? at : `/changes/${at}`;
    expect(reply.json.errors.map((error: { path: string }) => error.path)).to.deep.equal([path]);
    return reply;
  };
  const toNode = (kind: string, more: object = {}): Wish => ({ kind, nodeIds: [node.nodeId], ...more });

  it('is 400 for its shape, whatever else is wrong', async () => {
    const shapes: unknown[] = [
      {},
      { changes: [] },
      { changes: Array.from({ length: 21 }, () => publishing('nothing', '1.0.0')) },
      { changes: [{ kind: 'Publish', configurationName: 'nothing', version: '1.0.0' }] },
      { changes: [null] },
      { changes: [{ ...publishing('nothing', '1.0.0'), content: 'x' }] },
      { changes: [setting('nothing', 'latest', PORT)] },
      { changes: [{ ...setting('nothing', '1.0.0', PORT), contentType: 'text/html' }] },
      { changes: [{ ...setting('nothing', '1.0.0', PORT), content: null }] },
      { changes: [toNode('Assign', { configurationName: 'nothing', version: '1.0.0', majorVersion: 1 })] },
      { changes: [{ kind: 'Unassign', nodeIds: [] }] },
      { changes: [{ kind: 'Unassign', nodeIds: ['web-01.example.org'] }] },
      { changes: [{ kind: 'Unassign', nodeIds: Array.from({ length: 1_001 }, () => node.nodeId) }] },
      { changes: [publishing('web', '1.1.0')], nodeIds: Array.from({ length: 21 }, () => node.nodeId) },
      { changes: [publishing('web', '1.1.0')], more: true },
    ];
    for (const shape of shapes)
      await expectInvalid(hawser.admin.post(PREVIEWS, shape), undefined, JSON.stringify(shape));
  });

  it('is 404 for what is not there or may not be read, before any change is tried', async () => {
    const reader = await makeUser(hawser, {
      username: 'reader',
      permissions: ['nodes.read'],
      grants: [{ on: 'configuration', name: 'web', level: 'Read' }],
    });
    const unpublishable = publishing('web', '1.0.0');
    for (const change of [
      publishing('nothing', '1.0.0'),
      publishing('secret', '1.0.0'),
      publishing('WEB', '1.1.0'),
      setting('secret', '2.0.0', PORT),
      { kind: 'PublishComposite', compositeName: 'farm', version: '1.0.0' },
      toNode('Assign', { configurationName: 'secret' }),
      toNode('Assign', { configurationName: 'web', isComposite: true }),
    ])
      await expectProblem(askFor(reader, [unpublishable, change]), 404, 'not_found', JSON.stringify(change));
    await refused([unpublishable], 409, 'already_published', 0, reader);
  });

  it('is 404 for a configuration that the caller knows by its parameters alone', async () => {
    const grants = [{ on: 'parameters', name: 'web', level: 'Manage' }] as const;
    const keeper = await makeUser(hawser, { username: 'keeper', permissions: ['nodes.read'], grants });
    await expectProblem(askFor(keeper, [setting('web', '1.2.0', PORT)]), 404, 'not_found');
  });

  it('answers as the publishing of a configuration does', async () => {
    await refused([publishing('web', '9.9.9')], 409, 'not_found');
    await refused([publishing('web', '1.0.0')], 409, 'already_published');
    await ok(201, addVersion(hawser.admin, 'web', { version: '1.2.0' }, RETYPED));
    const reply = await refused([publishing('web', '1.2.0')], 409, 'incompatible_parameters');
    const deed = await expectProblem(publish(hawser.admin, 'web', '1.2.0'), 409, 'incompatible_parameters');
    expect(reply.json.compatibilityReport).to.deep.equal(deed.json.compatibilityReport);
    expect(reply.json.detail).to.equal(deed.json.detail);
    // Drafts of parameter files would be checked with it.
    await ok(204, hawser.admin.delete(`${versionsOf('web')}/1.2.0`));
  });

  it('answers as the publishing of a composite does', async () => {
    const farm = (version: string): Wish => ({ kind: 'publishcomposite', compositeName: 'farm', version });
    await ok(201, createComposite(hawser.admin, 'farm'));
    await ok(201, addCompositeDraft(hawser.admin, 'farm', '2.0.0'));
    await refused([farm('2.0.0')], 409, 'no_children');
    await refused([farm('1.0.0')], 409, 'not_found');
    await publishWithChildren(hawser.admin, 'farm', '1.0.0', ['web']);
    await refused([farm('1.0.0')], 409, 'already_published');
  });

  it('answers as the publishing of parameters does', async () => {
    const file = (version: string, scope: object = {}): Wish => ({
      ...{ kind: 'PublishParameters', configurationName: 'web', scopeTypeName: 'Default', version },
      ...scope,
    });
    await refused([file('1.0.0')], 409, 'already_published');
    await refused([file('7.0.0')], 409, 'not_found');
    await refused([file('1.0.0', { scopeTypeName: 'Nowhere' })], 409, 'not_found');
    await refused([file('1.0.0', { scopeTypeName: 'Environment', scopeValue: 'prod' })], 409, 'not_found');
    await refused([file('1.1.0', { scopeValue: 'prod' })], 400, 'validation_failed', '/changes/0/scopeValue');
  });

  it('answers as PUT of parameters does', async () => {
    await refused([setting('web', '1.0.0', PORT)], 409, 'published_version');
    await refused([setting('web', '1.0.0+build', PORT)], 409, 'version_exists');
    const nowhere = { scopeTypeName: 'Region', scopeValue: 'north' };
    await refused(
      [setting('web', '1.2.0', PORT, nowhere)],
      400,
      'unknown_scope_value',
      '/changes/0/scopeValue',
    );
    const nobody = { scopeTypeName: 'Node', scopeValue: 'gone.example.org' };
    await refused([setting('web', '1.2.0', PORT, nobody)], 400, 'unknown_node', '/changes/0/scopeValue');
    await refused([setting('web', '1.2.0', 'a: [')], 400, 'validation_failed', '/changes/0/content');
    const wrong = 'parameters:\n  port: many\n';
    const reply = await refused(
      [setting('web', '1.2.0', wrong)],
      400,
      'validation_failed',
      '/changes/0/parameters/port',
    );
    const path = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'web')}`;
    const deed = await hawser.admin.put(path, { version: '1.2.0', content: wrong });
    expect(deed.status).to.equal(400);
    expect(reply.json.detail).to.equal(deed.json.detail);
  });

  it('holds for the validation mode of the configuration', async () => {
    const mode = (parameterValidationMode: string) =>
      ok(200, hawser.admin.put('/api/v1/configurations/web/settings', { parameterValidationMode }));
    await mode('Warn');
    expect(
      (await askFor(hawser.admin, [setting('web', '1.2.0', 'parameters:\n  port: many\n')])).status,
    ).to.be.oneOf([201, 202]);
    await ok(204, hawser.admin.delete('/api/v1/configurations/web/settings'));
  });

  it('answers as assigning does, and an unknown node is 409', async () => {
    await refused(
      [toNode('Assign', { configurationName: 'web', version: '1.1.0' })],
      409,
      'no_eligible_version',
    );
    await refused(
      [toNode('Assign', { configurationName: 'web', majorVersion: 4 })],
      409,
      'no_eligible_version',
    );
    const nobody = { nodeIds: [node.nodeId, UNKNOWN] };
    await refused([{ kind: 'Assign', configurationName: 'web', ...nobody }], 409, 'not_found');
    await refused([{ kind: 'Unassign', ...nobody }], 409, 'not_found');
  });

  it('answers as tagging does', async () => {
    await refused([toNode('Tag', { scopeValueId: UNKNOWN })], 409, 'not_found');
    await refused([toNode('Untag', { scopeValueId: prod })], 409, 'not_found');
    const both = { nodeIds: [node.nodeId, other.nodeId] };
    await refused([{ kind: 'Tag', scopeValueId: test, ...both }], 409, 'scope_type_already_tagged');
    await refused([{ kind: 'Untag', scopeValueId: prod, ...both }], 409, 'not_found');
  });

  it('is 409 for a node to which it is to be narrowed, and that is not there', async () => {
    const changes = [publishing('web', '1.1.0')];
    const reply = await expectProblem(
      askFor(hawser.admin, changes, [node.nodeId, UNKNOWN]),
      409,
      'not_found',
    );
    expect(reply.json.errors).to.have.length(1);
    expect(reply.json.errors[0]).to.include({ path: '/nodeIds/1', code: 'not_found' });
  });

  it('counts each change in for those after it', async () => {
    const onlyThen = toNode('Assign', { configurationName: 'web', version: '1.1.0' });
    await refused(
      [publishing('web', '1.1.0'), onlyThen, publishing('web', '1.1.0')],
      409,
      'already_published',
      2,
    );
    const elsewhere = { scopeTypeName: 'Environment', scopeValue: 'Stage' };
    const again = { scopeTypeName: 'environment', scopeValue: 'stage' };
    const file = setting('web', '1.0.0', PORT, elsewhere);
    await refused([file, setting('web', '1.0.0', PORT, again)], 409, 'published_version', 1);
    const published = { ...again, kind: 'PublishParameters', configurationName: 'web', version: '1.0.0' };
    await refused([file, published], 409, 'already_published', 1);
    await refused([setting('web', '1.1.0', PORT), setting('web', '1.1.0+a', PORT)], 409, 'version_exists', 1);
    const tag = toNode('Tag', { scopeValueId: prod });
    const untag = toNode('Untag', { scopeValueId: prod });
    await refused([tag, untag, tag, tag], 409, 'scope_type_already_tagged', 3);
    const moved = { kind: 'Untag', nodeIds: [other.nodeId], scopeValueId: prod };
    await refused([moved, { ...moved, kind: 'Tag', scopeValueId: test }, moved], 409, 'not_found', 2);
  });

  it('names the first of twenty changes that contradict each other', async () => {
    const tag = toNode('Tag', { scopeValueId: prod });
    const untag = toNode('Untag', { scopeValueId: prod });
    const changes = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? tag : untag));
    changes[13] = tag;
    await refused(changes, 409, 'scope_type_already_tagged', 13);
  });

  it('changes nothing', async () => {
    expect((await ok(200, hawser.admin.get('/api/v1/configurations/web'))).latestPublishedVersion).to.equal(
      '1.0.0',
    );
    expect(await ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}/tags`))).to.deep.equal([]);
  });
});
