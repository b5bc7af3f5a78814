import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { sha256Hex } from '../../../src/lib/hash.ts';
import { failureOf } from '../../support/failures.ts';
import { words } from '../../support/words.ts';
import {
  AT,
  addVersion,
  BOB,
  codeOf,
  draftOf,
  file,
  makePublishedWeb,
  makeStore,
  makeWeb,
  onStore,
  publish,
  runGit,
  settingsOf,
  summary,
  until,
  WEB,
} from './support.ts';

describe('the store of repositories', () => {
  it('makes a repository that stock git finds sound, logs and clones', () =>
    onStore(async ({ store, git, gitdir, root }) => {
      await makeWeb(store, '1.0.0', [file('main.dsc.yaml', 'a'), file('files/häfen/☃.txt', 'b')]);
      await publish(store, '1.0.0', AT + 60_000);
      expect(git('fsck', '--strict', '--full')).to.equal('');
      expect(git('cat-file', '-t', 'v1.0.0')).to.equal('tag');
      expect(git('log', '--format=%an|%ae|%ad|%s', '--date=iso-strict')).to.equal(
        'Alice|alice@example.org|2026-11-20T09:08:00+00:00|web 1.0.0',
      );
      expect(git('log', '-1', '--format=%(trailers:key=Entry-Point,valueonly)')).to.equal('main.dsc.yaml');
      expect(
        git('for-each-ref', '--format=%(refname) %(taggername) %(taggerdate:unix)', 'refs/tags'),
      ).to.equal(`refs/tags/v1.0.0 Bob ${Math.floor(AT / 1000) + 60}`);
      runGit(root, 'clone', '-q', `file://${gitdir}`, 'copy');
      expect(runGit(join(root, 'copy'), '-c', 'core.quotePath=off', 'ls-files')).to.equal(
        'files/häfen/☃.txt\nmain.dsc.yaml',
      );
    }));

  it('has HEAD unborn until a stable version is published', () =>
    onStore(async ({ store, git }) => {
      await makeWeb(store, '1.0.0-rc.1');
      await publish(store, '1.0.0-rc.1');
      expect(git('for-each-ref', '--format=%(refname)')).to.equal('refs/tags/v1.0.0-rc.1');
      await addVersion(store, '1.0.0');
      await publish(store, '1.0.0');
      expect(git('rev-parse', 'HEAD')).to.equal(git('rev-parse', 'v1.0.0^{commit}'));
    }));

  it('tells who made and published a version and when, to the millisecond', () =>
    onStore(async ({ store }) => {
      await makeWeb(store);
      const published = await store.exclusive(WEB, (repository) =>
        repository.publish('', '1.0.0', { tagger: BOB, at: AT + 1_234 }),
      );
      const ref = (await store.versions(WEB)).get('1.0.0');
      expect(ref).to.include({ version: '1.0.0', status: 'Published' });
      expect(await store.details(WEB, ref ?? expect.fail())).to.deep.equal(published);
      expect(published).to.deep.include({
        status: 'Published',
        entryPoint: 'main.dsc.yaml',
        createdAt: AT,
        createdBy: 'Alice',
        publishedAt: AT + 1_234,
        publishedBy: 'Bob',
      });
      expect(await store.blob(WEB, published.files[0]?.oid ?? '')).to.deep.equal(Buffer.from('v1.0.0\n'));
    }));

  it('makes a repository without a version', () =>
    onStore(async ({ store, git, reopen, gitdir }) => {
      await store.create(WEB, { ...settingsOf(), entryPoint: 'sub/"a b".yaml' }, null);
      expect(await summary(store)).to.deep.equal([]);
      expect(git('fsck', '--strict')).to.equal('');
      git('gc', '-q');
      const other = await reopen();
      expect(await summary(other)).to.deep.equal([]);
      expect(await other.settings(WEB)).to.include({ entryPoint: 'sub/"a b".yaml' });
      expect(git('config', 'hawser.entryPoint')).to.equal('sub/"a b".yaml');
      await addVersion(other, '1.0.0');
      expect(await summary(other)).to.deep.equal(['1.0.0 Draft']);
      expect(await readdir(gitdir)).to.include('hawser-checked');
    }));

  it('refuses a version without its entry point, and a composite without its document', () =>
    onStore(async ({ store }) => {
      const draft = { ...draftOf('1.0.0'), entryPoint: 'other.yaml' };
      expect(await codeOf(store.create(WEB, settingsOf(), draft))).to.equal('validation_failed');
      expect(await store.has(WEB)).to.equal(false);
      const all = { kind: 'composites', name: 'all' } as const;
      expect(await codeOf(store.create(all, settingsOf(), draftOf('1.0.0')))).to.equal('validation_failed');
      const composite = draftOf('1.0.0', [file('composite.json', '{"children": 1}')]);
      expect(await codeOf(store.create(all, settingsOf(), composite))).to.equal('validation_failed');
    }));

  it('tells size and hash of a blob', () =>
    onStore(async ({ store, git, gitdir }) => {
      await makeWeb(store);
      const oid = git('rev-parse', 'draft/1.0.0:main.dsc.yaml');
      const expected = { size: 7, sha256: sha256Hex('v1.0.0\n') };
      expect(await store.fileInfos(WEB, [{ oid }])).to.deep.equal([expected]);
      await rm(join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2)));
      expect(await store.fileInfos(WEB, [{ oid }])).to.deep.equal([expected]);
      expect(await codeOf(store.fileInfos(WEB, [{ oid: '1'.repeat(40) }]))).to.equal('repository_damaged');
    }));

  it('keeps what it was given at creation', () =>
    onStore(async ({ store, reopen, git }) => {
      const settings = { ...settingsOf('Two\nlines, "quoted" \\ and ünï'), createdBy: 'a "b" \\c\n[x]' };
      await store.create(WEB, settings, draftOf('1.0.0'));
      const other = await reopen();
      expect(await other.settings(WEB)).to.deep.equal(settings);
      expect(git('config', 'hawser.createdBy')).to.equal(settings.createdBy);
      expect(git('config', '--bool', 'hawser.useServerManagedParameters')).to.equal('true');
      expect(await other.list('configurations')).to.deep.equal(['web']);
      expect(await other.list('composites')).to.deep.equal([]);
      expect(await other.has(WEB)).to.equal(true);
    }));

  it('gives each version the highest published one below it as parent, even one published meanwhile', () =>
    onStore(async ({ store, git }) => {
      await makeWeb(store);
      await addVersion(store, '1.2.0');
      await addVersion(store, '1.1.0');
      for (const version of ['1.0.0', '1.1.0', '1.2.0']) await publish(store, version);
      await addVersion(store, '1.1.5');
      const parent = (ref: string) => git('rev-parse', `${ref}^`);
      expect(parent('draft/1.1.5')).to.equal(git('rev-parse', 'v1.1.0^{commit}'));
      expect(parent('v1.1.0')).to.equal(git('rev-parse', 'v1.0.0^{commit}'));
      expect(parent('v1.2.0')).to.equal(git('rev-parse', 'v1.1.0^{commit}'));
      expect(git('log', '--format=%s %an', 'main')).to.equal(
        'web 1.2.0 Alice\nweb 1.1.0 Alice\nweb 1.0.0 Alice',
      );
      expect(git('diff', 'v1.0.0', 'v1.1.0'))
        .to.contain('-v1.0.0')
        .and.contain('+v1.1.0');
      expect(git('fsck', '--strict')).to.not.contain('error');
    }));

  it('keeps all of fifty drafts written at once', () =>
    onStore(async ({ store, git, moved }) => {
      await makeWeb(store);
      const versions = Array.from({ length: 50 }, (_, at) => `2.${at}.0`);
      await Promise.all(versions.map((version) => addVersion(store, version)));
      expect((await store.versions(WEB)).versions).to.have.length(51);
      expect(git('for-each-ref', '--format=%(refname)', 'refs/heads/draft').split('\n')).to.have.length(51);
      expect(git('fsck', '--strict')).to.not.contain('error');
      expect(moved).to.have.length(51);
    }));

  it('lets one of many publishes at once win', () =>
    onStore(async ({ store }) => {
      await makeWeb(store);
      const codes = await Promise.all(Array.from({ length: 10 }, () => codeOf(publish(store, '1.0.0'))));
      expect(codes.filter((code) => code === 'no error')).to.have.length(1);
      expect(codes.filter((code) => code === 'already_published')).to.have.length(9);
    }));

  it('lets one of many creations of a name win and leaves nothing behind', () =>
    onStore(async ({ store, root }) => {
      const codes = await Promise.all(
        Array.from({ length: 5 }, () => codeOf(store.create(WEB, settingsOf(), draftOf('1.0.0')))),
      );
      expect(codes.sort()).to.deep.equal([...Array(4).fill('name_taken'), 'no error']);
      expect(await readdir(join(root, '.tmp'))).to.deep.equal([]);
    }));

  it('refuses versions that exist, are not there, or are published', () =>
    onStore(async ({ store }) => {
      await makeWeb(store);
      expect(await codeOf(addVersion(store, '1.0.0'))).to.equal('version_exists');
      expect(await codeOf(addVersion(store, '1.0.0+build.7'))).to.equal('version_exists');
      expect(await codeOf(publish(store, '9.9.9'))).to.equal('not_found');
      await publish(store, '1.0.0');
      expect(await codeOf(addVersion(store, '1.0.0+x'))).to.equal('version_exists');
      expect(await codeOf(publish(store, '1.0.0'))).to.equal('already_published');
      const remove = store.exclusive(WEB, (repository) => repository.deleteDraft('', '1.0.0'));
      expect(await codeOf(remove)).to.equal('published_version');
      const bad = [' 1.0.1', '', 'a b', ...words('1.0.1-a.lock 1.0.1-a..b ../1.0.1 1. -a a/b')];
      for (const version of bad)
        expect(await codeOf(addVersion(store, version)), version).to.equal('validation_failed');
    }));

  it('refuses unsafe and clashing paths before it writes anything', () =>
    onStore(async ({ store, git }) => {
      await makeWeb(store);
      const before = git('count-objects');
      const unsafe = ['', '.git ', '.g\u200cit/x', 'a\\b', 'a\nb'];
      unsafe.push(...words('../evil /etc/passwd a//b a/.GIT/config git~1 ./a'));
      const clashing = ['a a/b', 'a/b a', 'a a'].map(words);
      for (const paths of [...unsafe.map((path) => [path]), ...clashing]) {
        const files = paths.map((path) => file(path, 'x'));
        expect(await codeOf(addVersion(store, '1.1.0', files)), paths.join()).to.equal('invalid_path');
      }
      expect(git('count-objects')).to.equal(before);
    }));

  it('refuses names that are no plain folder names', () =>
    onStore(async ({ store }) => {
      for (const name of ['../web', '', '.hidden', 'a/b', 'a\0b', 'x'.repeat(129)]) {
        expect(await codeOf(store.versions({ kind: 'configurations', name })), name).to.equal('invalid_name');
      }
      expect(await codeOf(store.versions({ kind: 'composites', name: 'web' }))).to.equal(
        'repository_missing',
      );
    }));

  it('orders trees and files by bytes, as git does', () =>
    onStore(async ({ store, git }) => {
      const paths = ['\u{1f600}', '\uff5e', 'a-b', 'a/b', 'a.b', 'Z', 'ä'];
      await makeWeb(store, '1.0.0', [file('main.dsc.yaml', ''), ...paths.map((path) => file(path, path))]);
      expect(git('fsck', '--strict')).to.not.contain('error');
      const details = await store.exclusive(WEB, (repository) =>
        repository.publish('', '1.0.0', { tagger: BOB, at: AT }),
      );
      expect(details.files.map(({ path }) => path)).to.deep.equal(
        [...paths, 'main.dsc.yaml'].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      );
      expect(
        git('-c', 'core.quotePath=off', 'ls-tree', '-r', '--name-only', 'v1.0.0').split('\n'),
      ).to.deep.equal(details.files.map(({ path }) => path));
    }));

  it('keeps people and entry points from writing lines of their own', () =>
    onStore(async ({ store, git }) => {
      const author = { name: 'Eve <x>\ncommitter Mallory', email: 'e\n>@example.org' };
      await store.create(WEB, settingsOf(), { ...draftOf('1.0.0'), author });
      expect(git('log', '-1', '--format=%an|%ae|%cn', 'draft/1.0.0')).to.equal(
        'Eve x committer Mallory|e@example.org|Eve x committer Mallory',
      );
      const injected = { ...draftOf('1.1.0'), entryPoint: 'a\nCreated-At: 1970-01-01T00:00:00Z' };
      expect(await codeOf(store.exclusive(WEB, (r) => r.writeDraft('', injected)))).to.equal('invalid_path');
      expect(git('fsck', '--strict')).to.not.contain('error');
    }));

  it('removes a repository and lets its name be used again', () =>
    onStore(async ({ store, root, moved }) => {
      await makePublishedWeb(store);
      moved.length = 0;
      await store.remove(WEB);
      expect(moved).to.deep.equal(['web']);
      expect(await store.has(WEB)).to.equal(false);
      expect(await codeOf(store.versions(WEB))).to.equal('repository_missing');
      expect(await codeOf(addVersion(store, '1.1.0'))).to.equal('repository_missing');
      expect(await readdir(join(root, '.tmp'))).to.deep.equal([]);
      expect(await readdir(join(root, 'configurations'))).to.deep.equal([]);
      await store.remove(WEB);
      await makeWeb(store, '3.0.0');
      expect(await summary(store)).to.deep.equal(['3.0.0 Draft']);
    }));

  it('makes its folders for nobody else to read, with those above them', () =>
    onStore(async ({ root }) => {
      const deep = makeStore(join(root, 'var/lib/repos'), []);
      await deep.prepare();
      deep.open();
      await deep.close();
      for (const folder of ['', 'configurations', 'composites', 'parameters', '.tmp']) {
        expect((await stat(join(root, 'var/lib/repos', folder))).mode & 0o777).to.equal(0o700);
      }
    }));

  it('sweeps what a crash left in .tmp', () =>
    onStore(async ({ root, reopen }) => {
      await mkdir(join(root, '.tmp', 'half', 'objects'), { recursive: true });
      await writeFile(join(root, '.tmp', 'half', 'HEAD'), 'x');
      await reopen();
      expect(await readdir(join(root, '.tmp'))).to.deep.equal([]);
    }));

  it('refuses a lock holder that comes back later, and work after close', () =>
    onStore(async ({ store }) => {
      await makeWeb(store);
      const kept = await store.exclusive(WEB, async (repository) => repository);
      expect(await codeOf(kept.writeDraft('', draftOf('1.1.0')))).to.equal('lock_returned');
      let ended = false;
      const slow = store.exclusive(WEB, async (repository) => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        await repository.writeDraft('', draftOf('1.2.0'));
        ended = true;
      });
      await store.close();
      expect(ended).to.equal(true);
      await slow;
      expect(await codeOf(addVersion(store, '1.3.0'))).to.equal('shutting_down');
    }));

  it('tells before an operation resolves that refs moved, and takes back what could not be told', async () => {
    const told: string[] = [];
    let fails = false;
    const onRefsMoved = async () => {
      told.push('begin');
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (fails) throw new Error('database is away');
      told.push('end');
    };
    await onStore(
      async ({ store }) => {
        await makeWeb(store);
        expect(told).to.deep.equal(['begin', 'end']);
        await publish(store, '1.0.0');
        expect(told).to.deep.equal(['begin', 'end', 'begin', 'end']);
        fails = true;
        expect((await failureOf(addVersion(store, '1.1.0'))).message).to.equal('database is away');
        fails = false;
        told.length = 0;
        await until(() => told.length >= 2);
        expect(told.slice(0, 2)).to.deep.equal(['begin', 'end']);
        expect(await summary(store)).to.deep.equal(['1.0.0 Published']);
      },
      { onRefsMoved },
    );
  });

  it('answers readers, the lock holder among them, while the lock is held', () =>
    onStore(async ({ store, git, reopen }) => {
      await makePublishedWeb(store);
      git('update-ref', '-d', 'refs/heads/main');
      const other = await reopen();
      const seen = await other.exclusive(WEB, async (repository) => {
        await repository.writeDraft('', draftOf('1.1.0'));
        return [repository.index.of('').versions.length, await summary(other)];
      });
      expect(seen).to.deep.equal([2, ['1.1.0 Draft', '1.0.0 Published']]);
      expect(git('rev-parse', 'main')).to.equal(git('rev-parse', 'v1.0.0^{commit}'));
    }));
});
