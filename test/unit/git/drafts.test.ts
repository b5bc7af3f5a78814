import { expect } from 'chai';
import {
  AT,
  addVersion,
  BOB,
  codeOf,
  draftOf,
  file,
  makePublishedWeb,
  makeWeb,
  onStore,
  publish,
  replace,
  settingsOf,
  summary,
  until,
  WEB,
} from './support.ts';

const MAIN = 'main.dsc.yaml';

describe('replacing a draft', () => {
  it('changes the files and the committer, and keeps author and time of making', () =>
    onStore(async ({ store, git, moved }) => {
      await makePublishedWeb(store);
      await addVersion(store, '1.1.0', [file(MAIN, 'old'), file('gone.txt', 'x')]);
      moved.length = 0;
      const files = [file('new.yaml', 'new')];
      const change = { entryPoint: 'new.yaml', files, committer: BOB, at: AT + 60_500 };
      const details = await store.exclusive(WEB, (repository) =>
        repository.replaceDraft('', '1.1.0', change),
      );
      const kept = { createdAt: AT, createdBy: 'Alice' };
      expect(details).to.deep.include({ status: 'Draft', entryPoint: 'new.yaml', ...kept });
      expect(details.files.map(({ path }) => path)).to.deep.equal(['new.yaml']);
      expect(details.commit).to.equal(git('rev-parse', 'draft/1.1.0'));
      expect(git('log', '-1', '--format=%an|%at|%cn|%ct|%s', 'draft/1.1.0')).to.equal(
        `Alice|${Math.floor(AT / 1_000)}|Bob|${Math.floor(AT / 1_000) + 60}|web 1.1.0`,
      );
      expect(git('rev-list', '--count', 'draft/1.1.0')).to.equal('2');
      expect(moved).to.deep.equal(['web']);
      expect(git('fsck', '--strict')).to.not.contain('error');
    }));

  it('gives the draft the highest published version below it as parent', () =>
    onStore(async ({ store, git }) => {
      await makePublishedWeb(store);
      await addVersion(store, '1.2.0');
      await addVersion(store, '1.1.0');
      await publish(store, '1.1.0');
      await replace(store, '1.2.0', [file(MAIN, 'x')]);
      expect(git('rev-parse', 'draft/1.2.0^')).to.equal(git('rev-parse', 'v1.1.0^{commit}'));
    }));

  it('refuses what is not there, is published, or breaks the rules', () =>
    onStore(async ({ store }) => {
      await makeWeb(store);
      expect(await codeOf(replace(store, '9.0.0', [file(MAIN, '')]))).to.equal('not_found');
      expect(await codeOf(replace(store, '1.0.0', [file('../x', '')]))).to.equal('invalid_path');
      expect(await codeOf(replace(store, '1.0.0', [file('other', '')]))).to.equal('validation_failed');
      await publish(store, '1.0.0');
      expect(await codeOf(replace(store, '1.0.0', [file(MAIN, '')]))).to.equal('published_version');
    }));

  it('loses to stock git, which moved the branch meanwhile', () =>
    onStore(async ({ store, git }) => {
      await makeWeb(store);
      const code = await codeOf(
        store.exclusive(WEB, async (repository) => {
          const moved = git('commit-tree', 'draft/1.0.0^{tree}', '-m', 'x');
          git('update-ref', 'refs/heads/draft/1.0.0', moved);
          const change = { entryPoint: MAIN, files: [file(MAIN, 'x')], committer: BOB, at: AT };
          await repository.replaceDraft('', '1.0.0', change);
        }),
      );
      expect(code).to.equal('draft_changed');
    }));

  it('takes over a draft that stock git made, with its author', () =>
    onStore(async ({ store, git }) => {
      await makeWeb(store);
      git('update-ref', 'refs/heads/draft/2.0.0', git('commit-tree', 'draft/1.0.0^{tree}', '-m', 'x'));
      await replace(store, '2.0.0', [file(MAIN, 'x')]);
      expect(git('log', '-1', '--format=%an|%cn', 'draft/2.0.0')).to.equal('Carol|Bob');
    }));
});

describe('versions that are no SemVer', () => {
  const at = (version: string, minutes: number) => ({ ...draftOf(version), at: AT + minutes * 60_000 });

  it('stand below SemVer ones, newest first, drafts and published, also after a restart', () =>
    onStore(async ({ store, git, reopen }) => {
      await makeWeb(store, '0.0.1-rc.1');
      await store.exclusive(WEB, async (repository) => {
        await repository.writeDraft('', at('spring', 1));
        await repository.writeDraft('', at('winter', 3));
        await repository.writeDraft('', at('autumn', 2));
        await repository.writeDraft('', at('1.0', 2));
      });
      const all = ['0.0.1-rc.1', 'winter', '1.0', 'autumn', 'spring'];
      expect(await summary(store)).to.deep.equal(all.map((version) => `${version} Draft`));
      for (const version of ['autumn', 'spring', '1.0', 'winter']) await publish(store, version);
      const expected = ['0.0.1-rc.1 Draft', ...all.slice(1).map((version) => `${version} Published`)];
      for (const other of [store, await reopen()]) {
        await other.exclusive(WEB, async () => undefined);
        expect(await summary(other)).to.deep.equal(expected);
      }
      expect(git('for-each-ref', '--format=%(refname)', 'refs/heads/main')).to.equal('');
      await addVersion(store, '0.0.1');
      await publish(store, '0.0.1');
      expect(git('rev-parse', 'main')).to.equal(git('rev-parse', 'v0.0.1^{commit}'));
    }));

  it('have the next older one as parent, and are the parent of the first SemVer one', () =>
    onStore(async ({ store, git }) => {
      await store.create(WEB, settingsOf(), at('spring', 1));
      await publish(store, 'spring');
      await store.exclusive(WEB, (repository) => repository.writeDraft('', at('winter', 3)));
      await publish(store, 'winter');
      await store.exclusive(WEB, (repository) => repository.writeDraft('', at('autumn', 2)));
      await addVersion(store, '1.0.0');
      const parent = (ref: string) => git('rev-parse', `${ref}^`);
      expect(parent('vwinter')).to.equal(git('rev-parse', 'vspring^{commit}'));
      expect(parent('draft/autumn')).to.equal(git('rev-parse', 'vspring^{commit}'));
      expect(parent('draft/1.0.0')).to.equal(git('rev-parse', 'vwinter^{commit}'));
      await replace(store, 'autumn', [file(MAIN, 'x')]);
      expect(parent('draft/autumn')).to.equal(git('rev-parse', 'vspring^{commit}'));
    }));

  it('exist once each by their exact names', () =>
    onStore(async ({ store }) => {
      await makeWeb(store, 'winter');
      expect(await codeOf(addVersion(store, 'winter'))).to.equal('version_exists');
      await addVersion(store, 'Winter');
      await publish(store, 'winter');
      expect(await codeOf(publish(store, 'winter'))).to.equal('already_published');
      expect(await codeOf(addVersion(store, 'winter'))).to.equal('version_exists');
    }));

  it('are not seen in tags and branches for other ends, which are read once', () =>
    onStore(async ({ store, git, moved, reopen, untilLooked }) => {
      await makePublishedWeb(store);
      await untilLooked();
      moved.length = 0;
      git('tag', '-a', 'vendor-import', '-m', 'from the vendor', 'main');
      git('tag', '-a', 'vblob', '-m', 'x', 'main:main.dsc.yaml');
      git('tag', 'vlight', 'main');
      git('update-ref', 'refs/heads/draft/scratch', git('commit-tree', 'main^{tree}', '-m', 'x'));
      await untilLooked();
      expect(moved).to.deep.equal([]);
      git('tag', '-a', 'vspring', '-m', 'x', '-m', 'Entry-Point: main.dsc.yaml', 'main');
      await until(() => moved.length > 0);
      for (const other of [store, await reopen()]) {
        expect(await summary(other)).to.deep.equal(['1.0.0 Published', 'spring Published']);
        expect(other.problems()).to.deep.equal([]);
      }
    }));
});
