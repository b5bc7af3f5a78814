// full: PostgreSQL
/** A backup is the way from one engine to the other: what a node gets stays the same. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeClient, type Target } from '../support/client.ts';
import { addVersion, MAIN } from '../support/configurations.ts';
import { describeOnPostgres } from '../support/engine.ts';
import {
  ADMIN_PASSWORD,
  type Hawser,
  type NodeUnderTest,
  publishConfiguration,
  signIn,
  startHawser,
} from '../support/hawser.ts';
import { assign, saveParameters } from '../support/parameter-files.ts';
import { newDatabase, querySharedCluster, type TestDatabase } from '../support/postgres.ts';
import { ok } from '../support/replies.ts';
import { runHawser, spawnHawser } from '../support/spawned.ts';
import { unzip } from '../support/unzip.ts';

const SQLITE = { HAWSER_DATABASE_URL: '' };

describeOnPostgres('a backup', () => {
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
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await ok(201, addVersion(hawser.admin, 'web'));
    await saveParameters(hawser, { configuration: 'web', content: 'parameters: {}' });
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

  /** The files of an archive that do not depend on the engine that it is from. */
  async function lastingFiles(path: string): Promise<Record<string, string>> {
    const files = await unzip(readFileSync(path));
    const lasting = files.filter(({ path: name }) =>
      /^data\/tls\/ca|\/(?:web)\.git\/(?:HEAD|config|description|packed-refs)$/.test(name),
    );
    return Object.fromEntries(lasting.map(({ path: name, content }) => [name, content.toString('utf8')]));
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
    await publishConfiguration(admin, `later-${name}`, {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' },
    });
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
    // The rows, the repositories and the authority's key are in PostgreSQL alone.
    expect(readdirSync(join(folder, 'postgres-again/data'))).to.not.include('hawser.db');
    expect(readdirSync(join(folder, 'postgres-again/data/tls'))).to.not.include('ca.key');
    const last = join(folder, 'from-postgres-again.zip');
    const again = await runHawser(join(folder, 'postgres-again'), settings, ['backup', last]);
    expect(again.code, again.stderr).to.equal(0);
    const files = await lastingFiles(archive);
    expect(Object.keys(files)).to.have.length(2 + 2 * 4);
    expect(files['repos/configurations/web.git/packed-refs']).to.match(
      /draft.*\n(?:.*\n)*.*tags\/v1\.0\.0\n\^/,
    );
    expect(await lastingFiles(other)).to.deep.equal(files);
    expect(await lastingFiles(last)).to.deep.equal(files);
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

  for (const [what, statement] of [
    ['a secret', "insert into secrets values ('ca.crt', 'x')"],
    [
      'a repository',
      `insert into git_repositories (id, kind, name, state)
        values (gen_random_uuid(), 'composites', 'x', gen_random_uuid())`,
    ],
  ] as const)
    it(`is not restored to a database that holds nothing but ${what}`, async () => {
      const database = await newDatabase('migrated');
      databases.push(database);
      await querySharedCluster(statement, database.name);
      const place = join(folder, what);
      const refused = await runHawser(place, { HAWSER_DATABASE_URL: database.url }, ['restore', archive]);
      expect(refused.stderr).to.match(/^hawser: HAWSER_DATABASE_URL: the database is not empty .*\n$/);
      expect(refused.code).to.equal(1);
    });
});
