import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import type { GitTables } from '../../../src/db/git-tables.ts';
import { openDatabase } from '../../../src/db/open.ts';
import { createLog } from '../../../src/lib/log.ts';
import { pruneRepositories } from '../../../src/versions/pruning.ts';
import type { GitStore } from '../../../src/versions/store.ts';
import { newDatabase, type TestDatabase } from '../../support/postgres.ts';
import { file, makePublishedWeb, makeStore, replace, summary, WEB } from './support.ts';

describe('objects in PostgreSQL to which no ref leads', () => {
  let place: TestDatabase;
  let database: Database;
  let tables: GitTables;
  let store: GitStore;
  let root: string;

  beforeEach(async () => {
    place = await newDatabase('migrated');
    database = await openDatabase({ dataDir: '', databaseUrl: place.url });
    if (database.repositories === null) throw new Error('no tables');
    tables = database.repositories;
    root = mkdtempSync(join(tmpdir(), 'hawser-pruning-'));
    store = makeStore(root, [], { shared: { reader: tables, tables }, locks: database.locks });
    await store.prepare();
    await makePublishedWeb(store);
    await store.exclusive(WEB, async (repository) => {
      const draft = { version: '1.1.0', entryPoint: 'main.dsc.yaml', files: [file('main.dsc.yaml', 'a')] };
      await repository.writeDraft('', { ...draft, author: { name: 'A', email: 'a@example.org' }, at: 1_000 });
    });
    await replace(store, '1.1.0', [file('main.dsc.yaml', 'b')]);
  });
  afterEach(async () => {
    await store.close();
    await database.close();
    await place.drop();
    rmSync(root, { recursive: true });
  });

  const countObjects = async () => {
    const { rows } = await sql<{ count: number }>`select count(*) as count from git_objects`.execute(
      database.read,
    );
    return rows[0]?.count ?? 0;
  };
  const age = (column: string, table: string, hours: number) =>
    sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} - ${`${hours} hours`}::interval`.execute(
      database.write,
    );
  const prune = () => pruneRepositories({ database, log: createLog('silent') }, new AbortController().signal);

  it('go once they are a day old, and nothing else does', async () => {
    const before = await countObjects();
    await prune();
    expect(await countObjects()).to.equal(before);
    await age('created_at', 'git_objects', 25);
    await age('pruned_at', 'git_repositories', 25);
    await prune();
    // The blob, the tree and the commit that were replaced.
    expect(await countObjects()).to.equal(before - 3);
    rmSync(root, { recursive: true });
    await store.folders.materialise(WEB);
    const folder = join(root, 'configurations/web.git');
    const fsck = execFileSync('git', ['-C', folder, 'fsck', '--strict'], { encoding: 'utf8', stdio: 'pipe' });
    expect(fsck).to.equal('');
    expect(await summary(store)).to.deep.equal(['1.1.0 Draft', '1.0.0 Published']);
  });

  it('stay if they were written once more meanwhile', async () => {
    const before = await countObjects();
    await age('created_at', 'git_objects', 25);
    await replace(store, '1.1.0', [file('main.dsc.yaml', 'a')]);
    await prune();
    // The blob and the tree of the first draft are needed again. Its commit, and what the second one had, go.
    expect(await countObjects()).to.equal(before + 1 - 4);
  });

  it('go with their repository, an hour after it was removed', async () => {
    await store.remove(WEB);
    await prune();
    expect(await countObjects()).to.be.above(0);
    await age('removed_at', 'git_repositories', 2);
    await prune();
    expect(await countObjects()).to.equal(0);
    expect(await tables.list()).to.deep.equal([]);
  });
});
