// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { newId } from '../../src/lib/ids.ts';
import { type Entry, entriesDuring } from '../support/audit-table.ts';
import type { Client, Reply } from '../support/client.ts';
import { withDatabase } from '../support/database.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const BULK = '/api/v1/nodes/bulk';
const MAIN = { 'main.dsc.yaml': 'content' };

describe('one thing is done to many nodes', () => {
  const hawser = started(startHawser);
  let nodes: NodeUnderTest[];
  let ids: string[];
  let region: string;
  let north: string;
  let south: string;

  before(async () => {
    nodes = [];
    for (const at of [1, 2, 3, 4]) nodes.push(await hawser.registerNode(`web-0${at}.example.org`));
    ids = nodes.map(({ nodeId }) => nodeId);
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': MAIN, '1.1.0': MAIN, '2.0.0': MAIN });
    await publishConfiguration(hawser.admin, 'db', { '1.0.0': MAIN });
    region = await createScopeType(hawser, 'Region');
    north = await createScopeValue(hawser, region, 'north');
    south = await createScopeValue(hawser, region, 'south');
  });

  const bulk = (body: unknown, client: Client = hawser.admin): Promise<Reply> => client.post(BULK, body);
  const done = (body: unknown) => ok(200, bulk(body));
  const detailsOf = (nodeId: string) => ok(200, hawser.admin.get(`/api/v1/nodes/${nodeId}`));
  const versionsOf = async () =>
    Promise.all(
      nodes.map(async ({ nodeId, client }) => {
        const { json } = await client.get(`/api/v1/nodes/${nodeId}/configuration/checksum`);
        return json.version ?? json.code;
      }),
    );
  /** The entries of the audit trail that the work has added. */
  const entriesOf = async (work: () => Promise<unknown>): Promise<Entry[]> =>
    (await entriesDuring(hawser, work)).entries;
  const unassignAll = () => done({ action: 'Unassign', nodeIds: ids });

  describe('Assign and Unassign', () => {
    beforeEach(unassignAll);

    it('assign to each, with an entry of its own, and the nodes get it at their next poll', async () => {
      const body = { action: 'Assign', nodeIds: ids, configurationName: 'web', majorVersion: 1 };
      let result: unknown;
      const entries = await entriesOf(async () => (result = await done(body)));
      expect(result).to.deep.equal({ done: 4, unchanged: 0, failed: [] });
      expect(await versionsOf()).to.deep.equal(['1.1.0', '1.1.0', '1.1.0', '1.1.0']);
      expect(entries.map(({ resource_id }) => resource_id)).to.have.members(ids);
      for (const [at, entry] of entries.entries()) {
        expect(entry.action).to.equal('node.configuration_assigned');
        expect(entry.details, String(at)).to.include({ configurationName: 'web', majorVersion: 1 });
      }
      const { assignment } = await detailsOf(ids[0] ?? '');
      expect(assignment).to.include({ configurationName: 'web', majorVersion: 1, version: null });
    });

    it('count what is so already, and a node that is named twice once', async () => {
      const [first = '', second = ''] = ids;
      await done({ action: 'Assign', nodeIds: [first], configurationName: 'web' });
      const nodeIds = [first, second, second.toUpperCase(), first];
      const entries = await entriesOf(async () =>
        expect(await done({ action: 'Assign', nodeIds, configurationName: 'web' })).to.deep.equal({
          ...{ done: 1, unchanged: 1, failed: [] },
        }),
      );
      expect(entries.map(({ resource_id }) => resource_id)).to.deep.equal([second]);
      expect(await done({ action: 'Unassign', nodeIds: ids })).to.deep.equal({
        ...{ done: 2, unchanged: 2, failed: [] },
      });
      expect(await versionsOf()).to.deep.equal(Array(4).fill('no_configuration_assigned'));
    });

    it('pin to one version, whose rules are those of a single node', async () => {
      const pin = { action: 'Assign', nodeIds: ids, configurationName: 'web', version: '1.0.0' };
      expect(await done(pin)).to.deep.equal({ done: 4, unchanged: 0, failed: [] });
      expect(await versionsOf()).to.deep.equal(Array(4).fill('1.0.0'));
      await expectProblem(bulk({ ...pin, majorVersion: 1 }), 400, 'validation_failed: custom');
      await expectProblem(bulk({ ...pin, version: '9.0.0' }), 409, 'no_eligible_version');
      expect(await versionsOf()).to.deep.equal(Array(4).fill('1.0.0'));
    });

    it('name the nodes that there are not, and change the others', async () => {
      const unknown = newId();
      const nodeIds = [ids[0], unknown, ids[1]];
      expect(await done({ action: 'assign', nodeIds, configurationName: 'db' })).to.deep.equal({
        ...{ done: 2, unchanged: 0 },
        failed: [{ nodeId: unknown, fqdn: null, code: 'not_found', message: 'No such node' }],
      });
      expect((await versionsOf()).slice(0, 2)).to.deep.equal(['1.0.0', '1.0.0']);
      expect((await done({ action: 'Unassign', nodeIds: [unknown] })).failed).to.have.length(1);
    });

    it('do nothing where the deed as a whole cannot be done', async () => {
      const entries = await entriesOf(async () => {
        for (const [members, status, code] of [
          [{ configurationName: 'nothing' }, 404, 'not_found'],
          [{ configurationName: 'web', isComposite: true }, 404, 'not_found'],
          [{ configurationName: 'web', majorVersion: 9 }, 409, 'no_eligible_version'],
        ] as const)
          await expectProblem(bulk({ action: 'Assign', nodeIds: ids, ...members }), status, code);
        const reader = await makeUser(hawser, {
          username: 'ada',
          permissions: ['nodes.assign-configuration'],
        });
        const wish = { action: 'Assign', nodeIds: ids, configurationName: 'web' };
        await expectProblem(bulk(wish, reader.client), 404, 'not_found');
      });
      expect(entries.filter(({ action }) => action.startsWith('node.'))).to.deep.equal([]);
      expect(await versionsOf()).to.deep.equal(Array(4).fill('no_configuration_assigned'));
    });
  });

  describe('Tag and Untag', () => {
    const tagsOf = async () =>
      Promise.all(
        ids.map(async (id) => {
          const tags = await ok(200, hawser.admin.get(`/api/v1/nodes/${id}/tags`));
          return tags.map(({ scopeValue }: { scopeValue: string }) => scopeValue).join();
        }),
      );
    afterEach(async () => {
      for (const scopeValueId of [north, south]) await done({ action: 'Untag', nodeIds: ids, scopeValueId });
    });

    it('count a tag that is there, or is not there, as unchanged, and name the nodes with another value', async () => {
      await done({ action: 'Tag', nodeIds: ids.slice(0, 1), scopeValueId: north });
      await done({ action: 'Tag', nodeIds: ids.slice(1, 2), scopeValueId: south });
      const entries = await entriesOf(async () =>
        expect(await done({ action: 'Tag', nodeIds: ids, scopeValueId: north })).to.deep.equal({
          ...{ done: 2, unchanged: 1 },
          failed: [
            {
              ...{ nodeId: ids[1], fqdn: 'web-02.example.org', code: 'scope_type_already_tagged' },
              message: 'The node has a value of this scope type; take that away first',
            },
          ],
        }),
      );
      expect(entries.map(({ action }) => action)).to.deep.equal(['node.tagged', 'node.tagged']);
      expect(await tagsOf()).to.deep.equal(['north', 'south', 'north', 'north']);
      expect(await done({ action: 'Untag', nodeIds: ids, scopeValueId: north })).to.deep.equal({
        ...{ done: 3, unchanged: 1, failed: [] },
      });
      expect(await tagsOf()).to.deep.equal(['', 'south', '', '']);
    });

    it('answer 404 to an unknown value, and do nothing', async () => {
      for (const action of ['Tag', 'Untag'])
        await expectProblem(bulk({ action, nodeIds: ids, scopeValueId: newId() }), 404, 'not_found');
      expect(await tagsOf()).to.deep.equal(['', '', '', '']);
    });

    it('name an unknown node', async () => {
      const [unknown, action] = [newId(), 'Untag'];
      const { failed } = await done({ action, nodeIds: [unknown], scopeValueId: north });
      expect(failed).to.deep.equal([
        { nodeId: unknown, fqdn: null, code: 'not_found', message: 'No such node' },
      ]);
    });
  });

  it('SetLcmConfig sets what the LCMs are to do, and clears what is left out', async () => {
    const set = { action: 'SetLcmConfig', nodeIds: ids };
    const wish = { ...set, configurationMode: 'remediate', configurationModeInterval: 'PT1H' };
    expect(await done(wish)).to.deep.equal({ done: 4, unchanged: 0, failed: [] });
    expect(await done(wish)).to.deep.equal({ done: 0, unchanged: 4, failed: [] });
    expect(await detailsOf(ids[3] ?? '')).to.include({
      ...{ desiredConfigurationMode: 'Remediate', desiredConfigurationModeInterval: '01:00:00' },
      desiredReportCompliance: null,
    });
    expect(await done({ ...set, reportCompliance: false })).to.include({ done: 4 });
    expect(await detailsOf(ids[3] ?? '')).to.include({
      ...{ desiredConfigurationMode: null, desiredReportCompliance: false },
    });
    expect(await done({ ...set, nodeIds: [newId()] })).to.deep.include({ done: 0, unchanged: 0 });
  });

  it('Delete removes nodes with all that they have, also with many reports', async () => {
    const extra = [
      await hawser.registerNode('old-01.example.org'),
      await hawser.registerNode('old-02.example.org'),
    ];
    const nodeIds = extra.map(({ nodeId }) => nodeId);
    await withDatabase(hawser, async ({ write }) => {
      const row = { node_id: nodeIds[0] ?? '', timestamp: Date.now(), operation: 'Test' as const };
      const reports = Array.from({ length: 1_000 }, () => ({
        ...{ ...row, id: newId(), in_desired_state: 1, had_errors: 0, result: '{}' },
      }));
      await write.insertInto('reports').values(reports).execute();
    });
    const total = async () =>
      Number((await hawser.admin.get('/api/v1/reports?take=1')).headers['x-total-count']);
    const before = await total();
    const unknown = newId();
    const entries = await entriesOf(async () =>
      expect(await done({ action: 'Delete', nodeIds: [...nodeIds, unknown] })).to.deep.equal({
        ...{ done: 2, unchanged: 0 },
        failed: [{ nodeId: unknown, fqdn: null, code: 'not_found', message: 'No such node' }],
      }),
    );
    expect(entries.map(({ action, details }) => `${action} ${details?.['fqdn']}`)).to.deep.equal([
      'node.deleted old-01.example.org',
      'node.deleted old-02.example.org',
    ]);
    expect(await total()).to.equal(before - 1_000);
    for (const { nodeId, client } of extra) {
      await expectProblem(hawser.admin.get(`/api/v1/nodes/${nodeId}`), 404, 'not_found');
      await expectProblem(
        client.get(`/api/v1/nodes/${nodeId}/configuration/checksum`),
        401,
        'unauthenticated',
      );
    }
  });
});
