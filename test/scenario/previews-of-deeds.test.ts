// full: SQLite, PostgreSQL
/** Previews of withdrawing, of the order of scope types and of settings: each says what the deed then does. */

import { expect } from 'chai';
import { publishWithChildren } from '../support/composites.ts';
import { MAIN, versionsOf } from '../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, poll, saveParameters } from '../support/parameter-files.ts';
import { askFor, preview, type Wish } from '../support/previews.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, NODE_ID, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';
import { withdraw } from '../support/withdrawals.ts';

const YAML = '$schema: x\nresources: []\n';

describe('a preview of a deed', () => {
  const hawser = started(startHawser);
  let nodes: NodeUnderTest[];
  let types: string[];

  before(async () => {
    const { admin } = hawser;
    await publishConfiguration(admin, 'web', {
      '1.0.0': { [MAIN]: YAML },
      '1.1.0': { [MAIN]: `# new\n${YAML}` },
    });
    await publishWithChildren(admin, 'farm', '1.0.0', ['web']);
    nodes = [];
    for (const name of ['direct', 'pinned', 'farmed', 'idle'])
      nodes.push(await hawser.registerNode(`${name}.example.org`));
    const [direct, pinned, farmed] = nodes as [NodeUnderTest, NodeUnderTest, NodeUnderTest];
    await assign(hawser, direct, 'web');
    await assign(hawser, pinned, 'web', { version: '1.1.0' });
    await assign(hawser, farmed, 'farm', { isComposite: true });
    types = [await createScopeType(hawser, 'One'), await createScopeType(hawser, 'Two')];
    for (const [at, type] of types.entries()) {
      const [scopeType, value] = [at === 0 ? 'One' : 'Two', 'x'];
      await tagNode(hawser, direct.nodeId, await createScopeValue(hawser, type, value));
      await saveParameters(hawser, {
        configuration: 'web',
        scopeType,
        value,
        content: `parameters: {a: ${at}}\n`,
      });
    }
  });

  const offered = () =>
    Promise.all(nodes.map(async (node) => ((await poll(node)).json.checksum as string | undefined) ?? null));
  /** Makes the preview, then does the deed: both must agree on how many nodes it touches. */
  async function agrees(changes: Wish[], deed: () => Promise<unknown>): Promise<number> {
    const before = await offered();
    const { counts } = await preview(hawser.admin, changes);
    expect(await offered(), 'a preview changes nothing').to.deep.equal(before);
    await deed();
    const after = await offered();
    const touched = after.filter((sum, at) => sum !== before[at]).length;
    expect(counts.changed + counts.unresolvable).to.equal(touched);
    return touched;
  }

  it('agrees with withdrawing a version and offering it again, also where composites follow it', async () => {
    const of = { configurationName: 'web', version: '1.1.0' };
    const path = `${versionsOf('web')}/1.1.0/withdraw`;
    expect(
      await agrees([{ kind: 'Withdraw', ...of, reason: 'x' }], () => withdraw(hawser.admin, 'web', '1.1.0')),
    ).to.equal(2);
    expect(await agrees([{ kind: 'Restore', ...of }], () => ok(204, hawser.admin.delete(path)))).to.equal(2);
    const farm = { kind: 'Withdraw', compositeName: 'farm', version: '1.0.0', reason: 'x' };
    const { counts } = await preview(hawser.admin, [farm]);
    expect(counts).to.include({ changed: 0, unresolvable: 1 });
  });

  it('is refused as the deed is', async () => {
    const refused = async (change: Wish, code: string) =>
      expectProblem(await askFor(hawser.admin, [change]), 409, code);
    const of = { configurationName: 'web', version: '1.1.0' };
    await refused({ kind: 'Restore', ...of }, 'not_found');
    await refused({ kind: 'Withdraw', ...of, version: '9.9.9' }, 'not_found');
    await refused({ kind: 'DisableScopeType', scopeTypeId: types[0] }, 'not_a_system_scope_type');
    await refused(
      { kind: 'EnableScopeType', scopeTypeId: '00000000-0000-4000-8000-000000000000' },
      'not_found',
    );
    for (const body of [
      { kind: 'Withdraw', version: '1.1.0' },
      { kind: 'Restore', configurationName: 'web', compositeName: 'farm', version: '1.1.0' },
      { kind: 'ReorderScopeTypes', scopeTypeIds: [DEFAULT_ID] },
      { kind: 'SetLcmConfig', nodeIds: [nodes[0]?.nodeId], configurationMode: 'Sometimes' },
    ])
      expect((await askFor(hawser.admin, [body])).status, body.kind).to.equal(400);
  });

  it('agrees with another order of scope types', async () => {
    const order = (...custom: (string | undefined)[]) => ({ scopeTypeIds: [DEFAULT_ID, ...custom, NODE_ID] });
    const [one, two] = types;
    const other = order(two, one);
    expect(
      await agrees([{ kind: 'ReorderScopeTypes', ...other }], () =>
        ok(200, hawser.admin.put('/api/v1/scope-types/reorder', other)),
      ),
    ).to.equal(1);
    const same = await preview(hawser.admin, [{ kind: 'ReorderScopeTypes', ...other }]);
    expect(same.counts.changed).to.equal(0);
  });

  it('of switching a scope type changes nothing, since one with published files cannot be switched off', async () => {
    for (const kind of ['DisableScopeType', 'EnableScopeType'])
      expect((await preview(hawser.admin, [{ kind, scopeTypeId: NODE_ID }])).counts.changed).to.equal(0);
  });

  it('counts the nodes whose settings would be others, in no group', async () => {
    const nodeIds = nodes.map(({ nodeId }) => nodeId);
    const [first] = nodeIds;
    const settings = { configurationMode: 'Remediate' };
    await ok(200, hawser.admin.put(`/api/v1/nodes/${first}/lcm-config`, settings));
    const made = await preview(hawser.admin, [{ kind: 'SetLcmConfig', nodeIds, ...settings }]);
    expect(made.counts).to.include({ nodes: 4, changed: 3, unchanged: 1, unresolvable: 0 });
    expect(made.groupCount).to.equal(0);
    const changed = await ok(200, hawser.admin.get(`/api/v1/previews/${made.id}/nodes?change=Changed`));
    expect(changed.map((each: { groupId: unknown }) => each.groupId)).to.deep.equal([null, null, null]);
    const { desiredConfigurationMode } = await ok(200, hawser.admin.get(`/api/v1/nodes/${nodeIds[1]}`));
    expect(desiredConfigurationMode).to.equal(null);
  });
});
