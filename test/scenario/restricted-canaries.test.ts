// full: SQLite
import { expect } from 'chai';
import type { Client, Reply } from '../support/client.ts';
import { MAIN } from '../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, poll, saveParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { PREVIEWS, preview, setting } from '../support/previews.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { addressOf, declaredRoutes, isPlainGet, neededQuery } from '../support/routes.ts';
import { type Field, makeField, member, SECRET } from '../support/scope-grants.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const WORD = 'Kanarienvogel';

describe('what a restricted scope has', () => {
  const hawser = started(startHawser);
  let field: Field;
  let node: NodeUnderTest;
  let reader: Client;
  let other: Client;
  let checksum: string;
  let previewId: string;

  before(async () => {
    field = await makeField(hawser);
    node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'web');
    await ok(201, hawser.admin.post(`/api/v1/nodes/${node.nodeId}/tags`, { scopeValueId: field.prod }));
    checksum = (await ok(200, poll(node))).checksum;
    reader = await member(hawser, [
      ...(['reports.read', 'reports.read-all', 'audit.read', 'webhooks.manage', 'users.manage'] as const),
      ...(['nodes.write', 'nodes.assign-configuration', 'registration-keys.manage'] as const),
    ]);
    const scope = { scopeTypeName: 'Environment', scopeValue: 'prod' };
    const change = setting('web', '1.1.0', `parameters: {note: ${SECRET}-2}\n`, scope);
    previewId = (await preview(hawser.admin, [change], [node.nodeId])).id;
    other = reader;
  });

  it('is in no answer to a GET by who reads all the rest', async () => {
    const base: Record<string, string> = {
      ...{ nodeId: node.nodeId, name: 'web', version: '1.0.0', filePath: MAIN, major: '1', checksum },
      ...{ configurationId: field.configurationId, scopeTypeId: field.type, groupId: '1' },
      ...{ id: previewId, '/api/v1/scope-types/{scopeTypeId}/values/{id}': field.prod },
    };
    let seen = 0;
    for (const route of (await declaredRoutes()).filter(isPlainGet)) {
      for (const filePath of [MAIN, 'parameters.yaml']) {
        let address: string;
        try {
          address = addressOf(route, { ...base, filePath });
        } catch {
          continue;
        }
        const query = neededQuery(route);
        const of = route.path.startsWith('/api/v1/parameters/')
          ? `${query === '' ? '?' : `${query}&`}scopeValue=prod`
          : query;
        for (const headers of [{}, { Accept: 'text/csv' }]) {
          const reply: Reply = await other.get(address + of, headers);
          seen += reply.status === 200 ? 1 : 0;
          expect(reply.text, `${address}${of}`).to.not.include(SECRET);
          if (
            /^\/api\/v1\/parameters\//.test(route.path) ||
            (/\/(bundle|checksum|provenance|resolution|configuration)$/.test(route.path) &&
              route.path.includes('{nodeId}'))
          )
            expect(reply.status, `${address}${of} ${reply.text}`).to.equal(404);
        }
      }
    }
    expect(seen).to.be.greaterThan(40);
  });

  it('is given to no node by who may not read it', async () => {
    const mine = await hawser.registerNode('web-02.example.org');
    const assignment = `/api/v1/nodes/${mine.nodeId}/configuration`;
    const web = { configurationName: 'web' };
    const tag = { scopeValueId: field.prod };
    await ok(201, reader.post(`/api/v1/nodes/${mine.nodeId}/tags`, tag));
    await expectProblem(reader.put(assignment, web), 403, 'beyond_own_permissions');
    await ok(204, reader.delete(`/api/v1/nodes/${mine.nodeId}/tags/${field.prod}`));
    await ok(204, reader.put(assignment, web));
    await expectProblem(reader.post(`/api/v1/nodes/${mine.nodeId}/tags`, tag), 403, 'beyond_own_permissions');
    const all = { scopeValueIds: [field.prod] };
    await expectProblem(reader.put(`/api/v1/nodes/${mine.nodeId}/tags`, all), 403, 'beyond_own_permissions');
    for (const body of [
      { action: 'Tag', nodeIds: [mine.nodeId], scopeValueId: field.prod },
      { action: 'SetTags', nodeIds: [mine.nodeId], scopeValueIds: [field.prod] },
    ]) {
      const reply = await reader.post('/api/v1/nodes/bulk', body);
      expect(reply.text, `${body.action} ${reply.status}`).to.include('beyond_own_permissions');
    }
    for (const changes of [
      [{ kind: 'Tag', nodeIds: [mine.nodeId], scopeValueId: field.prod }],
      [{ kind: 'SetTags', nodeIds: [mine.nodeId], scopeValueIds: [field.prod] }],
    ]) {
      const made = await preview(reader, changes, [mine.nodeId]);
      const groups = await ok(200, reader.get(`${PREVIEWS}/${made.id}/groups`));
      expect(groups, JSON.stringify(made)).to.deep.equal([]);
      expect(made.counts).to.include({ notVisible: 1 });
    }
    const profile = { assignment: web, scopeValueIds: [field.prod] };
    const key = await reader.post('/api/v1/admin/registration-keys', { profile });
    expect(key.text, `${key.status}`).to.include('beyond_own_permissions');
    const rule = await reader.post('/api/v1/nodes', { fqdn: 'web-03.example.org', ...profile });
    expect(rule.text, `${rule.status}`).to.include('beyond_own_permissions');
  });
});

describe('an encrypted item of a list that is no secret', () => {
  const hawser = started(startHawser);

  it('is redacted wherever the list is shown, and revealed by itself', async () => {
    const { admin } = hawser;
    const schema =
      '$schema: x\nparameters: {note: {type: array, defaultValue: []}, o: {type: object, defaultValue: {}}}\nresources: []\n';
    await publishConfiguration(admin, 'web', { '1.0.0': { [MAIN]: schema } });
    const series = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(admin, 'web')}`;
    const sealed = async (path: string) =>
      (await ok(200, admin.post(`${series}/encrypt`, { path, value: WORD }))).text;
    const content = async (last: string) =>
      `parameters:\n  note: ["${await sealed('/parameters/note/0')}", ${last}]\n  o: {a: [{b: "${await sealed('/parameters/o/a/0/b')}"}]}\n`;
    await saveParameters(hawser, { configuration: 'web', content: await content('one') });
    const node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'web');
    await ok(200, poll(node));
    const shown: string[] = [];
    const look = async (address: string) => {
      const reply = await admin.get(address);
      expect(reply.status, `${address} ${reply.text}`).to.equal(200);
      shown.push(`${address} ${reply.text}`);
    };
    const made = await preview(admin, [setting('web', '1.1.0', await content('two'))], [node.nodeId]);
    await look(`/api/v1/nodes/${node.nodeId}/parameters/provenance`);
    await look(`/api/v1/nodes/${node.nodeId}/parameters/resolution`);
    await look(`${PREVIEWS}/${made.id}/groups/1`);
    await look(`${PREVIEWS}/${made.id}/groups/1/files/parameters.yaml`);
    await look(`${series}/versions/1.0.0`);
    for (const text of shown) expect(text).to.not.include(WORD);
    await expectProblem(
      admin.get(`/api/v1/nodes/${node.nodeId}/configuration/bundle`),
      403,
      'secrets_in_bundle',
    );
    const teller = await makeUser(hawser, {
      username: 'teller',
      permissions: ['secrets.reveal'],
      grants: [{ on: 'parameters', name: 'web', level: 'Read' }],
    });
    for (const path of ['/parameters/note/0', '/parameters/o/a/0/b']) {
      const reply = await teller.post(`${series}/versions/1.0.0/reveal`, { path, reason: 'x' });
      expect((await ok(200, reply)).value).to.equal(WORD);
    }
    expect(hawser.log()).to.not.include(WORD);
  });
});
