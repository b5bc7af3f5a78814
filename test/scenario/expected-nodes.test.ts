// everyday: SQLite; full: PostgreSQL
/** Nodes that are there before their machines. */

import { expect } from 'chai';
import { auditEntries } from '../support/audit.ts';
import { MAIN } from '../support/configurations.ts';
import { createKey, publishConfiguration, startHawser } from '../support/hawser.ts';
import {
  belongings,
  type JoiningValues,
  keyGiving,
  makeScopes,
  newName,
  REGISTER,
  RULES,
  registerBy,
  tryRegister,
} from '../support/joining.ts';
import { metricOf, WITH_METRICS } from '../support/metric-values.ts';
import { assign, poll, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { grant, makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const NODES = '/api/v1/nodes';
const NOBODY = '00000000-0000-4000-8000-000000000000';

describe('an expected node', () => {
  const hawser = started(() => startHawser(WITH_METRICS));
  const web = { configurationName: 'web', isComposite: false };
  let values: JoiningValues;

  before(async () => {
    const files = { [MAIN]: '$schema: x\nresources: []\n' };
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': files, '2.0.0': files });
    await publishConfiguration(hawser.admin, 'db', { '1.0.0': files });
    ({ values } = await makeScopes(hawser));
  });

  const expectNode = (body: object) => hawser.admin.post(`${NODES}/`, body);
  const names = async (query: string): Promise<string[]> =>
    (await ok(200, hawser.admin.get(`${NODES}?take=1000&${query}`))).map(
      ({ fqdn }: { fqdn: string }) => fqdn,
    );
  const total = async () => Number((await hawser.admin.get(NODES)).headers['x-total-count']);

  it('has what it was given, no certificate and no call, and is listed as awaiting', async () => {
    const [fqdn, other] = [newName(), await hawser.registerNode(newName())];
    const lcmConfig = {
      configurationMode: 'Remediate',
      configurationModeInterval: '00:05:00',
      reportCompliance: true,
    };
    const reply = await expectNode({
      fqdn: fqdn.toUpperCase(),
      assignment: web,
      scopeValueIds: [values.prod],
      lcmConfig,
    });
    const made = await ok(201, reply);
    expect(reply.headers['location']).to.equal(`${NODES}/${made.id}`);
    expect(made).to.include({ fqdn, status: 'Unknown', certificate: null, lastCheckIn: null });
    expect(made).to.deep.equal(await ok(200, hawser.admin.get(`${NODES}/${made.id}`)));
    expect(await belongings(hawser, made.id)).to.deep.equal({ assigned: 'web', tags: [values.prod] });
    expect(await ok(200, hawser.admin.get(`${NODES}/${made.id}/lcm-config`))).to.include(lcmConfig);
    expect(await names('awaiting=true'))
      .to.include(fqdn)
      .and.not.include(other.fqdn);
    expect(await names('awaiting=false'))
      .to.include(other.fqdn)
      .and.not.include(fqdn);
    expect(await names(`awaiting=true&fqdn=${fqdn}&unassigned=false`)).to.deep.equal([fqdn]);
    expect(await metricOf(hawser.target(), 'hawser_nodes_awaiting')).to.equal(1);
    const actions = (await auditEntries(hawser, `resourceId=${made.id}`)).map(({ action }) => action);
    expect(actions).to.include.members(['node.expected', 'node.configuration_assigned', 'node.tagged']);
  });

  it('becomes the machine that registers first with its name, which has all of it at its first poll', async () => {
    const fqdn = newName();
    await saveParameters(hawser, {
      ...{ configuration: 'web', scopeType: 'Environment', value: 'test' },
      content: 'parameters:\n  level: of-its-tag\n',
    });
    const { id } = await ok(
      201,
      expectNode({ fqdn, assignment: { ...web, majorVersion: 1 }, scopeValueIds: [values.test] }),
    );
    const node = await registerBy(hawser, await createKey(hawser.admin), fqdn.toUpperCase());
    expect(node.nodeId).to.equal(id);
    expect((await ok(200, poll(node))).version).to.equal('1.0.0');
    expect(await pullParameters(node)).to.include('of-its-tag');
    const { certificate } = await ok(200, hawser.admin.get(`${NODES}/${id}`));
    expect(certificate.thumbprint).to.equal(node.identity.thumbprint);
    expect(await names('awaiting=true')).to.not.include(fqdn);
    await ok(200, node.client.post(REGISTER, { registrationKey: await createKey(hawser.admin), fqdn }));
    await expectProblem(tryRegister(hawser, await createKey(hawser.admin), fqdn), 409, 'node_exists');
  });

  it('may have parameters of its own before its machine is there', async () => {
    const fqdn = newName();
    await ok(201, expectNode({ fqdn, assignment: { configurationName: 'db' } }));
    await saveParameters(hawser, {
      ...{ configuration: 'db', scopeType: 'Node', value: fqdn },
      content: 'parameters:\n  mine: for-this-machine\n',
    });
    const node = await registerBy(hawser, await createKey(hawser.admin), fqdn);
    expect(await pullParameters(node)).to.include('for-this-machine');
  });

  it('keeps what it was given, and the key adds what it has not', async () => {
    const key = await keyGiving(hawser, {
      assignment: { configurationName: 'db' },
      scopeValueIds: [values.test, values.eu],
    });
    const [tagged, assigned] = [newName(), newName()];
    await ok(201, expectNode({ fqdn: tagged, scopeValueIds: [values.prod] }));
    await ok(201, expectNode({ fqdn: assigned, assignment: web }));
    const first = await belongings(hawser, (await registerBy(hawser, key, tagged)).nodeId);
    expect(first).to.deep.equal({ assigned: 'db', tags: [values.prod, values.eu].sort() });
    const second = await belongings(hawser, (await registerBy(hawser, key, assigned)).nodeId);
    expect(second).to.deep.equal({ assigned: 'web', tags: [values.test, values.eu].sort() });
  });

  it('is taken over by one of several machines that come at once, and by none with a bad key', async () => {
    const fqdn = newName();
    const { id } = await ok(201, expectNode({ fqdn }));
    await expectProblem(tryRegister(hawser, 'reg_unknown', fqdn), 403, 'registration_key_rejected');
    const key = await createKey(hawser.admin);
    const replies = await Promise.all(Array.from({ length: 6 }, () => tryRegister(hawser, key, fqdn)));
    const [good, ...more] = replies.filter(({ status }) => status === 200);
    expect(more).to.deep.equal([]);
    expect(good?.json.nodeId).to.equal(id);
    for (const reply of replies.filter(({ status }) => status !== 200))
      expect(reply).to.deep.include({ status: 409 }).and.have.nested.property('json.code', 'node_exists');
  });

  it('needs a name that is free, and is made whole or not at all', async () => {
    const [fqdn, registered] = [newName(), await hawser.registerNode(newName())];
    await ok(201, expectNode({ fqdn }));
    const count = await total();
    await expectProblem(expectNode({ fqdn }), 409, 'node_exists');
    await expectProblem(expectNode({ fqdn: registered.fqdn }), 409, 'node_exists');
    for (const name of ['', 'a b', 'x..y', 'b.lock', 7])
      await expectInvalid(expectNode({ fqdn: name }), '/fqdn');
    const free = newName();
    await expectProblem(
      expectNode({ fqdn: free, assignment: { configurationName: 'nothing' } }),
      404,
      'not_found',
    );
    await expectProblem(expectNode({ fqdn: free, scopeValueIds: [values.prod, NOBODY] }), 404, 'not_found');
    const none = { assignment: { ...web, majorVersion: 77 } };
    await expectProblem(expectNode({ fqdn: free, ...none }), 409, 'no_eligible_version');
    await expectProblem(
      expectNode({ fqdn: free, scopeValueIds: [values.prod, values.test] }),
      400,
      'validation_failed',
    );
    await expectInvalid(expectNode({ fqdn: free, colour: 'red' }), '/colour');
    expect(await total()).to.equal(count);
  });

  it('needs nodes.write, and what its members need', async () => {
    const writer = await makeUser(hawser, { username: 'writer', permissions: ['nodes.write'] });
    const assigner = await makeUser(hawser, {
      username: 'assigner',
      permissions: ['nodes.write', 'nodes.assign-configuration'],
    });
    const other = await makeUser(hawser, {
      username: 'other',
      permissions: ['nodes.read', 'nodes.assign-configuration'],
    });
    const count = await total();
    await expectProblem(other.post(NODES, { fqdn: newName() }), 403, 'forbidden');
    await expectProblem(writer.post(NODES, { fqdn: newName(), assignment: web }), 403, 'forbidden');
    await expectProblem(assigner.post(NODES, { fqdn: newName(), assignment: web }), 404, 'not_found');
    await expectProblem(hawser.client().post(NODES, { fqdn: newName() }), 401, 'unauthenticated');
    expect(await total()).to.equal(count);
    await grant(hawser, assigner, 'web', 'Read');
    await ok(201, assigner.post(NODES, { fqdn: newName(), assignment: web }));
    await ok(201, writer.post(NODES, { fqdn: newName(), scopeValueIds: [values.prod] }));
  });

  it('gets no tag by who may not read all that it may give, whatever a rule assigns to it later', async () => {
    await saveParameters(hawser, {
      ...{ configuration: 'db', scopeType: 'Region', value: 'eu' },
      content: 'parameters:\n  password: of-eu\n',
    });
    const permissions = ['nodes.read', 'nodes.write', 'nodes.assign-configuration'] as const;
    const curious = await makeUser(hawser, { username: 'curious', permissions });
    await grant(hawser, curious, 'web', 'Read');
    await ok(
      200,
      hawser.admin.put(RULES, [
        { fqdnPattern: '*', scopeValueIds: [], assignment: { configurationName: 'db' } },
      ]),
    );
    const [fqdn, scopeValueIds] = ['own-machine', [values.eu]];
    await expectProblem(curious.post(NODES, { fqdn, scopeValueIds }), 403, 'beyond_own_permissions');
    const rows = [{ fqdn, scopeValueIds }];
    const { done, failed } = await ok(200, curious.post(`${NODES}/bulk`, { action: 'Expect', rows }));
    expect([done, failed[0]?.code]).to.deep.equal([0, 'beyond_own_permissions']);
    const { id } = await ok(201, curious.post(NODES, { fqdn, scopeValueIds: [values.test] }));
    const tag = { scopeValueId: values.eu };
    await expectProblem(curious.post(`${NODES}/${id}/tags`, tag), 403, 'beyond_own_permissions');
    const inBulk = { action: 'Tag', nodeIds: [id], ...tag };
    const result = await ok(200, curious.post(`${NODES}/bulk`, inBulk));
    expect(result.failed[0]?.code).to.equal('beyond_own_permissions');
    const node = await registerBy(hawser, await createKey(hawser.admin), fqdn);
    expect(await belongings(hawser, id)).to.deep.equal({ assigned: 'db', tags: [values.test] });
    expect((await poll(node)).status).to.equal(200);
    // What assigns something that may be read is free. It cannot be taken away to make room for the rule.
    const made = await ok(201, curious.post(NODES, { fqdn: newName(), scopeValueIds, assignment: web }));
    const of = `${NODES}/${made.id}`;
    await expectProblem(curious.delete(`${of}/configuration`), 403, 'beyond_own_permissions');
    const unassign = { action: 'Unassign', nodeIds: [made.id] };
    const { failed: left } = await ok(200, curious.post(`${NODES}/bulk`, unassign));
    expect(left[0]?.code).to.equal('beyond_own_permissions');
    await ok(204, curious.delete(`${of}/tags/${values.eu}`));
    await ok(204, curious.delete(`${of}/configuration`));
    await ok(200, hawser.admin.put(RULES, []));
  });

  it('can be assigned, tagged and deleted like any other, and its name is free again then', async () => {
    const fqdn = newName();
    const { id } = await ok(201, expectNode({ fqdn }));
    await assign(hawser, { nodeId: id }, 'web');
    await ok(201, hawser.admin.post(`${NODES}/${id}/tags`, { scopeValueId: values.eu }));
    const filter = { fqdn, awaiting: true };
    const gone = await ok(
      200,
      hawser.admin.post(`${NODES}/bulk`, { action: 'Delete', filter, expectedCount: 1 }),
    );
    expect(gone).to.include({ done: 1 });
    const node = await registerBy(hawser, await createKey(hawser.admin), fqdn);
    expect(node.nodeId).to.not.equal(id);
    expect(await belongings(hawser, node.nodeId)).to.deep.equal({ assigned: null, tags: [] });
  });

  it('is made and taken over during a freeze, which changes no node that is there', async () => {
    const until = new Date(hawser.clock.now() + 3_600_000).toISOString();
    await ok(200, hawser.admin.put('/api/v1/settings/freeze', { reason: 'sales', until }));
    const fqdn = newName();
    const { id } = await ok(201, expectNode({ fqdn, assignment: web, scopeValueIds: [values.prod] }));
    expect(
      (await registerBy(hawser, await keyGiving(hawser, { scopeValueIds: [values.eu] }), fqdn)).nodeId,
    ).to.equal(id);
    expect(await belongings(hawser, id)).to.deep.equal({
      assigned: 'web',
      tags: [values.prod, values.eu].sort(),
    });
    await ok(204, hawser.admin.delete('/api/v1/settings/freeze'));
  });
});
