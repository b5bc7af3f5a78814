// full: SQLite, PostgreSQL
/** Change sets that encrypt secrets: who may propose them, and what they leave out and leave alone. */

import { expect } from 'chai';
import { SETS, setOf } from '../support/change-sets.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import {
  CANARY,
  IN_PROD,
  OldSecrets,
  proposeAnew,
  type ShownSet,
  versionsIn,
} from '../support/old-secrets.ts';
import { assign, poll, pullParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { doDeed, nodeInRing, prepareRings, rolloutsOf, step } from '../support/rollouts.ts';
import { createScopeType, createScopeValue } from '../support/scopes.ts';
import { started } from '../support/started.ts';

describe('change sets that encrypt secrets, for some', () => {
  const hawser = started(startHawser);
  let old: OldSecrets;
  let environment: string;
  let node: NodeUnderTest;

  before(async () => {
    old = new OldSecrets(hawser);
    environment = await createScopeType(hawser, 'Environment');
    await createScopeValue(hawser, environment, 'prod');
    node = await hawser.registerNode('web-01.example.org');
  });

  it('need Modify: on all parameters of what is named, else those that the caller may are taken', async () => {
    const { name, declare } = await old.prepare();
    await old.save(name, `parameters: {pw: ${CANARY}}\n`);
    await old.save(name, `parameters: {pw: ${CANARY}}\n`, IN_PROD);
    await declare();
    const grants = (level: 'Read' | 'Modify') => [
      { on: 'configuration', name, level: 'Read' } as const,
      { on: 'parameters', name, level } as const,
    ];
    const stranger = await makeUser(hawser, { username: 'stranger', permissions: ['nodes.read'] });
    await expectProblem(proposeAnew(stranger, 'seal', name), 404, 'not_found');
    await expectProblem(proposeAnew(hawser.admin, 'seal', 'no-such'), 404, 'not_found');
    await expectProblem(hawser.admin.post(`${SETS}/seal`, { configuration: name }), 400, 'validation_failed');
    await ok(204, proposeAnew(stranger, 'seal'));
    const reader = await makeUser(hawser, { username: 'reader', permissions: [], grants: grants('Read') });
    await expectProblem(proposeAnew(reader, 'seal', name), 403, 'forbidden');
    await ok(204, proposeAnew(reader, 'seal'));
    const writer = await makeUser(hawser, { username: 'writer', permissions: [], grants: grants('Modify') });
    const values = await ok(200, hawser.admin.get(`/api/v1/scope-types/${environment}/values`));
    const restricted = { scopeTypeId: environment, scopeValueId: values[0].id, restricted: true };
    await ok(
      204,
      hawser.admin.put(`/api/v1/configurations/${name}/parameters/permissions`, {
        ...{ principalType: 'User', principalId: reader.userId, level: 'Manage', ...restricted },
      }),
    );
    await expectProblem(proposeAnew(writer, 'seal', name), 403, 'forbidden');
    const set: ShownSet = await ok(201, proposeAnew(writer, 'seal'));
    expect(versionsIn(set), 'prod is restricted').to.deep.equal(['Default 1.0.1']);
    const limited = await writer.withToken('nodes.read');
    await expectProblem(proposeAnew(limited, 'seal', name), 404, 'not_found');
    await ok(204, proposeAnew(limited, 'seal'));
  });

  it('leave out what cannot be published as it is, say so, and refuse where nothing else is left', async () => {
    const { name, declare } = await old.prepare();
    await old.save(name, `parameters: {pw: ${CANARY}}\n`);
    await old.save(name, `parameters:\n  pw: &a ${CANARY}\n`, IN_PROD);
    await declare();
    const set: ShownSet = await ok(201, proposeAnew(hawser.admin, 'seal', name));
    expect(versionsIn(set)).to.deep.equal(['Default 1.0.1']);
    expect(set.description).to.match(
      /^Left out, .*:\n- shop-\d+ Environment\/prod 1\.0\.0: Some secrets cannot/,
    );
    await old.apply(set);
    const { json, text } = await expectProblem(proposeAnew(hawser.admin, 'seal', name), 409, 'not_possible');
    expect(json.errors.map(({ code }: { code: string }) => code)).to.deep.equal(['validation_failed']);
    expect(text).to.not.include(CANARY);
    const other = await old.prepare();
    await old.save(other.name, `parameters: {pw: ${CANARY}}\n`);
    await other.declare();
    const all: ShownSet = await ok(201, proposeAnew(hawser.admin, 'seal'));
    expect(all.description, 'who reads a set may not know of all configurations').to.match(
      /^1 file is left out, [^:]*\.$/,
    );
  });

  it('change nothing for the nodes of other channels', async () => {
    const { name, declare } = await old.prepare();
    await old.save(name, `parameters: {pw: ${CANARY}}\n`);
    await old.save(name, `parameters: {pw: ${CANARY}-rc}\n`, { version: '1.1.0-rc.1' });
    await declare();
    await assign(hawser, node, name);
    const tester = await hawser.registerNode('web-02.example.org');
    await assign(hawser, tester, name, { prereleaseChannel: 'rc' });
    const got = [await pullParameters(node), await pullParameters(tester)];
    const set: ShownSet = await ok(201, proposeAnew(hawser.admin, 'seal', name));
    expect(versionsIn(set)).to.deep.equal([...['Default 1.1.0-rc.1.1', 'Default 1.0.1']]);
    await old.apply(set);
    expect([await pullParameters(node), await pullParameters(tester)]).to.deep.equal(got);
    await old.save(name, 'parameters: {port: 1}\n', { version: '1.0.2-rc.1' });
    await old.rotate();
    const next: ShownSet = await ok(201, proposeAnew(hawser.admin, 'rekey', name));
    expect(versionsIn(next)).to.deep.equal([...['Default 1.1.0-rc.1.1.1', 'Default 1.0.2']]);
    const other = await old.prepare();
    await old.save(other.name, `parameters: {pw: ${CANARY}}\n`);
    await old.save(other.name, 'parameters: {port: 1}\n', { version: '1.0.1-rc.1' });
    await other.declare();
    const { json } = await expectProblem(proposeAnew(hawser.admin, 'seal', other.name), 409, 'not_possible');
    expect(json.detail, 'the next patch would go past the prerelease').to.include('below 1.0.1-rc.1');
  });

  it('open nothing to all nodes that only some get, as a rollout of it lasts or was not completed', async () => {
    const { name, declare } = await old.prepare();
    const rings = await prepareRings(hawser);
    await nodeInRing(hawser, rings.canary, name);
    const rest = await nodeInRing(hawser, null, name);
    await old.save(name, 'parameters: {port: 1}\n');
    await old.save(name, `parameters: {pw: ${CANARY}}\n`, { version: '1.0.1', publish: false });
    const plan = {
      parameters: [{ scopeTypeName: 'Default', scopeValue: null, version: '1.0.1' }],
      ...{ steps: [step('canary', { bakeTime: '10:00:00', minNodes: 1 })], onHalt: 'Keep' },
    };
    await ok(201, hawser.admin.post(rolloutsOf(name), plan));
    await declare();
    const codes = async () => {
      const { json } = await expectProblem(proposeAnew(hawser.admin, 'seal', name), 409, 'not_possible');
      return json.errors.map(({ code }: { code: string }) => code);
    };
    expect(await codes()).to.deep.equal(['rollout_running']);
    await ok(200, doDeed(hawser.admin, `${rolloutsOf(name)}/parameters@1`, 'halt'));
    expect(await codes()).to.deep.equal(['rollout_halted']);
    expect(await pullParameters(rest)).to.equal('parameters:\n  port: 1\n');
    await ok(200, doDeed(hawser.admin, `${rolloutsOf(name)}/parameters@1`, 'complete', 'Halted'));
    expect(versionsIn(await ok(201, proposeAnew(hawser.admin, 'seal', name)))).to.deep.equal([
      'Default 1.0.2',
    ]);
  });

  it('name no draft that somebody has made of the next version, and take back none of it', async () => {
    const { name, declare } = await old.prepare();
    await old.save(name, `parameters: {pw: ${CANARY}}\n`);
    await declare();
    const other = await makeUser(hawser, {
      username: 'other',
      permissions: ['nodes.read'],
      grants: [
        { on: 'configuration', name, level: 'Read' },
        { on: 'parameters', name, level: 'Modify' },
      ],
    });
    const [first, second]: ShownSet[] = [
      await ok(201, proposeAnew(other, 'seal', name)),
      await ok(201, proposeAnew(hawser.admin, 'seal', name)),
    ];
    expect([versionsIn(first as ShownSet), versionsIn(second as ShownSet)]).to.deep.equal([
      ['Default 1.0.1'],
      ['Default 1.0.1'],
    ]);
    await old.save(name, 'parameters: {port: 7}\n', { version: '1.0.1', publish: false });
    const third: ShownSet = await ok(201, proposeAnew(hawser.admin, 'seal', name));
    expect(versionsIn(third), 'the draft is another one by now').to.deep.equal(['Default 1.0.2']);
    const { digest } = first as ShownSet;
    const stale = hawser.admin.post(`${setOf(first as ShownSet)}/apply`, { digest });
    await expectProblem(stale, 412, 'precondition_failed');
    await old.apply(third);
    await ok(204, proposeAnew(hawser.admin, 'seal', name));
  });

  it('give a node nothing of one that was deleted before it', async () => {
    const { name, declare } = await old.prepare();
    const fqdn = 'again.example.org';
    const ofNode = { scopeType: 'Node', value: fqdn };
    const first = await hawser.registerNode(fqdn);
    await old.save(name, `parameters: {pw: ${CANARY}-of-the-first}\n`, ofNode);
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${first.nodeId}`));
    await declare();
    await ok(204, proposeAnew(hawser.admin, 'seal', name));
    const second = await hawser.registerNode(fqdn);
    await assign(hawser, second, name);
    await ok(204, proposeAnew(hawser.admin, 'seal', name));
    expect(await pullParameters(second)).to.equal(null);
  });

  it('are discarded and taken back like every other set', async () => {
    const { name, declare } = await old.prepare();
    await old.save(name, `parameters: {pw: ${CANARY}}\n`);
    await declare();
    await assign(hawser, node, name);
    const before = (await ok(200, poll(node))).checksum;
    const set: ShownSet = await ok(201, proposeAnew(hawser.admin, 'seal', name));
    await old.apply(set);
    const back: ShownSet = await ok(201, hawser.admin.post(`${setOf(set)}/revert`));
    await old.apply(back);
    expect((await ok(200, poll(node))).checksum).to.equal(before);
    const again: ShownSet = await ok(201, proposeAnew(hawser.admin, 'seal', name));
    expect(versionsIn(again), 'a withdrawn version is not free').to.deep.equal(['Default 1.0.2']);
    await ok(204, hawser.admin.delete(setOf(again)));
    expect((await ok(200, hawser.admin.get(setOf(again)))).state).to.equal('Discarded');
  });
});
