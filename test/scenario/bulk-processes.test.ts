// full: SQLite
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Database } from '../../src/db/database.ts';
import { newId } from '../../src/lib/ids.ts';
import { type Client, makeClient, type Target } from '../support/client.ts';
import { withDatabase } from '../support/database.ts';
import { describeOnSqlite, placeOf } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { ADMIN_PASSWORD, ALL_SCOPES, createToken, publishConfiguration, signIn } from '../support/hawser.ts';
import { ok } from '../support/replies.ts';
import { type Spawned, spawnHawser } from '../support/spawned.ts';

const BULK = '/api/v1/nodes/bulk';
const NODES = 2_000;
const DOCUMENT = '$schema: x\nresources: []\n';

describeOnSqlite('a bulk deed at a program of its own', function () {
  this.timeout(180_000);
  let folder: string;
  let hawser: Spawned;
  let target: Target;
  let token: string;
  let ids: string[];
  const clients: Client[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-bulk-'));
    await start();
    ids = await inDatabase(({ write }) =>
      write.transaction().execute(async (trx) => {
        const rows = Array.from({ length: NODES }, (_, at) => ({
          ...{ id: newId(), fqdn: `web-${String(at).padStart(4, '0')}.example.org` },
          ...{ status: 'Unknown', lcm_status: 'Unknown', created_at: Date.now() },
        }));
        for (let at = 0; at < NODES; at += 500)
          await trx
            .insertInto('nodes')
            .values(rows.slice(at, at + 500))
            .execute();
        return rows.map(({ id }) => id);
      }),
    );
    await publishConfiguration(admin(), 'web', { '1.0.0': { 'main.dsc.yaml': DOCUMENT } });
    await publishConfiguration(admin(), 'db', { '1.0.0': { 'main.dsc.yaml': DOCUMENT } });
  });
  after(async () => {
    for (const client of clients) client.close();
    hawser.child.kill('SIGKILL');
    await hawser.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    hawser = await spawnHawser(folder);
    target = await hawser.listening();
    const first = makeClient(target);
    token = await createToken(first, await signIn(first, 'admin', ADMIN_PASSWORD), ALL_SCOPES);
    first.close();
  }

  /** A connection of its own. */
  function admin(): Client {
    const client = makeClient(target).with({ Authorization: `Bearer ${token}` });
    clients.push(client);
    return client;
  }

  const inDatabase = async <T>(work: (database: Database) => Promise<T>): Promise<T> =>
    withDatabase(await placeOf(join(folder, 'data')), work);

  const countOf = async (configurationName: string): Promise<number> => {
    const { headers } = await admin().get(`/api/v1/nodes?take=1&configurationName=${configurationName}`);
    return Number(headers['x-total-count']);
  };
  const assign = (configurationName: string) => ({ action: 'Assign', configurationName });

  it('is seen once it is answered, and two of them at a time both come to their end', async () => {
    const all = { filter: {}, expectedCount: NODES };
    expect(await ok(200, admin().post(BULK, { ...assign('web'), ...all }))).to.include({ done: NODES });
    expect(await countOf('web')).to.equal(NODES);
    const half = NODES / 2;
    const [toDb, settings] = await Promise.all([
      ok(200, admin().post(BULK, { ...assign('db'), nodeIds: ids.slice(0, half) })),
      ok(200, admin().post(BULK, { action: 'SetLcmConfig', reportCompliance: true, ...all })),
    ]);
    expect(toDb).to.deep.equal({ done: half, unchanged: 0, failed: [] });
    expect(settings).to.deep.equal({ done: NODES, unchanged: 0, failed: [] });
    expect(await countOf('db')).to.equal(half);
  });

  it('goes on when its client goes away', async () => {
    const client = admin();
    const before = await countOf('db');
    const order = client.post(BULK, { ...assign('web'), nodeIds: ids }).catch(() => null);
    await eventually(async () => {
      if ((await countOf('db')) === before) throw new Error('nothing is done yet');
    });
    client.close();
    await order;
    await eventually(async () => expect(await countOf('web')).to.equal(NODES));
  });

  it('that a SIGKILL ends in the middle has changed whole nodes, each with its entry, and can be repeated', async () => {
    const order = { ...assign('db'), filter: {}, expectedCount: NODES };
    const isCut = async (): Promise<boolean> => {
      const answer = admin()
        .post(BULK, order)
        .catch(() => null);
      await eventually(async () => {
        if ((await countOf('db')) === 0) throw new Error('nothing is done yet');
      });
      hawser.child.kill('SIGKILL');
      await hawser.ended;
      await answer;
      await start();
      return (await countOf('db')) < NODES;
    };
    const countEntries = () =>
      inDatabase(async ({ read }) => {
        const entries = await read
          .selectFrom('audit_entries')
          .select('resource_id')
          .where('action', '=', 'node.configuration_assigned')
          .execute();
        const counts = new Map<string | null, number>();
        for (const { resource_id: id } of entries) counts.set(id, (counts.get(id) ?? 0) + 1);
        return counts;
      });
    const before = await countEntries();
    expect(await isCut(), 'the kill came too late').to.equal(true);
    const after = await countEntries();
    const assigned = await inDatabase(({ read }) =>
      read
        .selectFrom('assignments')
        .innerJoin('configurations', 'configurations.id', 'assignments.configuration_id')
        .select(['node_id', 'name'])
        .execute(),
    );
    expect(assigned).to.have.length(NODES);
    for (const { node_id: id, name } of assigned)
      expect((after.get(id) ?? 0) - (before.get(id) ?? 0), name).to.equal(name === 'db' ? 1 : 0);
    const changed = assigned.filter(({ name }) => name === 'db').length;
    expect(await ok(200, admin().post(BULK, order))).to.deep.equal({
      ...{ done: NODES - changed, unchanged: changed, failed: [] },
    });
  });

  it('changes the other nodes where some are deleted meanwhile', async () => {
    const gone = ids.slice(NODES / 2);
    const [assigned, deleted] = await Promise.all([
      ok(200, admin().post(BULK, { ...assign('web'), nodeIds: ids })),
      ok(200, admin().post(BULK, { action: 'Delete', nodeIds: gone })),
    ]);
    expect(deleted).to.deep.equal({ done: gone.length, unchanged: 0, failed: [] });
    const { done, unchanged, failed } = assigned;
    expect(done + unchanged + failed.length).to.equal(NODES);
    for (const failure of failed) expect(failure).to.include({ fqdn: null, code: 'not_found' });
    expect(gone).to.include.members(failed.map(({ nodeId }: { nodeId: string }) => nodeId));
    expect(await countOf('web')).to.equal(NODES - gone.length);
  });
});
