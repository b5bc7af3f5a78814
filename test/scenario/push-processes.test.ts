// full: PostgreSQL
/** Pushes to several servers on one database. */

import { expect } from 'chai';
import { fileOf, versionsOf } from '../support/configurations.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { type GitClient, gitClient } from '../support/git-client.ts';
import { createToken, type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, poll } from '../support/parameter-files.ts';
import { cloneOf, DRAFT, type PushAuthor } from '../support/push-author.ts';
import { ok } from '../support/replies.ts';

const MAIN = 'main.dsc.yaml';
const ONE = { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } };
const SCOPES = ['configurations.create', 'configurations.admin-override'];
const AT_ONCE = 6;

/** Pushes the same version from several clones at once, by the clients in turn. @returns the only winner */
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
  return won[0];
}

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
    const winner = await race(clients, token);
    for (const { admin } of [one, other])
      expect((await admin.get(fileOf('raced', '1.1.0', MAIN))).text).to.equal(
        `$schema: x\nresources: []\n# ${winner}\n`,
      );
  });
});
