// full: SQLite, PostgreSQL
/** Pushes to several processes: workers behind one port, and servers on one database. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Client, makeClient } from '../support/client.ts';
import { fileOf, versionsOf } from '../support/configurations.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { type GitClient, gitClient } from '../support/git-client.ts';
import {
  ADMIN_PASSWORD,
  createToken,
  type Hawser,
  publishConfiguration,
  signIn,
  startHawser,
} from '../support/hawser.ts';
import { assign, poll } from '../support/parameter-files.ts';
import { cloneOf, DRAFT, type PushAuthor } from '../support/push-author.ts';
import { ok } from '../support/replies.ts';
import { type Spawned, spawnHawser } from '../support/spawned.ts';

const MAIN = 'main.dsc.yaml';
const ONE = { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } };
const SCOPES = ['configurations.create', 'configurations.admin-override'];
const AT_ONCE = 6;

/** The statuses of the versions, by their names. */
const statusesOf = async (client: Client, name: string): Promise<Record<string, string>> => {
  const versions = await ok(200, client.get(versionsOf(name)));
  return Object.fromEntries(
    versions.map(({ version, status }: { version: string; status: string }) => [version, status]),
  );
};

/** Pushes the same version from several clones at once, by the clients in turn. @returns the runs, and the only winner */
async function race(clients: readonly GitClient[], token: string) {
  const authors: PushAuthor[] = [];
  for (let at = 0; at < AT_ONCE; at += 1) {
    const author = await cloneOf(clients[at % clients.length] as GitClient, 'raced', token);
    await author.commit({ [MAIN]: `$schema: x\nresources: []\n# ${at}\n` });
    await author.ok('tag', '-a', 'v1.1.0', '-m', `of ${at}`);
    authors.push(author);
  }
  const runs = await Promise.all(authors.map((author) => author.push('v1.1.0')));
  const won = runs.flatMap(({ code }, at) => (code === 0 ? [at] : []));
  expect(won, runs.map(({ output }) => output).join()).to.have.length(1);
  return { runs, winner: won[0] };
}

describe('pushes to a server of two workers', function () {
  this.timeout(300_000);
  let folder: string;
  let hawser: Spawned;
  let admin: Client;
  let git: GitClient;
  let token: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-workers-'));
    hawser = await spawnHawser(folder, { HAWSER_WORKERS: '2' });
    const target = await hawser.listening();
    const first = makeClient(target);
    token = await createToken(first, await signIn(first, 'admin', ADMIN_PASSWORD), SCOPES);
    admin = first.with({ Authorization: `Bearer ${token}` });
    git = gitClient({ dataDir: join(folder, 'data'), server: target });
  });
  after(async () => {
    git.close();
    admin.close();
    hawser.child.kill('SIGKILL');
    await hawser.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  it('are taken by all of them, and what one has taken the others know', async () => {
    await publishConfiguration(admin, 'shared', ONE);
    const author = await cloneOf(git, 'shared', token);
    for (let minor = 1; minor <= AT_ONCE; minor += 1) {
      await author.commit({ [MAIN]: `$schema: x\nresources: []\n# ${minor}\n` });
      await author.ok('push', '-q', 'origin', `HEAD:${DRAFT}/1.${minor}.0`);
      await author.ok('push', '-q', 'origin', `HEAD~0:${DRAFT}/2.0.0`);
      await author.ok('tag', '-a', `v1.${minor}.0`, '-m', 'a version');
      await author.ok('push', '-q', 'origin', `v1.${minor}.0`);
    }
    const expected = { '1.0.0': 'Published', '2.0.0': 'Draft' } as Record<string, string>;
    for (let minor = 1; minor <= AT_ONCE; minor += 1) expected[`1.${minor}.0`] = 'Published';
    for (let at = 0; at < AT_ONCE; at += 1) expect(await statusesOf(admin, 'shared')).to.deep.equal(expected);
  });

  it('of one version at once are won by one', async () => {
    await publishConfiguration(admin, 'raced', ONE);
    const { runs, winner } = await race([git], token);
    for (const { code, output } of runs)
      if (code !== 0) expect(output).to.match(/\((?:already_published|published_version)\)|already exists/);
    expect((await admin.get(fileOf('raced', '1.1.0', MAIN))).text).to.equal(
      `$schema: x\nresources: []\n# ${winner}\n`,
    );
  });
});

describeOnPostgres('pushes to two servers', function (this: Mocha.Suite) {
  this.timeout(300_000);
  let one: Hawser;
  let other: Hawser;
  let clients: GitClient[];
  let token: string;

  before(async () => {
    one = await startHawser();
    other = await startHawser({ HAWSER_DATABASE_URL: one.databaseUrl ?? '' });
    clients = [gitClient(one), gitClient(other)];
    token = await createToken(one.client(), one.session, SCOPES);
  });
  after(async () => {
    for (const client of clients) client.close();
    await other.close();
    await one.close();
  });

  it('meet in the clones of both, whichever of them was pushed to', async () => {
    await publishConfiguration(one.admin, 'web', ONE);
    const node = await one.registerNode('web-01.example.org');
    await assign(one, node, 'web');
    const [ada, bob] = await Promise.all(clients.map((client) => cloneOf(client, 'web', token)));
    if (ada === undefined || bob === undefined) throw new Error('fewer than two clones');
    await ada.commit({ [MAIN]: '$schema: x\nresources: []\n# ada\n' });
    await ada.ok('push', '-q', 'origin', `HEAD:${DRAFT}/1.1.0`);
    await bob.ok('fetch', '-q');
    await bob.ok('reset', '-q', '--hard', 'origin/draft/1.1.0');
    const reviewed = await bob.commit({ [MAIN]: '$schema: x\nresources: []\n# ada and bob\n' });
    await bob.ok('push', '-q', 'origin', `HEAD:${DRAFT}/1.1.0`);
    await ada.ok('fetch', '-q');
    await ada.ok('tag', '-a', '-m', 'Version 1.1.0', 'v1.1.0', 'origin/draft/1.1.0');
    await ada.ok('push', '-q', 'origin', 'v1.1.0');
    for (const { admin } of [one, other]) {
      const version = await ok(200, admin.get(`${versionsOf('web')}/1.1.0`));
      expect(version).to.include({ status: 'Published', commit: reviewed, publishedBy: 'admin' });
    }
    expect((await ok(200, poll(node))).version).to.equal('1.1.0');
    await bob.ok('fetch', '-q', '--prune', '--tags');
    expect((await bob.ok('rev-parse', 'origin/main', 'v1.1.0^{commit}')).trim().split('\n')).to.deep.equal([
      reviewed,
      reviewed,
    ]);
    expect(await bob.ok('branch', '-r', '--list', 'origin/draft/*')).to.equal('');
  });

  it('of one version at once are won by one', async () => {
    await publishConfiguration(one.admin, 'raced', ONE);
    const { winner } = await race(clients, token);
    for (const { admin } of [one, other])
      expect((await admin.get(fileOf('raced', '1.1.0', MAIN))).text).to.equal(
        `$schema: x\nresources: []\n# ${winner}\n`,
      );
  });
});
