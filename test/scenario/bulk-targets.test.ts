// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { NodeFilter } from '../../src/api/nodes/schemas.ts';
import { newId } from '../../src/lib/ids.ts';
import { entriesDuring } from '../support/audit-table.ts';
import type { Client, Reply } from '../support/client.ts';
import { withDatabase } from '../support/database.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const BULK = '/api/v1/nodes/bulk';

describe('the nodes of a bulk deed', () => {
  const hawser = started(startHawser);
  let nodes: NodeUnderTest[];
  let ids: string[];
  let north: string;

  before(async () => {
    nodes = [];
    for (const name of ['web-01', 'web-02', 'db-01'])
      nodes.push(await hawser.registerNode(`${name}.example.org`));
    ids = nodes.map(({ nodeId }) => nodeId);
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { 'main.dsc.yaml': 'content' } });
    north = await createScopeValue(hawser, await createScopeType(hawser, 'Region'), 'north');
    await tagNode(hawser, ids[2] ?? '', north);
    const [first] = nodes;
    await ok(
      204,
      first?.client.put(`/api/v1/nodes/${first.nodeId}/lcm-status`, { lcmStatus: 'Idle' }) as Promise<Reply>,
    );
    await ok(204, hawser.admin.put(`/api/v1/nodes/${ids[1]}/configuration`, { configurationName: 'web' }));
  });

  const bulk = (body: unknown, client: Client = hawser.admin): Promise<Reply> => client.post(BULK, body);
  let minutes = 0;
  /** Something that changes each node every time. */
  const another = () => {
    minutes += 1;
    return { action: 'SetLcmConfig', configurationModeInterval: `PT${minutes}M` };
  };
  /** The names of the nodes that the deed changes. */
  const changedBy = async (filter: object, expectedCount: number): Promise<string[]> => {
    const order = { ...another(), filter, expectedCount };
    const { entries } = await entriesDuring(hawser, () => ok(200, bulk(order)));
    return entries.map(({ details }) => details.fqdn.split('.')[0]);
  };
  const expectNothing = async (work: () => Promise<unknown>) => {
    const { entries } = await entriesDuring(hawser, work);
    expect(entries).to.deep.equal([]);
  };

  for (const [query, filter, found] of [
    ['', {}, ['db-01', 'web-01', 'web-02']],
    ['fqdn=WEB', { fqdn: 'WEB' }, ['web-01', 'web-02']],
    ['lcmStatus=idle', { lcmStatus: 'idle' }, ['web-01']],
    ['configurationName=web', { configurationName: 'web' }, ['web-02']],
    ['unassigned=true', { unassigned: true }, ['db-01', 'web-01']],
    ['stale=true', { stale: true, fqdn: null }, []],
  ] as const)
    it(`are those of the list with ${query || 'no filter'}, by fqdn`, async () => {
      const list = await ok(200, hawser.admin.get(`/api/v1/nodes?${query}`));
      expect(list.map(({ fqdn }: { fqdn: string }) => fqdn.split('.')[0])).to.deep.equal(found);
      expect(await changedBy(filter, found.length)).to.deep.equal(found);
    });

  it('are those with a tag', async () => {
    expect(await changedBy({ scopeValueId: north }, 1)).to.deep.equal(['db-01']);
  });

  it('can be told by every member of the query of the list, but those of its pages', async () => {
    const { take: _take, skip: _skip, ...members } = NodeFilter.shape as Record<string, unknown>;
    for (const member of Object.keys(members).filter((name) => name !== 'sort'))
      await ok(200, bulk({ action: 'Unassign', filter: { [member]: null, fqdn: 'none' }, expectedCount: 0 }));
    for (const member of ['take', 'skip', 'sort', 'name'])
      await expectProblem(
        bulk({ action: 'Unassign', filter: { [member]: '1' }, expectedCount: 0 }),
        400,
        'validation_failed: unrecognized_keys',
      );
  });

  it('of another number than expected are left alone', async () => {
    await expectNothing(async () => {
      for (const expectedCount of [0, 1, 3, 10_000])
        await expectProblem(
          bulk({ ...another(), filter: { fqdn: 'web' }, expectedCount }),
          409,
          'count_changed',
        );
      const [first] = ids;
      for (const expectedCount of [0, 2])
        await expectProblem(
          bulk({ ...another(), nodeIds: [first, first], expectedCount }),
          409,
          'count_changed',
        );
    });
    const twice = { ...another(), nodeIds: [ids[0], ids[0]], expectedCount: 1 };
    expect(await ok(200, bulk(twice))).to.include({ done: 1 });
  });

  it('can be none', async () => {
    const none = { filter: { fqdn: 'nothing' }, expectedCount: 0 };
    expect(await ok(200, bulk({ action: 'Delete', ...none }))).to.deep.equal({
      ...{ done: 0, unchanged: 0, failed: [] },
    });
  });

  const [ID, SET] = ['7d1e0f3a-52c4-4e0b-8f1d-3a9b6c5d4e21', { action: 'SetLcmConfig' }];
  for (const [fault, body, code] of [
    ['neither ids nor a filter', SET, 'custom'],
    ['ids and a filter', { ...SET, nodeIds: [ID], filter: {}, expectedCount: 1 }, 'custom'],
    ['a filter without a number', { ...SET, filter: {} }, 'custom'],
    ['no ids', { ...SET, nodeIds: [] }, 'custom'],
    ['ids that are no list', { ...SET, nodeIds: ID }, 'invalid_type'],
    ['too many ids', { ...SET, nodeIds: Array(10_001).fill(ID) }, 'custom'],
    ['an id that is none', { ...SET, nodeIds: ['web-01.example.org'] }, 'invalid_format'],
    ['too large a number', { ...SET, filter: {}, expectedCount: 10_001 }, 'too_big'],
    ['a negative number', { ...SET, filter: {}, expectedCount: -1 }, 'too_small'],
    ['a flag as text', { ...SET, filter: { stale: 'true' }, expectedCount: 0 }, 'invalid_type'],
    ['a control character', { ...SET, filter: { fqdn: 'a\u0001' }, expectedCount: 0 }, 'control_character'],
    ['no action', { nodeIds: [ID] }, 'invalid_union'],
    ['an unknown action', { action: 'Restart', nodeIds: [ID] }, 'invalid_union'],
    ['a member of another action', { ...SET, nodeIds: [ID], scopeValueId: ID }, 'unrecognized_keys'],
    ['no scope value', { action: 'Tag', nodeIds: [ID] }, 'invalid_type'],
    ['no configuration', { action: 'Assign', nodeIds: [ID] }, 'invalid_type'],
    ['a list', [], 'invalid_type'],
  ] as const)
    it(`answers 400 to ${fault}`, () =>
      expectNothing(() => expectProblem(bulk(body), 400, `validation_failed: ${code}`, fault)));

  it('takes 10,000 ids', async function () {
    // Each node has a lock, which costs PostgreSQL some messages.
    this.timeout(240_000);
    const nodeIds = Array.from({ length: 10_000 }, newId);
    const { done, failed } = await ok(200, bulk({ action: 'Unassign', nodeIds, expectedCount: 10_000 }));
    expect(done).to.equal(0);
    expect(failed.map(({ nodeId }: { nodeId: string }) => nodeId)).to.deep.equal(nodeIds);
  });

  describe('may be changed by whoever may do the same to one', () => {
    const ORDERS = [
      [{ action: 'Assign', configurationName: 'web' }, 'nodes.assign-configuration'],
      [{ action: 'Unassign' }, 'nodes.assign-configuration'],
      [{ action: 'Tag', scopeValueId: newId() }, 'nodes.write'],
      [{ action: 'Untag', scopeValueId: newId() }, 'nodes.write'],
      [{ action: 'SetLcmConfig' }, 'nodes.write'],
      [{ action: 'delete' }, 'nodes.delete'],
    ] as const;
    const PERMISSIONS = [...new Set(ORDERS.map(([, permission]) => permission))];

    it('and 403 names the permission and who lacks it, before anything else is looked at', async () => {
      const nora = await makeUser(hawser, { username: 'nora', permissions: ['nodes.read'] });
      const ella = await makeUser(hawser, { username: 'ella', permissions: [...PERMISSIONS, 'nodes.read'] });
      const token = await ella.withToken('nodes.read');
      await expectNothing(async () => {
        for (const [order, permission] of ORDERS)
          for (const [client, by] of [
            [nora.client, 'User'],
            [token, 'Token'],
          ] as const)
            for (const rest of [{ nodeIds: ids }, { nodeIds: 'all' }, {}]) {
              const { json } = await expectProblem(bulk({ ...order, ...rest }, client), 403, 'forbidden');
              expect(json.missing, order.action).to.deep.equal({ permission, by });
            }
        for (const body of [{}, { action: 'Restart' }, undefined])
          await expectProblem(bulk(body, nora.client), 403, 'forbidden');
      });
    });

    it('and each permission opens its own actions alone', async () => {
      for (const [at, permission] of PERMISSIONS.entries()) {
        const person = await makeUser(hawser, { username: `person-${at}`, permissions: [permission] });
        for (const [order, needed] of ORDERS) {
          const { status } = await bulk({ ...order, nodeIds: [newId()] }, person.client);
          if (needed === permission) expect(status, order.action).to.be.oneOf([200, 404]);
          else expect(status, order.action).to.equal(403);
        }
      }
    });

    it('and a filter needs nodes.read too', async () => {
      const paul = await makeUser(hawser, { username: 'paul', permissions: ['nodes.write'] });
      const order = { ...another(), filter: {}, expectedCount: 3 };
      await expectNothing(async () => {
        const { json } = await expectProblem(bulk(order, paul.client), 403, 'forbidden');
        expect(json.missing).to.deep.equal({ permission: 'nodes.read', by: 'User' });
      });
      expect(await ok(200, bulk({ ...another(), nodeIds: ids }, paul.client))).to.include({ done: 3 });
    });
  });

  it('that were deleted meanwhile fail alone', async () => {
    const gone = await hawser.registerNode('gone-01.example.org');
    await withDatabase(hawser, ({ write }) =>
      write.deleteFrom('nodes').where('id', '=', gone.nodeId).execute(),
    );
    const result = await ok(200, bulk({ ...another(), nodeIds: [gone.nodeId, ...ids] }));
    expect(result).to.deep.equal({
      ...{ done: 3, unchanged: 0 },
      failed: [{ nodeId: gone.nodeId, fqdn: null, code: 'not_found', message: 'No such node' }],
    });
  });
});
