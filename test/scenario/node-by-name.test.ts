// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { newId } from '../../src/lib/ids.ts';
import { auditEntries } from '../support/audit.ts';
import type { Client, Reply } from '../support/client.ts';
import { setOutput, testedService, testOutput } from '../support/dsc-results.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { lastCallWritten } from '../support/last-call.ts';
import { assign, saveParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { etagOf, expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const NODES = '/api/v1/nodes';
const SAME = { 'X-Request-Id': 'same' };

/** All that a client can tell two answers by. */
function shown({ status, headers, text }: Reply): object {
  const { date: _, ...rest } = headers;
  return { status, headers: rest, text };
}

describe('a user names a node in a path by its fqdn', () => {
  const hawser = started(startHawser);
  let admin: Client;
  let node: NodeUnderTest;
  let byName: string;
  let byId: string;

  before(async () => {
    admin = hawser.admin;
    node = await hawser.registerNode('web-01.example.org');
    byName = `${NODES}/${node.fqdn}`;
    byId = `${NODES}/${node.nodeId}`;
    await publishConfiguration(admin, 'web', { '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' } });
    await saveParameters(hawser, { configuration: 'web', content: 'parameters: {port: 80}' });
    await assign(hawser, node, 'web');
    let lastCall = 0;
    for (const lcmStatus of ['Testing', 'Idle']) {
      await ok(204, node.client.put(`${byId}/lcm-status`, { lcmStatus }));
      const report = { operation: 'Test', result: testOutput([testedService(true)]) };
      lastCall = hawser.clock.now();
      await ok(201, node.client.post(`${byId}/reports`, report));
    }
    // When it called is written within a second, and must not change between two answers that are compared.
    await lastCallWritten(admin, node.nodeId, lastCall);
  });

  for (const what of [
    '',
    '/',
    '/tags',
    '/reports',
    '/status-history',
    '/lcm-config',
    '/configuration',
    '/configuration/checksum',
    '/configuration/bundle',
    '/parameters/resolution',
    '/parameters/provenance',
  ])
    it(`and GET {nodeId}${what} answers as it does to the id, HEAD too`, async () => {
      for (const method of ['GET', 'HEAD']) {
        const expected = await admin.call(method, byId + what, { headers: SAME });
        expect(expected.status).to.equal(200);
        const named = await admin.call(method, byName + what, { headers: SAME });
        expect(shown(named)).to.deep.equal(shown(expected));
        const { etag } = expected.headers;
        if (etag === undefined) continue;
        const known = await admin.call(method, byName + what, { headers: { 'If-None-Match': String(etag) } });
        expect(known.status).to.equal(304);
      }
      const options = await admin.call('OPTIONS', byName + what);
      expect(options.headers['allow']).to.equal((await admin.call('OPTIONS', byId + what)).headers['allow']);
    });

  it('in any case, with the dot of the root, or escaped', async () => {
    for (const fqdn of [
      'WEB-01.Example.ORG',
      'web-01.example.org.',
      'web-01%2Eexample.org',
      '%77eb-01.example.org',
    ])
      for (const what of ['', '/configuration/checksum', '/tags'])
        await ok(200, admin.get(`${NODES}/${fqdn}${what}`));
    expect((await admin.get(`${NODES}/WEB-01.Example.ORG`)).json).to.include({ id: node.nodeId });
  });

  it('and pages link to the id', async () => {
    for (const list of ['reports', 'status-history']) {
      const page = await admin.get(`${byName}/${list}?take=1`);
      expect(page.headers['x-total-count']).to.match(/^[2-9]$/);
      expect(page.headers['link']).to.equal(`<${byId}/${list}?take=1&skip=1>; rel="next"`);
      expect((await admin.get(`${byName}/${list}/?take=1`)).headers['link']).to.contain(`<${byId}/${list}/?`);
    }
  });

  it('and tags it: Location, answer and audit trail hold the id', async () => {
    const site = await createScopeType(hawser, 'Site');
    const scopeValueId = await createScopeValue(hawser, site, 'berlin');
    const tagged = await admin.post(`${byName}/tags`, { scopeValueId });
    expect(await ok(201, tagged)).to.include({ nodeId: node.nodeId });
    expect(tagged.headers['location']).to.equal(`${byId}/tags/${scopeValueId}`);
    expect((await auditEntries(hawser, 'action=node.tagged'))[0]).to.include({ resourceId: node.nodeId });
    expect(await ok(200, admin.get(`${byName}/tags`))).to.have.length(1);
    await expectProblem(admin.post(`${byName}/tags`, { scopeValueId }), 409, 'scope_type_already_tagged');
    await ok(204, admin.delete(`${byName}/tags/${scopeValueId}`));
    await expectProblem(admin.delete(`${byName}/tags/${scopeValueId}`), 404, 'not_found');
    expect(await ok(200, admin.get(`${byId}/tags`))).to.deep.equal([]);
  });

  it('and sets what its LCM is to do', async () => {
    const wish = { configurationMode: 'Remediate', configurationModeInterval: '01:00:00' };
    expect(await ok(200, admin.put(`${byName}/lcm-config`, wish))).to.include(wish);
    expect(await ok(200, admin.get(`${byId}/lcm-config`))).to.include(wish);
    expect(await ok(200, admin.get(`${byName}/lcm-config`))).to.include(wish);
    await expectProblem(
      admin.put(`${byName}/lcm-config`, { configurationMode: 'Later' }),
      400,
      'validation_failed',
    );
    await ok(200, admin.put(`${byName}/lcm-config`, {}));
  });

  it('and assigns to it and takes away, under If-Match of what was read by id or by name', async () => {
    const change = (method: string, etag: string, json?: object) =>
      admin.call(method, `${byName}/configuration`, { headers: { 'If-Match': etag }, ...(json && { json }) });
    const etags = await Promise.all(
      [byId, byName].map(async (path) => await etagOf(admin, `${path}/configuration`)),
    );
    expect(etags[0]).to.equal(etags[1]);
    await expectProblem(change('PUT', '"other"', { configurationName: 'web' }), 412, 'precondition_failed');
    await ok(204, change('PUT', etags[1] ?? '', { configurationName: 'web', version: '1.0.0' }));
    expect((await ok(200, admin.get(byId))).assignment).to.include({ version: '1.0.0' });
    await ok(204, change('DELETE', '*'));
    await expectProblem(change('DELETE', '*'), 412, 'precondition_failed');
    expect((await ok(200, admin.get(byId))).assignment).to.equal(null);
    const [entry] = await auditEntries(hawser, 'action=node.configuration_unassigned');
    expect(entry).to.include({ resourceId: node.nodeId });
    await ok(204, admin.put(`${byName}/configuration`, { configurationName: 'web' }));
  });

  it('who may do what it is asked for, else 401 or 403, whether the node exists or not', async () => {
    const nobody = await makeUser(hawser, { username: 'nobody', permissions: ['reports.read-all'] });
    for (const name of [node.fqdn, 'gone.example.org', newId()]) {
      for (const what of ['', '/tags', '/configuration/checksum', '/lcm-config']) {
        await expectProblem(hawser.client().get(`${NODES}/${name}${what}`), 401, 'unauthenticated');
        await expectProblem(nobody.get(`${NODES}/${name}${what}`), 403, 'forbidden');
      }
      await expectProblem(nobody.delete(`${NODES}/${name}`), 403, 'forbidden');
      await expectProblem(nobody.put(`${NODES}/${name}/configuration`, {}), 403, 'forbidden');
    }
    const reader = await makeUser(hawser, { username: 'reader', permissions: ['nodes.read'] });
    await ok(200, reader.get(byName));
    await expectProblem(reader.delete(byName), 403, 'forbidden');
    // The reader may not read what the node gets.
    await expectProblem(reader.get(`${byName}/configuration/checksum`), 404, 'not_found');
  });

  it('that is unknown, and gets the very answer to an unknown id', async () => {
    const scopeValueId = newId();
    const calls: [method: string, what: string, json?: object][] = [
      ['GET', ''],
      ['HEAD', ''],
      ['DELETE', ''],
      ['GET', '/tags'],
      ['POST', '/tags', { scopeValueId }],
      ['DELETE', `/tags/${scopeValueId}`],
      ['GET', '/reports'],
      ['GET', '/status-history'],
      ['GET', '/lcm-config'],
      ['PUT', '/lcm-config', {}],
      ['GET', '/configuration'],
      ['GET', '/configuration/checksum'],
      ['GET', '/configuration/bundle'],
      ['PUT', '/configuration', { configurationName: 'web' }],
      ['DELETE', '/configuration'],
      ['GET', '/parameters/resolution'],
      ['GET', '/parameters/provenance'],
    ];
    for (const [method, what, json] of calls) {
      const send = (name: string) =>
        admin.call(method, `${NODES}/${name}${what}`, { headers: SAME, ...(json && { json }) });
      const expected = await send(newId());
      expect(expected.status, what).to.equal(404);
      for (const name of ['gone.example.org', 'web-01', 'example.org', 'web-01.example.org..', 'a_b', '*'])
        expect(shown(await send(name)), `${method} ${name}${what}`).to.deep.equal(shown(expected));
    }
  });

  it('which no certificate may: a node is told 403 of its own name, and goes on by its id', async () => {
    const report = { operation: 'Set', result: setOutput() };
    const calls: [method: string, what: string, json?: object][] = [
      ['GET', '/configuration/checksum'],
      ['GET', '/configuration/bundle'],
      ['GET', '/configuration'],
      ['GET', '/lcm-config'],
      ['PUT', '/lcm-status', { lcmStatus: 'Idle' }],
      ['PUT', '/reported-config', {}],
      ['POST', '/reports', report],
      ['POST', '/rotate-certificate', {}],
      ['GET', ''],
      ['DELETE', ''],
    ];
    for (const [method, what, json] of calls)
      await expectProblem(node.client.call(method, byName + what, json && { json }), 403, 'forbidden', what);
    await ok(200, node.client.get(`${byId}/configuration/checksum`));
    // Nor may users use the routes of the node itself, by whatever name.
    await expectProblem(admin.post(`${byName}/reports`, report), 403, 'forbidden');
    await expectProblem(admin.put(`${byName}/lcm-status`, { lcmStatus: 'Idle' }), 403, 'forbidden');
  });

  it('which may look like an id: then the node of that id goes first', async () => {
    const first = await hawser.registerNode('first.example.org');
    const namesake = await hawser.registerNode(first.nodeId);
    expect(await ok(200, admin.get(`${NODES}/${first.nodeId}`))).to.include({ fqdn: 'first.example.org' });
    await ok(204, admin.delete(`${NODES}/${first.nodeId}`));
    expect(await ok(200, admin.get(`${NODES}/${first.nodeId}`))).to.include({ id: namesake.nodeId });
    await ok(200, admin.get(`${NODES}/${namesake.nodeId}`));
  });

  it('and deletes it, once', async () => {
    const gone = await hawser.registerNode('gone-soon.example.org');
    const path = `${NODES}/GONE-soon.example.org`;
    const etag = await etagOf(admin, path);
    const remove = (match: string) => admin.call('DELETE', path, { headers: { 'If-Match': match } });
    await expectProblem(remove('"other"'), 412, 'precondition_failed');
    await ok(204, remove(etag));
    await expectProblem(admin.delete(path), 404, 'not_found');
    await expectProblem(admin.get(`${NODES}/${gone.nodeId}`), 404, 'not_found');
    const [entry] = await auditEntries(hawser, 'action=node.deleted&take=1');
    expect(entry).to.deep.include({ resourceId: gone.nodeId });
    expect(entry?.details).to.include({ fqdn: gone.fqdn });
    await expectProblem(
      gone.client.get(`${NODES}/${gone.nodeId}/configuration/checksum`),
      401,
      'unauthenticated',
    );
  });
});
