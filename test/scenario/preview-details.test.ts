// full: SQLite
import { expect } from 'chai';
import { insertScopeTypes } from '../../scripts/bench/scope-rows.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Client } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, create, MAIN, publish } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import {
  assign,
  configurationId,
  configurationPath,
  pullParameters,
  saveParameters,
} from '../support/parameter-files.ts';
import { PREVIEWS, preview, publishing, setting } from '../support/previews.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { cleanUp, deletedBy, NOTHING_KEPT } from '../support/retention.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { startedForEach } from '../support/started.ts';

const declaring = (port: string) =>
  `$schema: x\nparameters:\n  port: {type: ${port}}\n  key: {type: secureString}\n  list: {type: array, defaultValue: []}\nresources: []\n`;
const file = (...lines: string[]) => `parameters:\n${lines.map((line) => `  ${line}\n`).join('')}`;

/** The length of a merged file with its secret redacted. */
const redactedSize = (text: string | null) => text?.replace(/key: \S+/, 'key: "<redacted>"').length;

interface Leaf {
  scopeTypeName: string;
  scopeValue: string | null;
  resolvedVersion: string;
  value: unknown;
}

describe('the details of a group of a preview', () => {
  const hawser = startedForEach(startHawser);
  let admin: Client;
  let node: NodeUnderTest;

  beforeEach(async () => {
    admin = hawser.admin;
    node = await hawser.registerNode('web-01.example.org');
    await ok(201, create(admin, 'web', { version: '1.0.0' }, { files: { [MAIN]: declaring('int') } }));
    await ok(200, publish(admin, 'web', '1.0.0'));
    const prod = await createScopeValue(hawser, await createScopeType(hawser, 'Environment'), 'prod');
    await saveParameters(hawser, {
      configuration: 'web',
      content: file('port: 80', 'key: low', 'list: [1]'),
    });
    const high = { scopeType: 'Environment', value: 'prod', content: file('key: high') };
    await saveParameters(hawser, { configuration: 'web', ...high });
    await tagNode(hawser, node.nodeId, prod);
    await assign(hawser, node, 'web');
  });

  const provenance = async (): Promise<Record<string, Leaf>> => {
    const query = `configurationId=${await configurationId(admin, 'web')}`;
    return (await ok(200, admin.get(`/api/v1/nodes/${node.nodeId}/parameters/provenance?${query}`)))
      .provenance;
  };
  const group = (id: string) => admin.get(`${PREVIEWS}/${id}/groups/1`);

  it('are what provenance and the bundle say before the change, and after it', async () => {
    const content = file('port: 9007199254740993', 'key: lower', 'list: [1]');
    const made = await preview(admin, [setting('web', '1.1.0', content)]);
    const reply = await group(made.id);
    expect(reply.text).to.contain('"after":9007199254740993');
    const [before, oldText] = [await provenance(), await pullParameters(node)];
    await saveParameters(hawser, { configuration: 'web', version: '1.1.0', content });
    const [after, newText] = [await provenance(), await pullParameters(node)];
    const source = (leaf: Leaf | undefined) =>
      leaf
        ? { scopeTypeName: leaf.scopeTypeName, scopeValue: leaf.scopeValue, version: leaf.resolvedVersion }
        : null;
    const isChanged = (path: string) => {
      const [old, next] = [before[path], after[path]];
      const told = (leaf: Leaf | undefined) =>
        JSON.stringify(leaf?.value === '<redacted>' ? source(leaf) : leaf?.value);
      return told(old) !== told(next);
    };
    const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(isChanged).sort();
    expect(paths, 'the file of the key is the same').to.deep.equal(['/parameters/port']);
    expect(reply.json.parameters).to.deep.equal(
      paths.map((path) => ({
        ...{ path, before: before[path]?.value ?? null, after: after[path]?.value ?? null },
        ...{ beforeSource: source(before[path]), afterSource: source(after[path]) },
      })),
    );
    expect(reply.json.fileChanges).to.have.length(1);
    expect(reply.json.fileChanges[0]).to.include({
      ...{ path: 'parameters.yaml', change: 'Modified', additions: 1, deletions: 1 },
      // The key is a secret, so nothing is told that a guess of it could be compared with.
      ...{ sizeBefore: redactedSize(oldText), checksumBefore: null },
      ...{ sizeAfter: redactedSize(newText), checksumAfter: null },
    });
  });

  it('stay when the versions that they are made of have been deleted', async () => {
    await ok(201, addVersion(admin, 'web', { version: '1.1.0' }, { files: { [MAIN]: declaring('int') } }));
    await saveParameters(hawser, {
      configuration: 'web',
      version: '1.1.0',
      content: file('port: 81', 'key: k'),
    });
    const before = await preview(admin, [setting('web', '1.2.0', file('port: 82', 'key: l'))]);
    const said = (await group(before.id)).text;
    await saveParameters(hawser, {
      configuration: 'web',
      version: '1.3.0',
      content: file('port: 83', 'key: m'),
    });
    const deleted = deletedBy(await cleanUp(admin, 'parameters', NOTHING_KEPT));
    expect(deleted).to.include('web/Default 1.1.0');
    const later = await group(before.id);
    expect(later.status, later.text).to.equal(200);
    expect(later.text).to.equal(said);
    await ok(200, admin.get(`${PREVIEWS}/${before.id}/groups/1/files/parameters.yaml`));
  });

  it('stay when the configuration was deleted, and made anew', async () => {
    const files = { [MAIN]: declaring('int'), 'new.txt': 'new\n' };
    await ok(201, addVersion(admin, 'web', { version: '1.1.0' }, { files }));
    const made = await preview(admin, [publishing('web', '1.1.0')]);
    const paths = ['', '/files/new.txt', `/files/${MAIN}`, '/files/parameters.yaml?context=0'];
    const read = () =>
      Promise.all(paths.map((path) => ok(200, admin.get(`${PREVIEWS}/${made.id}/groups/1${path}`))));
    const said = await read();
    expect(said.map(({ change }) => change)).to.deep.equal(['Changed', 'Added', 'Unchanged', 'Unchanged']);
    await ok(204, admin.delete(configurationPath(node)));
    await ok(204, admin.delete(`${CONFIGURATIONS}/web`));
    expect(await read()).to.deep.equal(said);
    await ok(201, create(admin, 'web', { version: '1.0.0' }, { files: { [MAIN]: declaring('string') } }));
    expect(await read()).to.deep.equal(said);
  });

  it('are kept for the first 200 groups, and of others there are the counts and the way to them', async () => {
    const nodeIds = await manyNodes(15, 14);
    const made = await preview(admin, [setting('web', '1.4.0', file('port: 84'))]);
    expect(made.counts).to.deep.include({ changed: 211, unchanged: 0, notVisible: 0 });
    const all = await ok(200, admin.get(`${PREVIEWS}/${made.id}/groups?take=1000`));
    expect(all).to.have.length(211);
    const modified = { added: 0, removed: 0, modified: 1, renamed: 0 };
    for (const each of all) expect(each).to.deep.include({ files: modified, nodeCount: 1 });
    const of = (groupId: number, rest = '') => admin.get(`${PREVIEWS}/${made.id}/groups/${groupId}${rest}`);
    const last = await ok(200, of(200));
    expect(last.parameters).to.have.length(last.parameterChanges);
    await ok(200, of(200, '/files/parameters.yaml'));
    for (const rest of ['', '/files/parameters.yaml', '/files/none.txt']) {
      const refused = await expectProblem(of(201, rest), 409, 'narrow_preview');
      expect(refused.json.detail).to.contain('nodeIds');
    }
    await expectProblem(of(212), 404, 'not_found');
    const { sampleNodes } = all[200];
    const hers = sampleNodes.map(({ nodeId }: { nodeId: string }) => nodeId);
    expect(nodeIds).to.include.members(hers);
    const narrow = await preview(admin, [setting('web', '1.4.0', file('port: 84'))], hers);
    const detailed = await ok(200, admin.get(`${PREVIEWS}/${narrow.id}/groups/1`));
    expect(detailed.parameters).to.have.length(all[200].parameterChanges);
  });

  /** Nodes with different parameters each: all pairs of the values of two scope types. */
  async function manyNodes(rooms: number, racks: number): Promise<string[]> {
    const nodes = Array.from({ length: rooms * racks }, (_, at) => ({
      ...{ id: newId(), fqdn: `many-${String(at).padStart(4, '0')}.example.org` },
      ...{ status: 'Unknown', lcm_status: 'Unknown', created_at: 1 },
    }));
    const nodeIds = nodes.map(({ id }) => id);
    const configuration_id = await configurationId(admin, 'web');
    const assigned = { ...{ configuration_id, composite_id: null, assigned_at: 1 }, ...ANY_VERSION };
    const types = [
      { name: 'Room', values: names(rooms), placeOf: (at: number) => at % rooms },
      { name: 'Rack', values: names(racks), placeOf: (at: number) => Math.floor(at / rooms) },
    ];
    await withDatabase(hawser, async (database) => {
      await database.write.transaction().execute(async (trx) => {
        await trx.insertInto('nodes').values(nodes).execute();
        const rows = nodeIds.map((node_id) => ({ node_id, ...assigned }));
        await trx.insertInto('assignments').values(rows).execute();
      });
      await insertScopeTypes(database, types, nodeIds);
    });
    for (const { name: scopeType, values } of types)
      for (const value of values) {
        const content = file(scopeType === 'Room' ? `list: [${value}]` : `key: ${value}`);
        await saveParameters(hawser, { configuration: 'web', scopeType, value, content });
      }
    return nodeIds;
  }
});

const ANY_VERSION = { major_version: null, prerelease_channel: null };
const names = (count: number) => Array.from({ length: count }, (_, at) => `value-${at}`);
