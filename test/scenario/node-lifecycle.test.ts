// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { sql } from 'kysely';
import { auditEntries } from '../support/audit.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { addVersion } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { createKey, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { preview, setting } from '../support/previews.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { announce, call, rotate, withCertificate } from '../support/rotation.ts';
import { createScopeType, createScopeValue, NODE_ID, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const NODES = '/api/v1/nodes';

describe('an operator deletes a node', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let kept: NodeUnderTest;
  let scopeValueId: string;
  let nodes = 0;

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { 'main.dsc.yaml': 'x' } });
    scopeValueId = await createScopeValue(hawser, await createScopeType(hawser, 'Environment'), 'production');
    kept = await busyNode('kept.example.org');
  });

  beforeEach(async () => {
    nodes += 1;
    node = await busyNode(`web-${nodes}.example.org`);
  });

  /** With a row in every table that nodes have rows in. */
  async function busyNode(fqdn: string): Promise<NodeUnderTest> {
    const busy = await hawser.registerNode(fqdn);
    const path = `${NODES}/${busy.nodeId}`;
    await hawser.admin.put(`${path}/configuration`, { configurationName: 'web' });
    await tagNode(hawser, busy.nodeId, scopeValueId);
    await ok(204, busy.client.put(`${path}/lcm-status`, { lcmStatus: 'Idle' }));
    await ok(200, busy.client.get(`${path}/configuration/checksum`));
    const report = { operation: 'Test', result: { results: [], hadErrors: true } };
    const reply = await busy.client.post(`${path}/reports`, {
      ...report,
      configurationChecksum: 'ab'.repeat(32),
    });
    expect(reply.status, reply.text).to.equal(201);
    await rotate(busy, announce(await makeClientCertificate({ commonName: fqdn })));
    return busy;
  }

  /** As the leader does it for nodes that have taken a version that rolls out. */
  async function noteTakers(...takers: NodeUnderTest[]): Promise<void> {
    const { id } = await ok(200, hawser.admin.get('/api/v1/configurations/web'));
    const key = { kind: 'configurations', resource_id: id, version: '1.0.0' } as const;
    const counts = { ...key, evaluated_at: 0, counts: '{}' };
    await withDatabase(hawser, async ({ read, write }) => {
      const kept = () => read.selectFrom('rollout_counts').select('version').execute();
      await write.insertInto('rollout_counts').values(counts).execute();
      // The leader removes what is kept of rollouts that are not under way, once it starts or the repository moves.
      await ok(
        201,
        addVersion(hawser.admin, 'web', { version: '1.1.0' }, { files: { 'main.dsc.yaml': 'y' } }),
      );
      await eventually(async () => expect(await kept()).to.deep.equal([]));
      await write.insertInto('rollout_counts').values(counts).execute();
      for (const { nodeId: node_id } of takers)
        await write
          .insertInto('node_problems')
          .values({ node_id, code: 'no_eligible_version', detail: '', since: 0 })
          .execute();
      for (const { nodeId } of takers)
        await write
          .insertInto('rollout_nodes')
          .values({
            ...key,
            node_id: nodeId,
            status_before: 'Unknown',
            taken_at: 0,
            operation: null,
            status: null,
          })
          .execute();
    });
  }

  const remove = ({ nodeId }: { nodeId: string }) => hawser.admin.delete(`${NODES}/${nodeId}`);

  it('takes all that hangs on it along, and nothing of others', async () => {
    // Every table with a node_id, so that a new one is not forgotten. What it ran stays, with its name.
    const rowsOf = ({ nodeId }: NodeUnderTest): Promise<Record<string, number>> =>
      withDatabase(hawser, async ({ read }) => {
        const tables = (await read.introspection.getTables()).filter(
          ({ name: table, columns }) =>
            table !== 'past_nodes' && columns.some(({ name }) => name === 'node_id'),
        );
        const counts: Record<string, number> = {};
        for (const { name } of tables) {
          const count = sql<{ count: number }>`select count(*) as count from ${sql.table(name)}
            where node_id = ${nodeId}`;
          const [row] = (await count.execute(read)).rows;
          counts[name] = row?.count ?? 0;
        }
        return counts;
      });
    // So that the check-ins are written.
    await hawser.restart();
    kept = withCertificate(hawser, kept, kept.identity);
    await noteTakers(node, kept);
    const before = await rowsOf(kept);
    const own = await rowsOf(node);
    expect(Object.keys(own)).to.include.members(['status_events', 'reports', 'node_tags', 'assignments']);
    for (const [table, count] of Object.entries(own)) expect(count, table).to.be.greaterThan(0);
    await ok(204, remove(node));
    for (const [table, count] of Object.entries(await rowsOf(node))) expect(count, table).to.equal(0);
    expect(await rowsOf(kept)).to.deep.equal(before);
  });

  it('answers 404 for it from then on, on every route that names it, to a second deletion too', async () => {
    await ok(204, remove(node));
    const path = `${NODES}/${node.nodeId}`;
    for (const gone of [path, `${path}/tags`, `${path}/status-history`, `${path}/lcm-config`])
      expect((await hawser.admin.get(gone)).status, gone).to.equal(404);
    await expectProblem(remove(node), 404, 'not_found');
    const { json } = await hawser.admin.get(`${NODES}?fqdn=${node.fqdn}`);
    expect(json).to.deep.equal([]);
  });

  it('ends its certificate at once, on connections kept alive too; others go on', async () => {
    const fresh = withCertificate(hawser, node, node.identity);
    expect(await call(node)).to.equal(200);
    expect(await call(fresh)).to.equal(200);
    await ok(204, remove(node));
    for (const { client } of [node, fresh, withCertificate(hawser, node, node.identity)]) {
      const reply = await expectProblem(
        client.get(`${NODES}/${node.nodeId}/lcm-config`),
        401,
        'unauthenticated',
      );
      expect(reply.headers['connection']).to.equal('close');
    }
    expect(await call(kept)).to.equal(200);
  });

  it('lets a machine of that name register anew, with the same certificate, as another node', async () => {
    await ok(204, remove(node));
    const body = { registrationKey: await createKey(hawser.admin), fqdn: node.fqdn };
    const reply = await node.client.post(`${NODES}/register`, body);
    expect(reply.status).to.equal(200);
    expect(reply.json.nodeId).to.not.equal(node.nodeId);
    const path = `${NODES}/${reply.json.nodeId}`;
    expect((await hawser.admin.get(path)).json).to.include({ status: 'Unknown', lcmStatus: 'Unknown' });
    expect((await hawser.admin.get(`${path}/status-history`)).json).to.deep.equal([]);
  });

  it('leaves its files to nobody, so that the next one of its name gets only what is published anew', async () => {
    const name = 'owned';
    await publishConfiguration(hawser.admin, name, {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
    });
    const { fqdn } = node;
    const save = (version: string, content: string, publish = true) =>
      saveParameters(hawser, {
        ...{ configuration: name, scopeType: 'Node', value: fqdn },
        ...{ version, content, publish },
      });
    await save('1.0.0', 'parameters: {of: first}');
    await save('1.5.0', 'parameters: {of: higher}');
    await save('1.0.2', 'parameters: {of: draft}', false);
    await assign(hawser, node, name);
    expect(await pullParameters(node)).to.match(/of: higher/);
    expect(hawser.git(`parameters/${name}.git`, 'cat-file', 'tag', `Node/${fqdn}/v1.5.0`)).to.match(
      new RegExp(`^Node-Id: ${node.nodeId}$`, 'm'),
    );

    await ok(204, remove(node));
    const next = await hawser.registerNode(fqdn);
    await assign(hawser, next, name);
    expect(await pullParameters(next)).to.equal(null);
    const files = `/api/v1/parameters/${NODE_ID}/${await configurationId(hawser.admin, name)}`;
    const active = () => hawser.admin.get(`${files}/majors/1?scopeValue=${fqdn}`);
    const own = async () => {
      const path = `${NODES}/${next.nodeId}/parameters/resolution`;
      return (await ok(200, hawser.admin.get(path))).scopes.at(-1);
    };
    expect(await own()).to.include({ scopeTypeName: 'Node', noPublishedVersion: true });
    await expectProblem(active(), 404, 'not_found');
    await hawser.restart();
    expect(await own()).to.include({ resolvedVersion: null });

    const { counts } = await preview(hawser.admin, [
      setting(name, '1.0.3', 'parameters: {of: next}', { scopeTypeName: 'Node', scopeValue: fqdn }),
    ]);
    expect(counts.changed).to.equal(1);
    const draft = {
      ...{ kind: 'PublishParameters', configurationName: name, version: '1.0.2' },
      ...{ scopeTypeName: 'Node', scopeValue: fqdn },
    };
    expect((await preview(hawser.admin, [draft])).counts.changed).to.equal(1);
    await ok(200, hawser.admin.put(`${files}/versions/1.0.2/publish?scopeValue=${fqdn}`));
    expect(await own()).to.include({ resolvedVersion: '1.0.2', noPublishedVersion: false });
    expect((await ok(200, active())).version).to.equal('1.0.2');
    const limits = { keepVersions: 1, keepDays: 0, keepReleaseVersions: false };
    await save('1.0.1', 'parameters: {of: late}');
    await ok(200, hawser.admin.post('/api/v1/retention/parameters/cleanup', limits));
    expect(await own()).to.include({ resolvedVersion: '1.0.2' });
    const again = withCertificate(hawser, next, next.identity);
    expect(await pullParameters(again)).to.match(/of: draft/);
  });

  // On PostgreSQL a tag that stock git makes in the folder means nothing.
  itOnSqlite(
    'nor leaves it what an older release has published, which does not say whose it is',
    async () => {
      const name = 'untold';
      await publishConfiguration(hawser.admin, name, {
        '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
      });
      const { fqdn } = node;
      await assign(hawser, node, name);
      const file = {
        configuration: name,
        scopeType: 'Node',
        value: fqdn,
        content: 'parameters: {of: first}',
      };
      await saveParameters(hawser, { ...file, publish: false });
      const tag = ['-c', 'user.name=a', '-c', 'user.email=a@b.c', 'tag', '-a', '-m', 'old'];
      const branch = `refs/heads/draft/Node/${fqdn}/1.0.0`;
      hawser.git(`parameters/${name}.git`, ...tag, `Node/${fqdn}/v1.0.0`, branch);
      await eventually(async () => expect(await pullParameters(node)).to.match(/of: first/));
      await ok(204, remove(node));
      const next = await hawser.registerNode(fqdn);
      await assign(hawser, next, name);
      expect(await pullParameters(next)).to.equal(null);
    },
  );

  it('deletes once when asked many times at once, and any of its own calls meanwhile end well', async () => {
    const path = `${NODES}/${node.nodeId}`;
    const report = () => node.client.put(`${path}/lcm-status`, { lcmStatus: 'Testing' });
    const [one, two, ...calls] = await Promise.all([
      remove(node),
      remove(node),
      report(),
      report(),
      report(),
    ]);
    expect([one.status, two.status].sort()).to.deep.equal([204, 404]);
    for (const { status } of calls) expect(status).to.be.oneOf([204, 401]);
    const entries = await auditEntries(hawser, `resourceId=${node.nodeId}&action=node.deleted`);
    expect(entries).to.have.length(1);
    expect(entries[0]).to.deep.include({ actorName: 'admin', resourceType: 'Node' });
    expect(entries[0]?.details).to.include({ fqdn: node.fqdn });
  });

  it('heeds If-Match', async () => {
    // One that has not called yet: the time of its last call would move what is compared.
    const quiet = await hawser.registerNode(`quiet-${nodes}.example.org`);
    const path = `${NODES}/${quiet.nodeId}`;
    const { headers } = await hawser.admin.get(path);
    const stale = await hawser.admin.call('DELETE', path, { headers: { 'If-Match': '"other"' } });
    expect(stale.status).to.equal(412);
    const current = { 'If-Match': String(headers['etag']) };
    await ok(204, hawser.admin.call('DELETE', path, { headers: current }));
  });
});
