// full: SQLite
import { expect } from 'chai';
import { sha256Hex } from '../../src/lib/hash.ts';
import type { Client } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, create, MAIN, publish } from '../support/configurations.ts';
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
      ...{ sizeBefore: oldText?.length, checksumBefore: sha256Hex(oldText ?? '') },
      ...{ sizeAfter: newText?.length, checksumAfter: sha256Hex(newText ?? '') },
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

  it('are gone with the configuration, which the answer says', async () => {
    const files = { [MAIN]: declaring('int'), 'new.txt': 'new\n' };
    await ok(201, addVersion(admin, 'web', { version: '1.1.0' }, { files }));
    const made = await preview(admin, [publishing('web', '1.1.0')]);
    await ok(204, admin.delete(configurationPath(node)));
    await ok(204, admin.delete(`${CONFIGURATIONS}/web`));
    await expectProblem(group(made.id), 409, 'content_gone');
    const path = `${PREVIEWS}/${made.id}/groups/1/files/new.txt`;
    await expectProblem(admin.get(path), 409, 'content_gone');
    expect(await ok(200, admin.get(`${PREVIEWS}/${made.id}/groups`)), 'the list stays').to.have.length(1);
  });
});
