import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError } from '../../../src/config.ts';
import type { Database } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/db/open.ts';
import { refuseOtherUse } from '../../../src/git/cache-root.ts';
import { followFeed } from '../../../src/versions/follow-feed.ts';
import type { GitStore } from '../../../src/versions/store.ts';
import { failureOf } from '../../support/failures.ts';
import { newDatabase, type TestDatabase } from '../../support/postgres.ts';
import { inFolder } from '../../support/temporary.ts';
import {
  AT,
  addVersion,
  BOB,
  draftOf,
  makePublishedWeb,
  makeStore,
  makeWeb,
  publish,
  runGit,
  settingsOf,
  summary,
  WEB,
} from './support.ts';

/** A server, as far as repositories go. */
interface Server {
  root: string;
  database: Database;
  store: GitStore;
}

const git = (root: string, ...args: string[]) => runGit(join(root, 'configurations', 'web.git'), ...args);

describe('repositories in PostgreSQL', () => {
  let place: TestDatabase;
  let servers: Server[];

  async function newServer(root = mkdtempSync(join(tmpdir(), 'hawser-cache-'))): Promise<Server> {
    const database = await openDatabase({ dataDir: '', databaseUrl: place.url });
    const { repositories, locks } = database;
    if (repositories === null) throw new Error('no tables');
    const store = makeStore(root, [], { shared: { reader: repositories, tables: repositories }, locks });
    followFeed(store, database);
    await store.prepare();
    store.open();
    const server = { root, database, store };
    servers.push(server);
    return server;
  }

  beforeEach(async () => {
    place = await newDatabase('migrated');
    servers = [];
  });
  afterEach(async () => {
    for (const { store, database, root } of servers) {
      await store.close();
      await database.close();
      rmSync(root, { recursive: true, force: true });
    }
    await place.drop();
  });

  it('are the same on each server as soon as a write has returned', async () => {
    const [one, other] = [await newServer(), await newServer()];
    await makeWeb(one.store);
    await other.database.changes.catchUp('now');
    expect(await summary(other.store)).to.deep.equal(['1.0.0 Draft']);
    await publish(other.store, '1.0.0');
    await addVersion(one.store, '1.1.0');
    for (const { database, store } of [one, other]) {
      await database.changes.catchUp('now');
      expect(await summary(store)).to.deep.equal(['1.1.0 Draft', '1.0.0 Published']);
    }
  });

  it('give stock git the same objects and refs from the folder of each server, whole for git fsck', async () => {
    const [one, other] = [await newServer(), await newServer()];
    await makeWeb(one.store);
    await publish(one.store, '1.0.0');
    const shown: string[] = [];
    for (const { store, root } of [one, other]) {
      await store.folders.materialise(WEB);
      expect(git(root, 'fsck', '--strict', '--no-dangling')).to.equal('');
      shown.push(git(root, 'for-each-ref', '--format=%(refname) %(objectname)'));
    }
    expect(shown[0]).to.match(/^refs\/heads\/main \w{40}\nrefs\/tags\/v1.0.0 \w{40}$/);
    expect(shown[1]).to.equal(shown[0]);
    await addVersion(one.store, '1.1.0');
    await other.store.folders.materialise(WEB);
    expect(git(other.root, 'for-each-ref', '--format=%(refname)')).to.contain('refs/heads/draft/1.1.0');
  });

  it('are not changed by what stock git does in a folder, which is put right for the next clone', async () => {
    const { store, root } = await newServer();
    await makePublishedWeb(store);
    await store.folders.materialise(WEB);
    git(root, 'tag', '-m', 'mine', 'v9.0.0', 'main');
    git(root, 'pack-refs', '--all');
    expect(await summary(store)).to.deep.equal(['1.0.0 Published']);
    await store.folders.materialise(WEB);
    expect(git(root, 'tag')).to.equal('v1.0.0');
  });

  it('can be made anew on one server as soon as another has deleted them', async () => {
    const [one, other] = [await newServer(), await newServer()];
    for (let round = 0; round < 5; round += 1) {
      await makeWeb(one.store);
      await other.database.changes.catchUp('now');
      expect(await summary(other.store)).to.deep.equal(['1.0.0 Draft']);
      await other.store.remove(WEB);
      // The feed tells of the removal while the repository is being made.
      await Promise.all([makeWeb(one.store, '2.0.0'), one.database.changes.catchUp('now')]);
      for (const { database, store } of [one, other]) {
        await database.changes.catchUp('now');
        expect(await summary(store)).to.deep.equal(['2.0.0 Draft']);
      }
      await one.store.remove(WEB);
    }
  });

  it('are as before after a failure of the commit, and can be made then', async () => {
    const { store, database } = await newServer();
    const failing = () => async () => {
      throw new Error('not now');
    };
    const settings = settingsOf();
    const making = store.create(WEB, settings, draftOf('1.0.0'), failing);
    expect((await failureOf(making)).message).to.equal('not now');
    expect(await store.has(WEB)).to.equal(false);
    await makeWeb(store);
    const publishing = store.exclusive(WEB, async (repository) => {
      await repository.publish('', '1.0.0', { tagger: BOB, at: AT });
      await repository.note(failing());
    });
    expect((await failureOf(publishing)).message).to.equal('not now');
    expect(await summary(store)).to.deep.equal(['1.0.0 Draft']);
    await publish(store, '1.0.0');
    await database.changes.catchUp('now');
    expect(await summary(store)).to.deep.equal(['1.0.0 Published']);
  });

  it('outlast their folders, which may be deleted at any time', async () => {
    const { store, root } = await newServer();
    await makePublishedWeb(store);
    await store.folders.materialise(WEB);
    rmSync(root, { recursive: true });
    await addVersion(store, '1.1.0');
    const { versions } = await store.versions(WEB);
    expect(await store.details(WEB, versions[1] ?? expect.fail())).to.include({ version: '1.0.0' });
    await store.folders.materialise(WEB);
    expect(git(root, 'fsck', '--strict', '--no-dangling')).to.equal('');
  });

  it('are filled anew where git has found the folder damaged', async () => {
    const { store, root } = await newServer();
    await makeWeb(store);
    await store.folders.materialise(WEB);
    const commit = git(root, 'rev-parse', 'refs/heads/draft/1.0.0');
    const path = join(root, 'configurations/web.git/objects', commit.slice(0, 2), commit.slice(2));
    rmSync(path);
    writeFileSync(path, 'spoilt');
    await store.folders.distrust(WEB);
    await store.folders.materialise(WEB);
    expect(git(root, 'fsck', '--strict', '--no-dangling')).to.equal('');
  });

  it('make a start refuse a folder that holds repositories of its own', async () => {
    await inFolder((root) => {
      mkdirSync(join(root, 'configurations', 'mine.git'), { recursive: true });
      expect(() => refuseOtherUse(root, true)).to.throw(ConfigError, /^HAWSER_REPOS_DIR: holds repositories/);
      expect(() => refuseOtherUse(root, false)).not.to.throw();
    });
  });

  it('leave a folder behind that a server with SQLite refuses', async () => {
    const { root } = await newServer();
    expect(() => refuseOtherUse(root, false)).to.throw(ConfigError, /^HAWSER_REPOS_DIR: is the cache/);
    expect(() => refuseOtherUse(root, true)).not.to.throw();
  });

  it('lose the folders of those that were removed at the next start, and after a start of the machine all', async () => {
    const one = await newServer();
    await makeWeb(one.store);
    await one.store.folders.materialise(WEB);
    const folder = join(one.root, 'configurations', 'web.git');
    await newServer(one.root);
    expect(existsSync(folder)).to.equal(true);
    writeFileSync(join(one.root, '.hawser-cache'), 'an earlier start');
    await newServer(one.root);
    expect(existsSync(folder)).to.equal(false);
    await one.store.folders.materialise(WEB);
    await one.store.remove(WEB);
    await newServer(one.root);
    expect(existsSync(folder)).to.equal(false);
  });
});
