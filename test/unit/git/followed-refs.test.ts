// full: SQLite
import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { AtomicFs } from '../../../src/git/atomic-fs.ts';
import {
  addVersion,
  BOB,
  draftOf,
  makePublishedWeb,
  makeStore,
  makeWeb,
  onStore,
  publish,
  runGit,
  summary,
  until,
  WEB,
  type Workbench,
} from './support.ts';

/** Longer than the step within which a disk may give two changes the same time. */
const SETTLED = 150;

/** Notes at which refs the disk is asked. */
class NotingFs extends AtomicFs {
  readonly asked = new Set<string>();

  override readNow(path: string) {
    this.asked.add(path);
    return super.readNow(path);
  }
  override lstatNow(path: string) {
    this.asked.add(path);
    return super.lstatNow(path);
  }
  refsBelow(folder: string): string[] {
    return [...this.asked].map((path) => relative(folder, path)).filter((path) => /^refs\/\w+\/./.test(path));
  }
}

/** Runs a command of stock git right after a ref has got its file, before this server looks at it. */
class InterruptedFs extends AtomicFs {
  private readonly ref: string;
  private readonly command: string[];

  constructor(ref: string, ...command: string[]) {
    super();
    this.ref = ref;
    this.command = command;
  }

  override async rename(from: string, to: string, onMoved?: () => void) {
    await super.rename(from, to, onMoved);
    const at = to.indexOf(`/${this.ref}`);
    if (at >= 0) runGit(to.slice(0, at), ...this.command);
  }
}

describe('the refs after a change of our own', () => {
  it('are not all looked at: a publish asks for those that changed', () =>
    onStore(async ({ store, root, gitdir, git }) => {
      await makePublishedWeb(store);
      for (let minor = 1; minor <= 60; minor += 1) git('tag', '-a', `v1.${minor}.0`, 'v1.0.0^{}', '-m', 'x');
      const fs = new NotingFs();
      // It isn't opened, so that no watch looks at the refs meanwhile.
      const other = makeStore(root, [], { fs });
      await addVersion(other, '3.0.0');
      await sleep(SETTLED);
      expect((await other.exclusive(WEB, async ({ index }) => index.of(''))).published).to.have.length(61);
      fs.asked.clear();
      await publish(other, '3.0.0');
      expect(fs.refsBelow(gitdir)).to.have.members([
        'refs/heads/draft',
        'refs/heads/draft/3.0.0',
        'refs/heads/main',
        'refs/heads/rollout',
        'refs/pushed/heads/draft/3.0.0',
        'refs/tags/v3.0.0',
      ]);
      expect((await summary(other))[0]).to.equal('3.0.0 Published');
      await other.close();
    }));

  it('show what stock git has changed in the same folders meanwhile', () =>
    onStore(async ({ store, git }) => {
      await makeWeb(store);
      await addVersion(store, '1.1.0');
      await publish(store, '1.0.0');
      await sleep(SETTLED);
      await store.exclusive(WEB, async (repository) => {
        git('tag', '-a', 'v1.5.0', 'v1.0.0^{}', '-m', 'by hand');
        git('update-ref', '-d', 'refs/heads/draft/1.1.0');
        await repository.writeDraft('', draftOf('2.0.0'));
        await repository.publish('', '2.0.0', { tagger: BOB, at: Date.now() });
      });
      const all = ['2.0.0 Published', '1.5.0 Published', '1.0.0 Published'];
      expect(await summary(store)).to.include('2.0.0 Published');
      const seen = async () => `${await summary(store)}` === `${all}`;
      await until(seen);
      git('tag', '-d', 'v1.5.0');
      await addVersion(store, '2.1.0');
      expect(await summary(store)).to.deep.equal(['2.1.0 Draft', '2.0.0 Published', '1.0.0 Published']);
    }));

  it('include main, which first had to follow a tag of stock git', () =>
    onStore(async ({ store, git }) => {
      await makePublishedWeb(store);
      await addVersion(store, '2.0.0');
      await sleep(SETTLED);
      const commit = git('commit-tree', 'v1.0.0^{tree}', '-m', 'by hand');
      git('tag', '-a', 'v1.5.0', commit, '-m', 'by hand');
      await publish(store, '2.0.0');
      expect(git('rev-parse', 'main')).to.equal(git('rev-parse', 'v2.0.0^{commit}'));
    }));

  it('are what stock git has made of the very ref that was written', async () => {
    const play = async (ref: string, command: string[], work: (bench: Workbench) => Promise<void>) => {
      await onStore(work, { fs: new InterruptedFs(ref, ...command) });
    };
    await play('refs/tags/v1.0.0', ['pack-refs', '--all'], async ({ store, git }) => {
      await makePublishedWeb(store);
      expect(await summary(store)).to.deep.equal(['1.0.0 Published']);
      expect(git('rev-parse', 'main')).to.equal(git('rev-parse', 'v1.0.0^{commit}'));
    });
    await play('refs/heads/draft/2.0.0', ['update-ref', '-d', 'refs/heads/draft/2.0.0'], async (bench) => {
      const { store } = bench;
      await makeWeb(store);
      const error = await addVersion(store, '2.0.0').catch(({ code }) => code);
      expect(error).to.equal('repository_damaged');
      expect(await summary(store)).to.deep.equal(['1.0.0 Draft']);
    });
  });
});
