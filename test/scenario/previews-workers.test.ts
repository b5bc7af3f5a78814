// full: SQLite
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { childrenOf } from '../../scripts/bench/cpu.ts';
import type { Database } from '../../src/db/database.ts';
import { type Client, makeClient, type Target } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { addVersion, MAIN } from '../support/configurations.ts';
import { openDatabaseOf } from '../support/database.ts';
import { describeOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import {
  ADMIN_PASSWORD,
  ALL_SCOPES,
  createKey,
  createToken,
  publishConfiguration,
  signIn,
} from '../support/hawser.ts';
import { askFor, groupOf, groupsOf, nodesOf, PREVIEWS, preview, publishing } from '../support/previews.ts';
import { ok } from '../support/replies.ts';
import { type Spawned, spawnHawser } from '../support/spawned.ts';

/** Enough that both workers have some: connections are dealt out in turn. */
const CONNECTIONS = 6;
const CHANGES = [publishing('web', '1.1.0')];

describeOnSqlite('previews of a server of two workers', function () {
  this.timeout(180_000);
  let folder: string;
  let hawser: Spawned;
  let admins: Client[];
  let database: Database;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-previews-'));
    hawser = await spawnHawser(folder, { HAWSER_WORKERS: '2' });
    admins = await signInOverMany(await hawser.listening());
    const [admin] = admins as [Client];
    await publishConfiguration(admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await ok(
      201,
      addVersion(
        admin,
        'web',
        { version: '1.1.0' },
        { files: { [MAIN]: '$schema: x\nresources: []\n# two\n' } },
      ),
    );
    const node = makeClient(await hawser.listening(), await makeClientCertificate({ commonName: 'web-01' }));
    const key = { registrationKey: await createKey(admin), fqdn: 'web-01' };
    const { nodeId } = await ok(200, node.post('/api/v1/nodes/register', key));
    node.close();
    await ok(204, admin.put(`/api/v1/nodes/${nodeId}/configuration`, { configurationName: 'web' }));
    database = await openDatabaseOf(join(folder, 'data'));
  });
  after(async () => {
    await database.close();
    for (const client of admins) client.close();
    hawser.child.kill('SIGKILL');
    await hawser.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  async function signInOverMany(target: Target): Promise<Client[]> {
    const first = makeClient(target);
    const token = await createToken(first, await signIn(first, 'admin', ADMIN_PASSWORD), ALL_SCOPES);
    first.close();
    return Array.from({ length: CONNECTIONS }, () =>
      makeClient(target).with({ Authorization: `Bearer ${token}` }),
    );
  }

  const workers = (): number[] => childrenOf(Number(hawser.child.pid));
  const running = () =>
    database.read.selectFrom('previews').select(['id', 'maker']).where('state', '=', 'Running').execute();

  it('are the same through each of them', async () => {
    const made = await preview(admins[0] as Client, CHANGES);
    expect(made.counts).to.deep.equal({ nodes: 1, changed: 1, unchanged: 0, unresolvable: 0, notVisible: 0 });
    const seen = await Promise.all(
      admins.map(async (client) => [
        await ok(200, client.get(`${PREVIEWS}/${made.id}`)),
        await groupsOf(client, made),
        await groupOf(client, made, '1'),
        await nodesOf(client, made),
      ]),
    );
    for (const each of seen) expect(each).to.deep.equal(seen[0]);
  });

  it('are made two at a time by both together, and none is lost', async () => {
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, at) => preview(admins[at % CONNECTIONS] as Client, CHANGES)),
    );
    expect(new Set(all.map(({ id }) => id)).size).to.equal(12);
  });

  it('of a worker that is killed are Failed, and the others go on', async () => {
    const before = workers();
    const asked = Promise.allSettled(
      Array.from({ length: 20 }, (_, at) => askFor(admins[at % CONNECTIONS] as Client, CHANGES)),
    );
    await eventually(async () => {
      const makers = (await running()).map(({ maker }) => maker);
      expect(new Set(makers).size).to.equal(2);
    });
    process.kill(before[0] as number, 'SIGKILL');
    await asked;
    for (const client of admins) client.close();
    admins = await signInOverMany(await hawser.listening());
    await eventually(async () => expect(await running()).to.deep.equal([]));
    const rows = await database.read.selectFrom('previews').select(['state', 'error']).execute();
    const failed = rows.filter(({ state }) => state === 'Failed');
    expect(failed).to.not.have.length(0);
    for (const { error } of failed) expect(error).to.match(/^The server ended/);
    await preview(admins[0] as Client, CHANGES);
  });
});
