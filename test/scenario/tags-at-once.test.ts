// everyday: SQLite; full: PostgreSQL
/** Tags that a node gets in one step, so that nobody sees it between the old ones and the new ones. */

import { expect } from 'chai';
import { entriesDuring } from '../support/audit-table.ts';
import { MAIN } from '../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, poll, saveParameters } from '../support/parameter-files.ts';
import { preview } from '../support/previews.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('tags that are set at once', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let other: NodeUnderTest;
  let stage: string;
  let types: { environment: string; site: string };
  let values: { stage: string; prod: string; berlin: string; munich: string };

  before(async () => {
    node = await hawser.registerNode('web-01.example.org');
    other = await hawser.registerNode('web-02.example.org');
    const [environment, site] = [
      await createScopeType(hawser, 'Environment'),
      await createScopeType(hawser, 'Site'),
    ];
    types = { environment, site };
    values = {
      stage: await createScopeValue(hawser, environment, 'stage'),
      prod: await createScopeValue(hawser, environment, 'prod'),
      berlin: await createScopeValue(hawser, site, 'berlin'),
      munich: await createScopeValue(hawser, site, 'munich'),
    };
    stage = values.stage;
  });

  const pathOf = ({ nodeId }: NodeUnderTest) => `/api/v1/nodes/${nodeId}/tags`;
  const put = (scopeValueIds: unknown, to = node) => hawser.admin.put(pathOf(to), { scopeValueIds });
  const tagsOf = async (of = node): Promise<string[]> =>
    (await ok(200, hawser.admin.get(pathOf(of)))).map((tag: { scopeValue: string }) => tag.scopeValue);
  beforeEach(async () => {
    await ok(200, put([]));
    await ok(200, put([], other));
  });

  it('are exactly those that are given, by precedence, with an entry for each that comes or goes', async () => {
    const given = await ok(200, put([values.munich, values.stage]));
    expect(given.map((tag: { scopeValue: string }) => tag.scopeValue)).to.deep.equal(['stage', 'munich']);
    const { entries } = await entriesDuring(hawser, () => ok(200, put([values.prod, values.munich])));
    expect(entries.map(({ action, details }) => [action, details?.['scopeValue']])).to.deep.equal([
      ['node.untagged', 'stage'],
      ['node.tagged', 'prod'],
    ]);
    expect(await tagsOf()).to.deep.equal(['prod', 'munich']);
    const nothing = await entriesDuring(hawser, () => ok(200, put([values.munich, values.prod])));
    expect(nothing.entries).to.deep.equal([]);
    await ok(200, put([]));
    expect(await tagsOf()).to.deep.equal([]);
  });

  it('change nothing where they are refused', async () => {
    await ok(200, put([values.stage]));
    const { entries } = await entriesDuring(hawser, async () => {
      await expectProblem(await put([values.prod, values.stage]), 400, 'validation_failed: custom');
      await expectProblem(await put([values.berlin, UNKNOWN]), 404, 'not_found');
      await expectProblem(
        await hawser.admin.put(`/api/v1/nodes/${UNKNOWN}/tags`, { scopeValueIds: [] }),
        404,
        'not_found',
      );
      expect((await put('x')).status).to.equal(400);
      expect((await hawser.admin.put(pathOf(node), {})).status).to.equal(400);
    });
    expect(entries).to.deep.equal([]);
    expect(await tagsOf()).to.deep.equal(['stage']);
  });

  it('never leave a node between two values', async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await assign(hawser, node, 'web');
    const save = (content: string, scope: { scopeType?: string; value?: string } = {}) =>
      saveParameters(hawser, { configuration: 'web', content, ...scope });
    await save('parameters: {a: 0}\n');
    await save('parameters: {a: 1}\n', { scopeType: 'Environment', value: 'stage' });
    await save('parameters: {a: 2}\n', { scopeType: 'Environment', value: 'prod' });
    const sums: string[] = [];
    for (const id of [values.stage, values.prod]) {
      await ok(200, put([id]));
      sums.push((await poll(node)).json.checksum);
    }
    let isMoving = true;
    const seen = new Set<string>();
    const watching = (async () => {
      while (isMoving) seen.add((await poll(node)).json.checksum);
    })();
    for (let round = 0; round < 10; round += 1) await ok(200, put([round % 2 ? values.prod : values.stage]));
    isMoving = false;
    await watching;
    expect([...seen].filter((sum) => !sums.includes(sum))).to.deep.equal([]);
  });

  it('take the place of those of their types on many nodes, and leave the others', async () => {
    await ok(200, put([values.stage, values.berlin]));
    const nodeIds = [node.nodeId, other.nodeId, UNKNOWN];
    const order = { action: 'SetTags', nodeIds, scopeValueIds: [values.prod] };
    const { json: first } = await hawser.admin.post('/api/v1/nodes/bulk', order);
    expect({ ...first, failed: first.failed.length }).to.deep.equal({ done: 2, unchanged: 0, failed: 1 });
    expect([await tagsOf(), await tagsOf(other)]).to.deep.equal([['prod', 'berlin'], ['prod']]);
    const { json: again } = await hawser.admin.post('/api/v1/nodes/bulk', order);
    expect(again).to.include({ done: 0, unchanged: 2 });
  });

  it('are previewed', async () => {
    await tagNode(hawser, node.nodeId, stage);
    const change = { kind: 'SetTags', nodeIds: [node.nodeId], scopeValueIds: [values.prod] };
    const { counts, changes } = await preview(hawser.admin, [change]);
    expect(counts).to.include({ changed: 1, unresolvable: 0 });
    expect(changes).to.deep.equal([change]);
    expect(await tagsOf()).to.deep.equal(['stage']);
  });

  it('find the nodes that have all of them, and those that have none of a type', async () => {
    await ok(200, put([values.stage, values.berlin]));
    await ok(200, put([values.stage], other));
    const names = async (query: string) =>
      (await ok(200, hawser.admin.get(`/api/v1/nodes?${query}`))).map(({ fqdn }: { fqdn: string }) => fqdn);
    const [both, first] = [[node.fqdn, other.fqdn], [node.fqdn]];
    expect(await names(`scopeValueId=${values.stage}`)).to.deep.equal(both);
    expect(await names(`scopeValueId=${values.stage}&scopeValueId=${values.berlin}`)).to.deep.equal(first);
    expect(await names(`withoutScopeTypeId=${types.site}`)).to.deep.equal([other.fqdn]);
    expect(await names(`scopeValueId=${values.stage}&withoutScopeTypeId=${types.environment}`)).to.deep.equal(
      [],
    );
    const filter = { scopeValueId: [values.stage, values.berlin] };
    const order = { action: 'SetTags', filter, expectedCount: 1, scopeValueIds: [values.munich] };
    expect(await ok(200, hawser.admin.post('/api/v1/nodes/bulk', order))).to.include({ done: 1 });
    expect(await tagsOf()).to.deep.equal(['stage', 'munich']);
  });
});
