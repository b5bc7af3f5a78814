// full: SQLite, PostgreSQL
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { newId } from '../../src/lib/ids.ts';
import { MAIN } from '../support/configurations.ts';
import { parseCsv } from '../support/csv.ts';
import { withDatabase } from '../support/database.ts';
import { itOnSqlite } from '../support/engine.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, poll, saveParameters } from '../support/parameter-files.ts';
import { proofPath, pulled, readProof, reported } from '../support/proof.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const NODES = 620;
/** A document has at most 20,000 leaves, merged ones too. */
const leaves = (name: string) =>
  JSON.stringify({
    parameters: Object.fromEntries(Array.from({ length: 12_000 }, (_, at) => [`${name}${at}`, at])),
  });

describe('the proof of many nodes', () => {
  const hawser = started(startHawser);
  const path = proofPath('web', '1.0.0');

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    const { id } = await ok(200, hawser.admin.get('/api/v1/configurations/web'));
    const nodes = Array.from({ length: NODES }, (_, at) => {
      const fqdn = `n${String((at * 7) % NODES).padStart(3, '0')}.example.org`;
      return { id: newId(), fqdn, status: 'Unknown', lcm_status: 'Unknown', created_at: 0 };
    });
    await withDatabase(hawser, ({ write }) =>
      write.transaction().execute(async (trx) => {
        for (const node of nodes) {
          await trx.insertInto('nodes').values(node).execute();
          const assigned = { node_id: node.id, configuration_id: id, assigned_at: 0 };
          await trx.insertInto('assignments').values(assigned).execute();
        }
      }),
    );
  });

  it('sends each of them once as CSV, by fqdn, though it takes several slices', async () => {
    const { text } = await hawser.admin.with({ Accept: 'text/csv' }).get(`${path}/nodes`);
    const [, ...lines] = parseCsv(text);
    const expected = Array.from({ length: NODES }, (_, at) => `n${String(at).padStart(3, '0')}.example.org`);
    expect(lines.map(([, fqdn]) => fqdn)).to.deep.equal(expected);
    expect(new Set(lines.map((cells) => cells[7]))).to.deep.equal(new Set(['NeverPolled']));
    const page = await hawser.admin.get(`${path}/nodes?take=5&skip=615&reason=NeverPolled`);
    expect(page.json.map(({ fqdn }: { fqdn: string }) => fqdn)).to.deep.equal(expected.slice(615));
    expect(page.headers['x-total-count']).to.equal(String(NODES));
  });

  it('follows assignments, registrations and deletions at once', async () => {
    const node = await hawser.registerNode('z.example.org');
    const offered = async () => (await readProof(hawser.admin, path)).nodes;
    expect(await offered()).to.equal(`0/0/0/${NODES} of ${NODES}`);
    await assign(hawser, node, 'web');
    expect(await offered()).to.equal(`0/0/0/${NODES + 1} of ${NODES + 1}`);
    await reported(node, (await pulled(node)).checksum);
    expect(await offered()).to.equal(`1/0/0/${NODES} of ${NODES + 1}`);
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${node.nodeId}`));
    expect(await offered()).to.equal(`0/0/0/${NODES} of ${NODES}`);
  });

  it('calls a node Unresolvable whose parameters cannot be merged, as its poll says', async () => {
    const node = await hawser.registerNode('heavy.example.org');
    await assign(hawser, node, 'web');
    const file = { configuration: 'web', contentType: 'json' };
    await saveParameters(hawser, { ...file, content: leaves('a') });
    const own = { scopeType: 'Node', value: 'heavy.example.org', content: leaves('b') };
    await saveParameters(hawser, { ...file, ...own });
    await expectProblem(poll(node), 409, 'parameter_merge_failed');
    const rows = await ok(200, hawser.admin.get(`${path}/nodes?reason=Unresolvable`));
    expect(rows.map(({ fqdn }: { fqdn: string }) => fqdn)).to.deep.equal(['heavy.example.org']);
    expect((await readProof(hawser.admin, path)).reasons).to.deep.equal({
      NeverPolled: NODES,
      Unresolvable: 1,
    });
    const use = await ok(200, hawser.admin.get('/api/v1/fleet/configurations/web/versions'));
    const ways = { offered: NODES, direct: NODES, viaComposites: 0, pinned: 0 };
    expect(use).to.deep.equal([{ version: '1.0.0', ...ways, declared: 0, served: 0, told: 0 }]);
  });
});

describe('the proof of a version that cannot be read', () => {
  const hawser = started(startHawser);

  itOnSqlite('comes back by itself when the object is put back, though nothing tells of that', async () => {
    await publishConfiguration(hawser.admin, 'frail', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await assign(hawser, await hawser.registerNode('a.example.org'), 'frail');
    const tree = hawser.git('configurations/frail.git', 'rev-parse', 'v1.0.0^{tree}').trim();
    const folder = join(hawser.reposDir, 'configurations/frail.git/objects', tree.slice(0, 2));
    const [object, aside] = [join(folder, tree.slice(2)), join(hawser.folder, 'aside')];
    renameSync(object, aside);
    const path = proofPath('frail', '1.0.0');
    for (let times = 0; times < 2; times += 1)
      expect((await readProof(hawser.admin, path)).reasons).to.deep.equal({ Unresolvable: 1 });
    renameSync(aside, object);
    expect((await readProof(hawser.admin, path)).reasons).to.deep.equal({ NeverPolled: 1 });
  });
});
