// full: SQLite
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { GitStore } from '../../../src/versions/store.ts';
import {
  addVersion,
  BOB,
  codeOf,
  file,
  makePublishedWeb,
  makeWeb,
  onStore,
  pipeGit,
  publish,
  runGit,
  summary,
  until,
  WEB,
} from './support.ts';

const run = promisify(execFile);

/** Everything that the store says about the repository, blobs included. */
async function answers(store: GitStore): Promise<unknown> {
  const { versions } = await store.versions(WEB);
  return Promise.all(
    versions.map(async (ref) => {
      const details = await store.details(WEB, ref);
      const blobs = await Promise.all(details.files.map(({ oid }) => store.blob(WEB, oid)));
      return { ...details, blobs: blobs.map((blob) => blob.toString()) };
    }),
  );
}

async function detailsOf(store: GitStore, version: string) {
  const ref = (await store.versions(WEB)).get(version);
  return store.details(WEB, ref ?? expect.fail());
}

async function objectFile(gitdir: string, oid: string): Promise<string> {
  const path = join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2));
  await chmod(path, 0o644);
  return path;
}

describe('the store beside stock git', () => {
  it('answers the same before and after gc, pack-refs and repack, and goes on writing', () =>
    onStore(async ({ store, git, reopen }) => {
      const same = file('a/b.txt', `same\n${'x'.repeat(999)}`);
      const files = (text: string) => [file('main.dsc.yaml', text), same];
      await makeWeb(store, '1.0.0', files('one'));
      await publish(store, '1.0.0');
      await addVersion(store, '1.1.0', files('two'));
      await publish(store, '1.1.0');
      await addVersion(store, '1.2.0', files('three'));
      await addVersion(store, '1.3.0-rc.1', files('four'));
      const before = await answers(store);

      git('gc', '-q', '--prune=now');
      expect(git('count-objects')).to.contain('0 objects');
      expect(await answers(store)).to.deep.equal(before);
      expect(await answers(await reopen())).to.deep.equal(before);

      await publish(store, '1.2.0');
      await store.exclusive(WEB, (repository) => repository.deleteDraft('', '1.3.0-rc.1'));
      git('pack-refs', '--all');
      const after = await answers(store);
      await addVersion(store, '2.0.0', files('five'));
      git('repack', '-q', '-ad');
      await publish(store, '2.0.0');
      expect(await summary(store)).to.deep.equal(
        ['2.0.0', '1.2.0', '1.1.0', '1.0.0'].map((v) => `${v} Published`),
      );
      expect((await answers(await reopen())) as unknown[]).to.deep.include.members(after as unknown[]);
      expect(git('show-ref')).to.not.contain('draft');
      expect(git('rev-parse', 'main')).to.equal(git('rev-parse', 'v2.0.0^{commit}'));
      // Repacking alone leaves gc's commit graph with the commit of the deleted draft in it.
      git('commit-graph', 'write', '--reachable');
      expect(git('fsck', '--strict', '--full')).to.not.contain('error');
    }));

  it('answers from packs that are larger than its cache', () =>
    onStore(
      async ({ store, git }) => {
        await makePublishedWeb(store);
        await addVersion(store, '1.1.0');
        const before = await answers(store);
        git('gc', '-q', '--prune=now');
        expect(await answers(store)).to.deep.equal(before);
      },
      { cacheBytes: 1 },
    ));

  it('loses no ref to gc and pack-refs that run while it writes', () =>
    onStore(async ({ store, git, gitdir }) => {
      await makeWeb(store);
      let writing = true;
      const packing = (async () => {
        while (writing) await run('git', ['-C', gitdir, 'pack-refs', '--all']).catch(() => undefined);
      })();
      try {
        for (let minor = 1; minor <= 15; minor += 1) {
          await addVersion(store, `1.${minor}.0`);
          if (minor % 3 === 0) await publish(store, `1.${minor}.0`);
          if (minor % 3 === 1) await store.exclusive(WEB, (r) => r.deleteDraft('', `1.${minor}.0`));
        }
      } finally {
        writing = false;
        await packing;
      }
      const expected = [15, 14, 12, 11, 9, 8, 6, 5, 3, 2].map(
        (minor) => `1.${minor}.0 ${minor % 3 === 0 ? 'Published' : 'Draft'}`,
      );
      expect(await summary(store)).to.deep.equal([...expected, '1.0.0 Draft']);
      expect(git('for-each-ref', '--format=%(refname)').split('\n')).to.have.length(12);
      expect(git('fsck', '--strict')).to.not.contain('error');
    }));

  it('notices an annotated tag, moves main, and passes over a lightweight one', () =>
    onStore(async ({ store, git, moved, untilLooked }) => {
      await makePublishedWeb(store);
      await store.versions(WEB);
      await untilLooked();
      moved.length = 0;
      git('tag', 'v3.0.0', 'main');
      git('tag', 'not-a-version', '-m', 'x', 'main');
      await untilLooked();
      expect(moved).to.deep.equal([]);
      git('tag', '-a', 'v2.0.0', '-m', 'by hand', 'main');
      await until(() => moved.length > 0);
      expect(await summary(store)).to.deep.equal(['2.0.0 Published', '1.0.0 Published']);
      const told = { publishedBy: 'Carol', entryPoint: 'main.dsc.yaml' };
      expect(await detailsOf(store, '2.0.0')).to.deep.include(told);
      git('tag', '-d', 'v2.0.0');
      await until(async () => (await store.versions(WEB)).published.length === 1);
    }));

  it('notices outside changes through packed-refs, and the loss of the repository', () =>
    onStore(async ({ store, git, moved, gitdir, untilLooked }) => {
      await makePublishedWeb(store);
      git('pack-refs', '--all');
      expect(await summary(store)).to.deep.equal(['1.0.0 Published']);
      await untilLooked();
      moved.length = 0;
      await rm(gitdir, { recursive: true });
      // The first look may have come while the folder was half gone.
      const isMissing = async () => (await codeOf(store.versions(WEB))) === 'repository_missing';
      await until(isMissing);
      expect(moved).to.not.be.empty;
    }));

  it('takes an entry point from the tag, the commit, the version below, or the default', () =>
    onStore(async ({ store, git, reopen }) => {
      const paths = ['main.dsc.yaml', 'of-commit.yaml', 'of-tag.yaml'];
      const files = paths.map((path) => file(path, path));
      await makeWeb(store, '1.0.0', files);
      const commitTree = (parent: string, ...message: string[]) =>
        git('commit-tree', `${parent}^{tree}`, '-p', parent, ...message.flatMap((part) => ['-m', part]));
      const bare = commitTree('draft/1.0.0', 'no trailers');
      const named = commitTree('draft/1.0.0', 'subject', 'Entry-Point: of-commit.yaml');
      git('tag', '-a', 'v0.1.0', '-m', 'nothing', bare);
      git('tag', '-a', 'v0.2.0', '-m', 'nothing', named);
      git('tag', '-a', 'v0.3.0', '-m', 'nothing', bare);
      const trailers = 'Entry-Point: of-tag.yaml\nPublished-At: 2001-01-01T00:00:00.5Z';
      git('tag', '-a', 'v0.4.0', '-m', 'x', '-m', trailers, bare);
      const other = await reopen();
      const entryPoints: string[] = [];
      for (const version of ['0.1.0', '0.2.0', '0.3.0', '0.4.0'])
        entryPoints.push((await detailsOf(other, version)).entryPoint);
      expect(entryPoints).to.deep.equal(['main.dsc.yaml', 'of-commit.yaml', 'of-commit.yaml', 'of-tag.yaml']);
      // A trailer that disagrees with Git's own seconds is not believed.
      expect((await detailsOf(other, '0.4.0')).publishedAt).to.be.greaterThan(Date.parse('2020-01-01'));
    }));

  it('tidies on the first load what a crash after the tag ref cut off', () =>
    onStore(async ({ store, git, reopen }) => {
      await makePublishedWeb(store);
      await addVersion(store, '1.1.0');
      const draft = git('rev-parse', 'draft/1.1.0');
      await publish(store, '1.1.0');
      git('update-ref', 'refs/heads/draft/1.1.0', draft);
      git('update-ref', 'refs/heads/main', git('rev-parse', 'v1.0.0^{commit}'));
      const other = await reopen();
      expect(await summary(other)).to.deep.equal(['1.1.0 Published', '1.0.0 Published']);
      expect(git('rev-parse', 'main')).to.equal(git('rev-parse', 'v1.1.0^{commit}'));
      expect(git('for-each-ref', 'refs/heads/draft')).to.equal('');
    }));

  it('breaks a lock that a process before this one left, and waits for a younger one', () =>
    onStore(async ({ store, gitdir }) => {
      await makeWeb(store);
      const lock = join(gitdir, 'refs/tags/v1.0.0.lock');
      await writeFile(lock, '');
      expect(await codeOf(publish(store, '1.0.0'))).to.equal('repository_locked');
      expect(await summary(store)).to.deep.equal(['1.0.0 Draft']);
      const past = new Date(performance.timeOrigin - 60_000);
      await utimes(lock, past, past);
      await writeFile(join(gitdir, 'packed-refs.lock'), '');
      await utimes(join(gitdir, 'packed-refs.lock'), past, past);
      await publish(store, '1.0.0');
      expect(await summary(store)).to.deep.equal(['1.0.0 Published']);
      expect(existsSync(lock)).to.equal(false);
      expect(existsSync(join(gitdir, 'packed-refs.lock'))).to.equal(false);
    }));

  it('answers repository_damaged for a truncated, missing or foreign object, never less', () =>
    onStore(async ({ store, gitdir, git, reopen }) => {
      await makeWeb(store, '1.0.0', [file('main.dsc.yaml', 'text'.repeat(500)), file('b', 'other')]);
      await publish(store, '1.0.0');
      const { files, commit } = await detailsOf(store, '1.0.0');
      const [b, main] = files.map(({ oid }) => oid);
      await truncate(await objectFile(gitdir, main ?? ''), 20);
      await rm(await objectFile(gitdir, b ?? ''));
      expect(await codeOf(store.blob(WEB, main ?? ''))).to.equal('repository_damaged');
      expect(await codeOf(store.blob(WEB, b ?? ''))).to.equal('repository_damaged');
      expect(await codeOf(store.blob(WEB, commit))).to.equal('repository_damaged');
      await rm(await objectFile(gitdir, git('rev-parse', 'v1.0.0^{tree}')));
      const other = await reopen();
      expect(await summary(other)).to.deep.equal(['1.0.0 Published']);
      expect(await codeOf(detailsOf(other, '1.0.0'))).to.equal('repository_damaged');
      await rm(await objectFile(gitdir, git('rev-parse', 'v1.0.0')));
      const third = await reopen();
      expect(await summary(third)).to.deep.equal(['1.0.0 Published']);
      expect(await codeOf(detailsOf(third, '1.0.0'))).to.equal('repository_damaged');
    }));

  it('writes a truncated object anew when its content comes again', () =>
    onStore(async ({ store, gitdir }) => {
      const text = 'text'.repeat(500);
      await makeWeb(store, '1.0.0', [file('main.dsc.yaml', text)]);
      const oid = (await detailsOf(store, '1.0.0')).files[0]?.oid ?? '';
      await truncate(await objectFile(gitdir, oid), 20);
      await addVersion(store, '1.1.0', [file('main.dsc.yaml', text)]);
      expect((await store.blob(WEB, oid)).toString()).to.equal(text);
    }));

  it('sweeps unfinished objects of an ended process on the first write, and leaves young ones', () =>
    onStore(async ({ store, gitdir, reopen }) => {
      await makeWeb(store);
      await mkdir(join(gitdir, 'objects/00'), { recursive: true });
      const old = join(gitdir, 'objects/00/tmp_obj_hawser_old');
      await writeFile(old, 'x');
      await utimes(old, 1, 1);
      await writeFile(join(gitdir, 'objects/00/tmp_obj_hawser_young'), 'x');
      await addVersion(await reopen(), '1.1.0');
      expect(await readdir(join(gitdir, 'objects/00'))).to.include('tmp_obj_hawser_young');
      expect(await readdir(join(gitdir, 'objects/00'))).to.not.include('tmp_obj_hawser_old');
    }));

  it('leaves the commits of an author who works with stock git as they are', () =>
    onStore(async ({ store, git, root, gitdir }) => {
      await makePublishedWeb(store);
      await addVersion(store, '1.2.0');
      await addVersion(store, '1.1.0');
      await publish(store, '1.1.0');
      runGit(root, 'clone', '-q', '-b', 'draft/1.2.0', `file://${gitdir}`, 'work');
      await writeFile(join(root, 'work', 'more.txt'), 'more');
      runGit(join(root, 'work'), 'add', '.');
      runGit(join(root, 'work'), 'commit', '-q', '-m', 'More');
      runGit(join(root, 'work'), 'push', '-q', 'origin', 'draft/1.2.0');
      const tip = git('rev-parse', 'draft/1.2.0');
      const details = await store.exclusive(WEB, (repository) =>
        repository.publish('', '1.2.0', { tagger: BOB, at: 0 }),
      );
      expect(details).to.include({ commit: tip, createdBy: 'Carol', entryPoint: 'main.dsc.yaml' });
      expect(details.files.map(({ path }) => path)).to.deep.equal(['main.dsc.yaml', 'more.txt']);
    }));

  it('loads two thousand versions, loose and packed', () =>
    onStore(async ({ store, git, reopen, gitdir }) => {
      await makePublishedWeb(store);
      const commit = git('rev-parse', 'main');
      const tags = Array.from(
        { length: 1_999 },
        (_, at) => `tag v2.${at}.0\nfrom ${commit}\ntagger Bob <bob@example.org> ${at} +0000\ndata 0\n\n`,
      );
      pipeGit(gitdir, tags.join(''), 'fast-import', '--quiet');
      expect((await (await reopen()).versions(WEB)).published).to.have.length(2_000);
      git('pack-refs', '--all');
      const { published } = await (await reopen()).versions(WEB);
      const oid = git('rev-parse', 'v2.1998.0');
      expect(published[0]).to.include({ version: '2.1998.0', status: 'Published', oid });
      expect(published).to.have.length(2_000);
      expect(git('rev-parse', 'main')).to.equal(commit);
    }));
});
