// full: SQLite, PostgreSQL
/** Stock git clients push tags that are kept beside their drafts, until somebody publishes these. */

import { expect } from 'chai';
import { proposed, setOf } from '../support/change-sets.ts';
import { publish } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { gitClient } from '../support/git-client.ts';
import { quarantinesOf } from '../support/hand-made-push.ts';
import { createToken, startHawser } from '../support/hawser.ts';
import { beginAuthor, DRAFT, type PushAuthor } from '../support/push-author.ts';
import { ok } from '../support/replies.ts';
import { prepareRings, rollOut } from '../support/rollouts.ts';
import { started } from '../support/started.ts';

const filesOf = (what: string) => ({ 'main.dsc.yaml': `$schema: x\nresources: []\n# ${what}\n` });

describe('git push -o keep', function () {
  this.timeout(60_000);
  const hawser = started(startHawser);
  const client = started(async () => gitClient(hawser));
  let token: string;
  before(async () => {
    token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
  });
  afterEach(() => expect(quarantinesOf(hawser), 'quarantines').to.deep.equal([]));

  const version = ({ api }: PushAuthor, name: string) => ok(200, hawser.admin.get(`${api}/versions/${name}`));
  const refsOf = async (author: PushAuthor): Promise<Record<string, string>> => {
    const lines = (await author.ok('ls-remote', 'origin')).trim().split('\n');
    return Object.fromEntries(lines.map((line) => line.split('\t').toReversed()));
  };
  /** A configuration with a tag `v1.1.0` that is kept. */
  async function kept(what: string, message = 'What is new') {
    const author = await beginAuthor(hawser, client, token);
    const { commit, tag } = await keep(author, what, message);
    return { author, commit, tag };
  }
  async function keep(author: PushAuthor, what: string, message: string) {
    const commit = await author.commit(filesOf(what));
    await author.ok('tag', '-f', '-a', 'v1.1.0', '-m', message);
    const tag = (await author.ok('rev-parse', 'v1.1.0')).trim();
    const { code, output } = await author.git('push', '-o', 'keep', 'origin', 'v1.1.0');
    expect(code, output).to.equal(0);
    expect(output).to.include('draft/1.1.0 is there with its tag; who publishes it publishes by this tag.');
    return { commit, tag };
  }
  async function expectPlaced(author: PushAuthor, { commit, tag }: { commit: string; tag: string }) {
    expect(await version(author, '1.1.0')).to.include({ status: 'Published', commit, publishedBy: 'admin' });
    expect((await refsOf(author))['refs/tags/v1.1.0']).to.equal(tag);
  }

  it('publishes nothing, and publishes by this very tag once somebody publishes the draft', async () => {
    const { author, commit, tag } = await kept('two');
    expect(await version(author, '1.1.0')).to.include({ status: 'Draft', commit, publishedAt: null });
    expect(await refsOf(author)).to.have.property('refs/heads/draft/1.1.0', commit);
    expect(await refsOf(author)).to.not.have.any.keys('refs/tags/v1.1.0');
    await ok(200, publish(hawser.admin, author.name, '1.1.0'));
    await expectPlaced(author, { commit, tag });
    expect(await refsOf(author)).to.not.have.any.keys('refs/heads/draft/1.1.0');
  });

  it('publishes by this tag in a change set, and into a rollout', async () => {
    const first = await kept('set');
    const set = await proposed(hawser.admin, [
      { kind: 'PublishConfiguration', configurationName: first.author.name, version: '1.1.0' },
    ]);
    await ok(200, hawser.admin.post(`${setOf(set)}/apply`, { digest: set.digest }));
    await expectPlaced(first.author, first);
    await prepareRings(hawser);
    const second = await kept('rings');
    await ok(201, rollOut(hawser.admin, second.author.name, '1.1.0'));
    await expectPlaced(second.author, second);
  });

  it('ends with another commit on the draft, of whatever way', async () => {
    const ways: Record<string, (author: PushAuthor) => Promise<unknown>> = {
      'an edit': ({ api }) =>
        hawser.admin.call('PUT', `${api}/versions/1.1.0/files/a.txt`, {
          ...{ body: 'other\n', headers: { 'Content-Type': 'text/plain' } },
        }),
      'a push': async (author) => {
        await author.commit(filesOf('pushed since'));
        return author.ok('push', 'origin', `HEAD:${DRAFT}/1.1.0`);
      },
    };
    for (const [what, change] of Object.entries(ways)) {
      const { author, tag } = await kept(what);
      await change(author);
      await ok(200, publish(hawser.admin, author.name, '1.1.0'));
      expect((await refsOf(author))['refs/tags/v1.1.0'], what)
        .to.be.a('string')
        .and.not.equal(tag);
    }
  });

  it('replaces the draft that is there, and the tag that was kept before', async () => {
    const { author, commit } = await kept('first');
    const again = await keep(author, 'second', 'Another tag');
    expect(again.commit).to.not.equal(commit);
    expect(await version(author, '1.1.0')).to.include({ status: 'Draft', commit: again.commit });
    await author.ok('tag', '-f', '-a', 'v1.1.0', '-m', 'The same commit', again.commit);
    const last = { commit: again.commit, tag: (await author.ok('rev-parse', 'v1.1.0')).trim() };
    await author.ok('push', '-o', 'keep', 'origin', 'v1.1.0');
    await ok(200, publish(hawser.admin, author.name, '1.1.0'));
    await expectPlaced(author, last);
    const { output } = await author.git('push', '-f', '-o', 'keep', 'origin', `${commit}:refs/tags/v1.1.0`);
    expect(output).to.match(/published_version|lightweight_tag/);
  });

  it('has the entry point that the tag names', async () => {
    const author = await beginAuthor(hawser, client, token);
    await author.commit({ 'other.dsc.yaml': '$schema: x\nresources: []\n' });
    await author.ok('rm', '-q', 'main.dsc.yaml');
    await author.commit({});
    await author.ok('tag', '-a', 'v1.1.0', '-m', 'New\n\nEntry-Point: other.dsc.yaml');
    await author.ok('push', '-o', 'keep', 'origin', 'v1.1.0');
    expect(await version(author, '1.1.0')).to.include({ status: 'Draft', entryPoint: 'other.dsc.yaml' });
    await ok(200, publish(hawser.admin, author.name, '1.1.0'));
    expect(await version(author, '1.1.0')).to.include({ status: 'Published', entryPoint: 'other.dsc.yaml' });
  });

  itOnSqlite('stays where stock git throws away what no ref leads to', async () => {
    const { author, commit, tag } = await kept('gc');
    hawser.git(`configurations/${author.name}.git`, 'gc', '--quiet', '--prune=now');
    await ok(200, publish(hawser.admin, author.name, '1.1.0'));
    await expectPlaced(author, { commit, tag });
  });

  it('goes with one tag alone', async () => {
    const author = await beginAuthor(hawser, client, token);
    await author.commit(filesOf('two'));
    await author.ok('tag', '-a', 'v1.1.0', '-m', 'x');
    const refs = ['v1.1.0', `HEAD:${DRAFT}/1.1.0`];
    const wrong: string[][] = [
      ['-o', 'keep', 'origin', `HEAD:${DRAFT}/1.1.0`],
      ['-o', 'keep', 'origin', ...refs],
      ['-o', 'keep', '-o', 'keep', 'origin', 'v1.1.0'],
      ['-o', 'keep', '-o', 'publish', 'origin', 'v1.1.0'],
      ['-o', 'keep', '-o', 'propose=It', 'origin', 'v1.1.0'],
    ];
    for (const args of wrong) {
      const { code, output } = await author.git('push', ...args);
      expect(code, output).to.not.equal(0);
      expect(output, args.join(' ')).to.include('invalid_option');
    }
    expect(await refsOf(author)).to.not.have.any.keys('refs/heads/draft/1.1.0', 'refs/tags/v1.1.0');
  });
});
