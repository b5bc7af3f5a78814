// everyday: SQLite; full: PostgreSQL
/** Who gives nodes something new must be allowed to read all of it, also the children of a composite. */

import { expect } from 'chai';
import { auditedDuring } from '../support/audit.ts';
import {
  addChild,
  addCompositeDraft,
  compositeVersionOf,
  publishWithChildren,
} from '../support/composites.ts';
import { MAIN } from '../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationPath, poll, saveParameters } from '../support/parameter-files.ts';
import { grant, makeUser, type Person } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const BULK = '/api/v1/nodes/bulk';
const FARM = { configurationName: 'farm', isComposite: true };

describe('handing out a composite', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let known: NodeUnderTest;
  /** May assign, and read the composite, but not its child. */
  let operator: Person;

  before(async () => {
    const { admin } = hawser;
    for (const name of ['child', 'other'])
      await publishConfiguration(admin, name, {
        '1.0.0': { [MAIN]: `$schema: x\nresources: []\n# of ${name}\n` },
      });
    await publishWithChildren(admin, 'farm', '1.0.0', ['child']);
    await publishWithChildren(admin, 'farm', '2.0.0', ['child']);
    [node, known] = [
      await hawser.registerNode('new.example.org'),
      await hawser.registerNode('old.example.org'),
    ];
    await assign(hawser, known, 'farm', { isComposite: true, majorVersion: 1 });
    operator = await makeUser(hawser, {
      username: 'operator',
      permissions: ['nodes.read', 'nodes.assign-configuration'],
      grants: [{ on: 'composite', name: 'farm', level: 'Manage' }],
    });
  });

  const expectNothing = async (work: () => Promise<unknown>) => {
    expect(await auditedDuring(hawser, work)).to.deep.equal([]);
    await expectProblem(poll(node), 404, 'no_configuration_assigned');
  };
  const give = (to: NodeUnderTest, more: object = {}, who: Person = operator) =>
    who.put(configurationPath(to), { ...FARM, ...more });

  it('is refused to who may not read a child, as if it were not there, one by one and in bulk', async () => {
    const unknown = await expectProblem(give(node, { configurationName: 'nothing' }), 404, 'not_found');
    await expectNothing(async () => {
      const refused = await expectProblem(give(node), 404, 'not_found');
      expect(refused.json.detail).to.equal(unknown.json.detail);
      const nodeIds = [known.nodeId, node.nodeId];
      const bulk = operator.post(BULK, { action: 'Assign', nodeIds, ...FARM });
      expect((await expectProblem(bulk, 404, 'not_found')).text).to.not.include('child');
    });
  });

  it('is free where the node has it already', async () => {
    await ok(204, give(known, { majorVersion: 2 }));
    expect((await ok(200, poll(known))).version).to.equal('2.0.0');
    const again = { action: 'Assign', nodeIds: [known.nodeId], ...FARM, majorVersion: 1 };
    expect(await ok(200, operator.post(BULK, again))).to.include({ done: 1 });
  });

  it('goes by the token that asks, and by the rights at the time', async () => {
    await grant(hawser, operator, 'child', 'Read');
    const scopes = ['nodes.read', 'nodes.assign-configuration', 'composite-configurations.grants'];
    const weak = await operator.withToken(...scopes);
    await expectNothing(() => expectProblem(weak.put(configurationPath(node), FARM), 404, 'not_found'));
    await ok(204, give(node));
    await ok(200, poll(node));
    await ok(204, hawser.admin.delete(configurationPath(node)));
    await grant(hawser, operator, 'child', null);
    await expectNothing(() => expectProblem(give(node), 404, 'not_found'));
  });

  it('by publishing a version asks for the children that are new to its nodes', async () => {
    const { admin } = hawser;
    const draft = async (version: string, children: readonly string[]) => {
      await ok(201, addCompositeDraft(admin, 'farm', version));
      for (const child of children) await ok(201, addChild(admin, 'farm', version, child));
    };
    const publish = (version: string) => operator.put(`${compositeVersionOf('farm', version)}/publish`);
    await assign(hawser, known, 'farm', { isComposite: true });
    await draft('3.0.0', ['child', 'other']);
    const refused = await expectProblem(publish('3.0.0'), 404, 'not_found');
    expect(refused.text).to.not.include('other');
    expect((await ok(200, admin.get(compositeVersionOf('farm', '3.0.0')))).status).to.equal('Draft');
    await draft('2.1.0', ['child']);
    await ok(200, publish('2.1.0'));
    // The nodes that have an older major get no other.
    await assign(hawser, known, 'farm', { isComposite: true, majorVersion: 1 });
    await assign(hawser, node, 'farm', { isComposite: true, majorVersion: 2 });
    await draft('4.0.0', ['other']);
    await ok(200, publish('4.0.0'));
    await draft('1.1.0', ['other']);
    await expectProblem(publish('1.1.0'), 404, 'not_found');
    await assign(hawser, node, 'farm', { isComposite: true });
    await grant(hawser, operator, 'other', 'Read');
    await ok(200, publish('3.0.0'));
    await grant(hawser, operator, 'other', null);
  });
});

describe('tagging a node', () => {
  const hawser = started(startHawser);
  const VALUE = 'a-value-that-not-everybody-reads';
  let values: Record<'prod' | 'idle', string>;
  let tagger: Person;
  let onWeb: NodeUnderTest;
  let onFarm: NodeUnderTest;
  let onOther: NodeUnderTest;

  before(async () => {
    const { admin } = hawser;
    for (const name of ['web', 'other'])
      await publishConfiguration(admin, name, { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await publishWithChildren(admin, 'farm', '1.0.0', ['web']);
    const type = await createScopeType(hawser, 'Environment');
    values = {
      prod: await createScopeValue(hawser, type, 'prod'),
      idle: await createScopeValue(hawser, type, 'idle'),
    };
    const content = `parameters:\n  greeting: ${VALUE}\n`;
    await saveParameters(hawser, { configuration: 'web', scopeType: 'Environment', value: 'prod', content });
    [onWeb, onFarm, onOther] = [
      await hawser.registerNode('on-web.example.org'),
      await hawser.registerNode('on-farm.example.org'),
      await hawser.registerNode('on-other.example.org'),
    ];
    await assign(hawser, onWeb, 'web');
    await assign(hawser, onFarm, 'farm', { isComposite: true });
    await assign(hawser, onOther, 'other');
    tagger = await makeUser(hawser, { username: 'tagger', permissions: ['nodes.read', 'nodes.write'] });
  });

  const tag = ({ nodeId }: NodeUnderTest, value: keyof typeof values) =>
    tagger.post(`/api/v1/nodes/${nodeId}/tags`, { scopeValueId: values[value] });
  const inBulk = (value: keyof typeof values) =>
    tagger.post(BULK, {
      action: 'Tag',
      nodeIds: [onWeb.nodeId, onFarm.nodeId, onOther.nodeId],
      scopeValueId: values[value],
    });

  it('asks for the files that it gives, one by one and in bulk, and nothing where it gives none', async () => {
    for (const node of [onWeb, onFarm]) {
      const refused = await expectProblem(tag(node, 'prod'), 403, 'beyond_own_permissions');
      expect(refused.text).to.not.include(VALUE);
    }
    const { done, failed } = await ok(200, inBulk('prod'));
    expect(done).to.equal(1);
    expect(failed.map(({ nodeId, code }: Record<string, string>) => [nodeId, code])).to.deep.equal([
      [onWeb.nodeId, 'beyond_own_permissions'],
      [onFarm.nodeId, 'beyond_own_permissions'],
    ]);
    for (const node of [onWeb, onFarm])
      expect(await ok(200, tagger.get(`/api/v1/nodes/${node.nodeId}/tags`))).to.deep.equal([]);
    await ok(201, tag(onWeb, 'idle'));
    await ok(204, tagger.delete(`/api/v1/nodes/${onWeb.nodeId}/tags/${values.idle}`));
  });

  it('is done by who may read them', async () => {
    await grant(hawser, tagger, 'web', 'Read');
    await ok(201, tag(onWeb, 'prod'));
    expect(await ok(200, inBulk('prod'))).to.include({ done: 1, unchanged: 2 });
  });
});
