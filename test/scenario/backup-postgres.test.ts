/** A backup is the way from one engine to the other: what a node gets stays the same. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeClient, type Target } from '../support/client.ts';
import { MAIN } from '../support/configurations.ts';
import { describeOnPostgres } from '../support/engine.ts';
import {
  ADMIN_PASSWORD,
  type Hawser,
  type NodeUnderTest,
  publishConfiguration,
  signIn,
  startHawser,
} from '../support/hawser.ts';
import { assign } from '../support/parameter-files.ts';
import { newDatabase, querySharedCluster, type TestDatabase } from '../support/postgres.ts';
import { ok } from '../support/replies.ts';
import { runHawser, spawnHawser } from '../support/spawned.ts';

const SQLITE = { HAWSER_DATABASE_URL: '' };

describeOnPostgres('a backup', function () {
  this.timeout(120_000);
  let hawser: Hawser;
  let node: NodeUnderTest;
  let folder: string;
  let archive: string;
  let checksum: string;
  const databases: TestDatabase[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-moves-'));
    hawser = await startHawser();
    node = await hawser.registerNode('web-01.example.org');
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: 'resources: []\n' } });
    await assign(hawser, node, 'web');
    checksum = await checksumAt(hawser.target());
    archive = join(folder, 'from-postgres.zip');
    const backup = await runHawser(hawser.folder, {}, ['backup', archive]);
    expect(backup.code, backup.stderr).to.equal(0);
  });
  after(async () => {
    await hawser.close();
    rmSync(folder, { recursive: true, force: true });
    for (const database of databases) await database.drop();
  });

  async function checksumAt(target: Target): Promise<string> {
    const client = makeClient(target, node.identity);
    const body = await ok(200, client.get(`/api/v1/nodes/${node.nodeId}/configuration/checksum`));
    client.close();
    return String(body['checksum']);
  }

  async function emptyDatabase(): Promise<Record<string, string>> {
    const database = await newDatabase();
    databases.push(database);
    return { HAWSER_DATABASE_URL: database.url };
  }

  /** Restores an archive, and serves what it held. */
  async function serves(name: string, settings: Record<string, string>, from: string): Promise<void> {
    const place = join(folder, name);
    const restored = await runHawser(place, settings, ['restore', from]);
    expect(restored.code, restored.stderr).to.equal(0);
    const server = await spawnHawser(place, settings);
    const target = await server.listening();
    expect(await checksumAt(target)).to.equal(checksum);
    // What is made after the restore gets numbers after those that were there.
    const client = makeClient(target);
    const admin = client.with({ Cookie: await signIn(client, 'admin', ADMIN_PASSWORD) });
    const groups = { name: `made in ${name}` };
    await ok(201, admin.post('/api/v1/groups', groups));
    await publishConfiguration(admin, `later-${name}`, { '1.0.0': { [MAIN]: 'resources: []\n' } });
    client.close();
    server.child.kill('SIGTERM');
    expect((await server.ended).code).to.equal(0);
  }

  it('is restored to SQLite, and from there to PostgreSQL again', async () => {
    await serves('sqlite', SQLITE, archive);
    const other = join(folder, 'from-sqlite.zip');
    const backup = await runHawser(join(folder, 'sqlite'), SQLITE, ['backup', other]);
    expect(backup.code, backup.stderr).to.equal(0);
    const settings = await emptyDatabase();
    await serves('postgres-again', settings, other);
    // The rows are in PostgreSQL alone.
    expect(readdirSync(join(folder, 'postgres-again/data'))).to.not.include('hawser.db');
  });

  it('is restored to an empty PostgreSQL, and to no other', async () => {
    const settings = await emptyDatabase();
    await serves('postgres', settings, archive);
    // Statistics of each table are there from the begin, so that no query is slow until PostgreSQL gathers them.
    const unknown = await querySharedCluster(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
        and reltuples < 0 and relname not like 'kysely%'`,
      databases.at(-1)?.name,
    );
    expect(unknown).to.deep.equal([]);
    const again = await runHawser(join(folder, 'postgres-2'), settings, ['restore', archive]);
    expect(again.stderr).to.match(/^hawser: HAWSER_DATABASE_URL: the database is not empty .*\n$/);
    expect(again.code).to.equal(1);
  });
});
