import { join } from 'node:path';
import { expect } from 'chai';
import type { Db } from '../../../src/db/database.ts';
import { AtomicFs } from '../../../src/git/atomic-fs.ts';
import { FolderRefs } from '../../../src/git/folder-refs.ts';
import { LocalLocks } from '../../../src/lib/locks.ts';
import { createLog } from '../../../src/lib/log.ts';
import type { ReadyStep, RefStep } from '../../../src/versions/ref-step.ts';
import type { GitStore, RepositoryRef } from '../../../src/versions/store.ts';
import {
  AT,
  addVersion,
  BOB,
  codeOf,
  draftOf,
  makeWeb,
  onStore,
  publish,
  runGit,
  settingsOf,
  WEB,
} from './support.ts';

const API: RepositoryRef = { kind: 'configurations', name: 'api' };
/** What a step is given; nothing is in PostgreSQL here. */
const NO_TRANSACTION = {} as Db;
const BY = { tagger: BOB, at: AT };

/** Two configurations, each with a published version and a draft, and a repository whose branch is moved first. */
async function twoConfigurations(store: GitStore, root: string) {
  await makeWeb(store);
  await publish(store, '1.0.0');
  await addVersion(store, '1.1.0');
  await store.create(API, settingsOf(), draftOf('1.0.0'));
  const first = join(root, 'first.git');
  runGit(root, 'init', '--quiet', '--bare', first);
  const tree = runGit(first, 'hash-object', '-w', '-t', 'tree', '/dev/null');
  const to = runGit(first, 'commit-tree', tree, '-m', 'Apply');
  const refs = new FolderRefs({ fs: new AtomicFs(), log: createLog('silent'), gitdir: first });
  return {
    first: { refs, moves: [{ name: 'refs/heads/main', from: null, to, peeled: null }] },
    to,
    gitdir: first,
  };
}

function publishBoth(store: GitStore, work: (step: RefStep<GitStore>) => Promise<void>): Promise<void> {
  const moved = async () => undefined;
  return store.together([WEB, API], { onRefsMoved: moved, locks: new LocalLocks() }, async (step) => {
    await step.store.exclusive(WEB, (repository) => repository.publish('', '1.1.0', BY));
    await step.store.exclusive(API, (repository) => repository.publish('', '1.0.0', BY));
    await work(step);
  });
}

async function published(store: GitStore): Promise<string[][]> {
  const of = async (ref: RepositoryRef) =>
    (await store.versions(ref)).published.map(({ version }) => version);
  return [await of(WEB), await of(API)];
}

const BEFORE = [['1.0.0'], []];
const AFTER = [['1.1.0', '1.0.0'], ['1.0.0']];

describe('a step in several repositories', () => {
  it('is seen by nobody before it is made, and by all as a whole afterwards', async () => {
    await onStore(async ({ store, root, git, reopen }) => {
      const { first, to, gitdir } = await twoConfigurations(store, root);
      const tags = () => [git('tag'), runGit(join(root, 'configurations', 'api.git'), 'tag')];
      await publishBoth(store, async (step) => {
        expect(await published(step.store)).to.deep.equal(AFTER);
        const ready = await step.ready(await step.effects(), first);
        expect(await published(store)).to.deep.equal(BEFORE);
        expect(tags()).to.deep.equal(['v1.0.0', '']);
        await ready.commit(NO_TRANSACTION);
        expect(await published(store)).to.deep.equal(AFTER);
        expect(tags()).to.deep.equal(['v1.0.0\nv1.1.0', 'v1.0.0']);
        ready.settle();
        await ready.flush();
        await ready.end();
      });
      expect(await published(store)).to.deep.equal(AFTER);
      expect(await published(await reopen())).to.deep.equal(AFTER);
      expect(runGit(gitdir, 'rev-parse', 'main')).to.equal(to);
      expect(git('branch', '--list', 'draft/*')).to.equal('');
      expect(git('rev-parse', 'main')).to.equal(git('rev-parse', 'v1.1.0^{commit}'));
      // What an annotated tag leads to is written beside it, where git trusts it.
      expect(git('show-ref', '--dereference', 'v1.1.0').split('\n')).to.have.length(2);
      expect(git('fsck', '--strict')).to.equal('');
      await addVersion(store, '1.2.0');
      await publish(store, '1.2.0');
      expect((await published(store))[0]).to.deep.equal(['1.2.0', '1.1.0', '1.0.0']);
    });
  });

  it('leaves all as it was where it fails before it is made, and where it is taken back', async () => {
    await onStore(async ({ store, root, git, reopen }) => {
      const { first, gitdir } = await twoConfigurations(store, root);
      const refs = () => [git('show-ref'), runGit(join(root, 'configurations', 'api.git'), 'show-ref')];
      const before = refs();
      const failing = async (work: (ready: ReadyStep) => Promise<void>) => {
        const failed = publishBoth(store, async (step) => {
          const ready = await step.ready(await step.effects(), first);
          try {
            await work(ready);
            throw new Error('the commit failed');
          } catch (error) {
            ready.takeBack();
            throw error;
          } finally {
            await ready.end();
          }
        });
        expect(await failed.catch(({ message }) => message)).to.equal('the commit failed');
        expect(await published(store)).to.deep.equal(BEFORE);
        expect(refs()).to.deep.equal(before);
        expect(runGit(gitdir, 'for-each-ref')).to.equal('');
      };
      await failing(async () => undefined);
      await failing((ready) => ready.commit(NO_TRANSACTION));
      expect(await published(await reopen())).to.deep.equal(BEFORE);
      expect(git('fsck', '--strict', '--no-dangling')).to.equal('');
      await publish(store, '1.1.0');
      expect((await published(store))[0]).to.deep.equal(['1.1.0', '1.0.0']);
    });
  });

  it('is refused where another program has moved one of the refs meanwhile', async () => {
    await onStore(async ({ store, root, git }) => {
      const { first, gitdir } = await twoConfigurations(store, root);
      const refused = publishBoth(store, async (step) => {
        git('update-ref', 'refs/heads/draft/1.1.0', 'v1.0.0^{commit}');
        await step.ready(await step.effects(), first);
      });
      expect(await codeOf(refused)).to.equal('versions_changed');
      expect(runGit(gitdir, 'for-each-ref')).to.equal('');
      expect((await published(store))[0]).to.deep.equal(['1.0.0']);
    });
  });
});
