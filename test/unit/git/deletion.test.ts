// full: SQLite
import { existsSync, readFileSync } from 'node:fs';
import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Maintenance } from '../../../src/git/maintenance.ts';
import { createLog } from '../../../src/lib/log.ts';
import type { GitStore, VersionRef } from '../../../src/versions/store.ts';
import { breakEverywhere } from './breaking.ts';
import {
  DEFAULT,
  filesOf,
  onParameters,
  PARAMETERS,
  PROD,
  portOf,
  release,
  TEST,
  textOf,
  WEB_PARAMETERS,
  writeFile,
} from './parameter-support.ts';
import {
  AT,
  addVersion,
  codeOf,
  file,
  makeWeb,
  onStore,
  publish,
  replace,
  runGit,
  summary,
  WEB,
} from './support.ts';

/** Publishes these versions, each with a file of its own text. */
async function publishAll(store: GitStore, ...versions: string[]): Promise<void> {
  for (const [at, version] of versions.entries()) {
    const files = [file('main.dsc.yaml', `only ${version}\n`)];
    await (at === 0 ? makeWeb(store, version, files) : addVersion(store, version, files));
    await publish(store, version, AT + at * 1_000);
  }
}

function remove(store: GitStore, ...versions: string[]): Promise<void> {
  return store.exclusive(WEB, (repository) => {
    const index = repository.index.of('');
    const refs = versions.map((version) => index.get(version) ?? absent(version));
    return repository.deleteVersions(refs);
  });
}

/** A ref of a version that is not there. */
function absent(version: string): VersionRef {
  const place = { name: `refs/tags/v${version}`, series: '', version, oid: '0'.repeat(40) };
  return { ...place, status: 'Published', commit: null, withdrawn: null, rollout: null };
}

async function removeFiles(store: GitStore, series: string, ...versions: string[]): Promise<void> {
  await store.exclusive(PARAMETERS, async (parameters) => {
    const refs = versions.map((version) => parameters.index.of(series).get(version) ?? expect.fail());
    await parameters.deleteVersions(refs);
  });
}

async function openMaintenance(root: string, more: { grace?: number; searchPath?: string } = {}) {
  const searchPath = process.env['PATH'] ?? '';
  const maintenance = new Maintenance({ root, searchPath, log: createLog('silent'), ...more });
  await maintenance.open();
  return maintenance;
}

async function maintain(root: string, kind: 'configurations' | 'parameters' = 'configurations') {
  const maintenance = await openMaintenance(root, { grace: 0 });
  maintenance.request({ kind, name: 'web' });
  await maintenance.whenIdle();
}

type Git = (...args: string[]) => string;

const blobOf = (git: Git, version: string) => git('rev-parse', `v${version}:main.dsc.yaml`);
const isSound = (git: Git) => expect(git('fsck', '--strict', '--full')).to.not.match(/error|missing|broken/);
const subjects = (git: Git, ref: string) => git('log', '--format=%s', ref).split('\n');

function hasObject(git: Git, oid: string): boolean {
  try {
    git('cat-file', '-e', oid);
    return true;
  } catch {
    return false;
  }
}

/** By ref, the commit that it leads to. */
const commitsOf = (git: Git) =>
  Object.fromEntries(
    git('for-each-ref', '--format=%(refname)')
      .split('\n')
      .map((name) => [name, git('rev-parse', `${name}^{commit}`)]),
  );

describe('removing published versions', () => {
  it('takes the version from every reader at once, and the others keep their commits', () =>
    onStore(async ({ store, git, moved, reopen }) => {
      await publishAll(store, '1.0.0', '1.1.0', '1.2.0', '2.0.0');
      const before = commitsOf(git);
      moved.length = 0;
      await remove(store, '1.0.0', '1.2.0');
      expect(await summary(store)).to.deep.equal(['2.0.0 Published', '1.1.0 Published']);
      expect(await summary(await reopen())).to.deep.equal(['2.0.0 Published', '1.1.0 Published']);
      expect(moved).to.deep.equal(['web']);
      delete before['refs/tags/v1.0.0'];
      delete before['refs/tags/v1.2.0'];
      expect(commitsOf(git)).to.deep.equal(before);
      isSound(git);
    }));

  it('ends the history of what is kept where a removed version would follow', () =>
    onStore(async ({ store, git }) => {
      await publishAll(store, '1.0.0', '1.1.0', '1.2.0', '1.3.0', '2.0.0');
      await remove(store, '1.0.0', '1.2.0');
      expect(subjects(git, 'v2.0.0')).to.deep.equal(['web 2.0.0', 'web 1.3.0']);
      expect(subjects(git, 'v1.1.0')).to.deep.equal(['web 1.1.0']);
      await remove(store, '1.3.0');
      expect(subjects(git, 'main')).to.deep.equal(['web 2.0.0']);
      isSound(git);
    }));

  it('lets maintenance drop the objects that only they held, and no other', () =>
    onStore(async ({ root, store, git, reopen }) => {
      await publishAll(store, '1.0.0', '1.1.0', '2.0.0');
      await addVersion(store, '2.1.0', [file('main.dsc.yaml', 'only 1.0.0\n')]);
      git('gc', '--quiet');
      const [shared, gone, kept] = [blobOf(git, '1.0.0'), blobOf(git, '1.1.0'), blobOf(git, '2.0.0')];
      const [tag, commit] = [git('rev-parse', 'v1.1.0'), git('rev-parse', 'v1.1.0^{commit}')];
      await remove(store, '1.0.0', '1.1.0');
      const before = commitsOf(git);
      await maintain(root);
      const there = (...oids: string[]) => oids.map((oid) => hasObject(git, oid));
      expect(there(gone, tag, commit)).to.deep.equal([false, false, false]);
      expect(there(shared, kept)).to.deep.equal([true, true]);
      expect(commitsOf(git)).to.deep.equal(before);
      isSound(git);
      expect(subjects(git, 'main')).to.deep.equal(['web 2.0.0']);
      const later = await reopen();
      expect((await later.blob(WEB, kept)).toString()).to.equal('only 2.0.0\n');
      expect((await store.blob(WEB, shared)).toString()).to.equal('only 1.0.0\n');
      await publish(store, '2.1.0');
      await addVersion(store, '1.1.0', [file('main.dsc.yaml', 'only 1.1.0\n')]);
      await publish(store, '1.1.0');
      expect(await summary(store)).to.deep.equal(['2.1.0 Published', '2.0.0 Published', '1.1.0 Published']);
      expect(subjects(git, 'main')).to.deep.equal(['web 2.1.0', 'web 2.0.0']);
      isSound(git);
    }));

  it('leaves nothing of them to a clone made afterwards', () =>
    onStore(async ({ root, store, git, gitdir }) => {
      await publishAll(store, '1.0.0', '1.1.0', '2.0.0');
      const gone = blobOf(git, '1.1.0');
      await remove(store, '1.1.0');
      const clone = join(root, 'clone');
      runGit(root, 'clone', '--quiet', '--no-local', gitdir, clone);
      expect(runGit(clone, 'tag')).to.equal('v1.0.0\nv2.0.0');
      expect(runGit(clone, 'log', '--format=%s', 'main')).to.equal('web 2.0.0');
      expect(hasObject((...args) => runGit(clone, ...args), gone)).to.equal(false);
      isSound((...args) => runGit(clone, ...args));
    }));

  it('goes on serving clones that were made before', () =>
    onStore(async ({ root, store, gitdir }) => {
      await publishAll(store, '1.0.0', '1.1.0', '1.2.0');
      const [recent, old] = [join(root, 'recent'), join(root, 'old')];
      for (const clone of [recent, old]) runGit(root, 'clone', '--quiet', '--no-local', gitdir, clone);
      await addVersion(store, '2.0.0');
      await publish(store, '2.0.0', AT + 9_000);
      runGit(recent, 'fetch', '--quiet');
      await remove(store, '1.0.0', '1.2.0');
      await addVersion(store, '2.1.0');
      await publish(store, '2.1.0', AT + 10_000);
      runGit(recent, 'fetch', '--quiet');
      expect(runGit(recent, 'log', '--format=%s', 'origin/main').split('\n')).to.have.length(5);
      // A clone that lacks the commit at which history now begins takes the branch only when told to.
      runGit(old, 'fetch', '--quiet');
      expect(runGit(old, 'log', '-1', '--format=%s', 'origin/main')).to.equal('web 1.2.0');
      runGit(old, 'fetch', '--quiet', '--update-shallow');
      expect(runGit(old, 'log', '-1', '--format=%s', 'origin/main')).to.equal('web 2.1.0');
      isSound((...args) => runGit(old, ...args));
    }));

  it('keeps drafts and branches that grew from a removed version', () =>
    onStore(async ({ store, git, root }) => {
      await publishAll(store, '1.0.0', '1.1.0');
      await addVersion(store, '1.2.0');
      const parent = git('rev-parse', 'v1.1.0^{commit}');
      git('update-ref', 'refs/heads/topic', git('commit-tree', '-p', parent, '-m', 'Topic', 'v1.1.0^{tree}'));
      await addVersion(store, '2.0.0');
      await publish(store, '2.0.0', AT + 9_000);
      const before = commitsOf(git);
      await remove(store, '1.0.0', '1.1.0');
      await maintain(root);
      delete before['refs/tags/v1.0.0'];
      delete before['refs/tags/v1.1.0'];
      expect(commitsOf(git)).to.deep.equal(before);
      expect(subjects(git, 'draft/1.2.0')).to.deep.equal(['web 1.2.0']);
      expect(subjects(git, 'topic')).to.deep.equal(['Topic']);
      isSound(git);
      await replace(store, '1.2.0', [file('main.dsc.yaml', 'other\n')]);
      await publish(store, '1.2.0');
      expect(subjects(git, 'v1.2.0')).to.deep.equal(['web 1.2.0']);
      isSound(git);
    }));

  it('cuts nothing off above a commit that something kept leads to as well', () =>
    onStore(async ({ store, git }) => {
      await publishAll(store, '1.0.0', '1.1.0');
      git('tag', 'milestone', 'v1.0.0^{commit}');
      await remove(store, '1.0.0');
      expect(subjects(git, 'v1.1.0')).to.deep.equal(['web 1.1.0', 'web 1.0.0']);
      expect(await summary(store)).to.deep.equal(['1.1.0 Published']);
    }));

  it('removes packed and loose tags alike, and those of stock git with all the work between them', () =>
    onStore(async ({ root, store, git }) => {
      await publishAll(store, '1.0.0');
      let parent = git('rev-parse', 'v1.0.0^{commit}');
      const step = (text: string) => {
        parent = git('commit-tree', '-p', parent, '-m', text, 'v1.0.0^{tree}');
        return parent;
      };
      const between = step('work for 1.1.0');
      git('tag', '-a', '-m', 'Version 1.1.0', 'v1.1.0', step('1.1.0'));
      git('pack-refs', '--all');
      const above = step('work for 1.2.0');
      git('tag', '-a', '-m', 'Version 1.2.0', 'v1.2.0', step('1.2.0'));
      await remove(store, '1.1.0', '1.0.0');
      await maintain(root);
      expect(subjects(git, 'v1.2.0')).to.deep.equal(['1.2.0']);
      for (const work of [between, above]) expect(hasObject(git, work)).to.equal(false);
      isSound(git);
    }));

  it('refuses the version that main stands at, drafts and what is not there, and removes nothing then', () =>
    onStore(async ({ store }) => {
      await publishAll(store, '1.0.0', '1.1.0');
      await addVersion(store, '1.2.0');
      expect(await codeOf(remove(store, '1.0.0', '1.1.0'))).to.equal('in_use');
      expect(await codeOf(remove(store, '1.0.0', '1.2.0'))).to.equal('not_found');
      expect(await codeOf(remove(store, '1.0.0', '9.0.0'))).to.equal('not_found');
      expect(await summary(store)).to.deep.equal(['1.2.0 Draft', '1.1.0 Published', '1.0.0 Published']);
    }));

  it('leaves a whole repository wherever it breaks off, and the next one ends it', async () => {
    const seen = new Set<string>();
    const breaks = await breakEverywhere(
      (store) => publishAll(store, '1.0.0', '1.1.0', '1.2.0', '2.0.0'),
      (store) => remove(store, '1.0.0', '1.2.0'),
      async (store, gitdir) => {
        const git: Git = (...args) => runGit(gitdir, ...args);
        const there = await summary(store);
        seen.add(there.join());
        expect(there).to.include.members(['2.0.0 Published', '1.1.0 Published']);
        isSound(git);
        git('log', '--all');
        const left = ['1.0.0', '1.2.0'].filter((version) => there.includes(`${version} Published`));
        for (const version of left)
          expect(git('show', `v${version}:main.dsc.yaml`)).to.equal(`only ${version}`);
        await remove(store, ...left);
        expect(await summary(store)).to.deep.equal(['2.0.0 Published', '1.1.0 Published']);
        expect(git('log', '--format=%s', 'main')).to.equal('web 2.0.0');
        git('gc', '--prune=now', '--quiet');
        isSound(git);
        expect(await readdir(gitdir)).to.not.include('shallow.lock');
      },
    );
    expect(breaks).to.be.greaterThan(8);
    expect(seen.size).to.be.greaterThan(1);
  }).timeout(240_000);
});

describe('removing versions of parameters', () => {
  it('removes drafts and published files, with their content', () =>
    onParameters(async ({ root, store, git }) => {
      await release(store, PROD, '1.0.0', portOf(1), { at: AT });
      await release(store, PROD, '1.1.0', portOf(2), { at: AT + 1_000 });
      await release(store, PROD, '1.2.0', portOf(3), { at: AT + 2_000 });
      await writeFile(store, PROD, '1.3.0', portOf(4));
      const refs = ['Environment/prod/v1.0.0', 'Environment/prod/v1.1.0', 'draft/Environment/prod/1.3.0'];
      const objects = refs.map((ref) => git('rev-parse', `${ref}:prod/parameters.yaml`));
      const tip = git('rev-parse', 'Environment');
      await removeFiles(store, PROD, '1.0.0', '1.1.0', '1.3.0');
      expect(await filesOf(store, PROD)).to.deep.equal(['1.2.0 Published']);
      await maintain(root, 'parameters');
      expect(objects.map((oid) => hasObject(git, oid))).to.deep.equal([false, false, false]);
      expect(await textOf(store, PROD, '1.2.0')).to.equal(portOf(3));
      expect(git('rev-parse', 'Environment')).to.equal(tip);
      expect(subjects(git, 'Environment')).to.deep.equal(['Environment/prod 1.2.0']);
      isSound(git);
    }));

  it('ends the branch of the scope type no earlier than it must', () =>
    onParameters(async ({ root, store, git }) => {
      const scopes = [PROD, TEST, PROD, TEST, PROD, DEFAULT, DEFAULT];
      const versions = ['1.0.0', '1.0.0', '1.1.0', '1.1.0', '1.2.0', '1.0.0', '1.1.0'];
      for (const [at, scope] of scopes.entries())
        await release(store, scope, versions[at] ?? '', portOf(at), { at: AT + at * 1_000 });
      await removeFiles(store, PROD, '1.0.0');
      expect(subjects(git, 'Environment')).to.deep.equal([
        'Environment/prod 1.2.0',
        'Environment/test 1.1.0',
        'Environment/prod 1.1.0',
      ]);
      expect(subjects(git, 'Default')).to.deep.equal(['Default 1.1.0', 'Default 1.0.0']);
      expect(git('show', 'Environment:test/parameters.yaml')).to.equal(portOf(3).trim());
      await maintain(root, 'parameters');
      isSound(git);
      expect(await filesOf(store, TEST)).to.deep.equal(['1.1.0 Published', '1.0.0 Published']);
      expect(await textOf(store, TEST, '1.0.0')).to.equal(portOf(1));
      // What is published next goes on top, though the branch's history has an end.
      await release(store, TEST, '1.2.0', portOf(9), { at: AT + 60_000 });
      expect(subjects(git, 'Environment')).to.have.length(4);
      isSound(git);
    }));

  it('leaves a whole repository wherever it breaks off, and the next one ends it', async () => {
    await breakEverywhere(
      async (store) => {
        await release(store, PROD, '1.0.0', portOf(1), { at: AT });
        await release(store, PROD, '1.1.0', portOf(2), { at: AT + 1_000 });
        await writeFile(store, PROD, '1.2.0', portOf(3));
      },
      (store) => removeFiles(store, PROD, '1.0.0', '1.2.0'),
      async (store, gitdir) => {
        const git: Git = (...args) => runGit(gitdir, ...args);
        isSound(git);
        const index = await store.parameters.index(WEB_PARAMETERS);
        const left = ['1.0.0', '1.2.0'].filter((version) => index.of(PROD).get(version));
        await removeFiles(store, PROD, ...left);
        expect(await filesOf(store, PROD)).to.deep.equal(['1.1.0 Published']);
        git('gc', '--prune=now', '--quiet');
        expect(subjects(git, 'Environment')).to.deep.equal(['Environment/prod 1.1.0']);
        isSound(git);
      },
      'parameters',
    );
  }).timeout(240_000);
});

describe('maintenance', () => {
  it('leaves objects alone that are younger than its grace', () =>
    onStore(async ({ root, store, git }) => {
      await publishAll(store, '1.0.0', '1.1.0');
      const gone = blobOf(git, '1.0.0');
      await remove(store, '1.0.0');
      const maintenance = await openMaintenance(root);
      maintenance.request(WEB);
      await maintenance.close();
      await maintain(join(root, 'nowhere'));
      expect(hasObject(git, gone)).to.equal(true);
      isSound(git);
    }));

  it('does nothing without git', () =>
    onStore(async ({ root, store, gitdir }) => {
      await publishAll(store, '1.0.0', '1.1.0');
      const maintenance = await openMaintenance(root, { searchPath: '/nowhere' });
      maintenance.request(WEB);
      await maintenance.whenIdle();
      expect(maintenance.isAvailable).to.equal(false);
      expect(existsSync(join(gitdir, 'packed-refs'))).to.equal(false);
      expect(readFileSync(join(gitdir, 'HEAD'), 'utf8')).to.contain('main');
    }));

  it('keeps what a write takes up again of a removed version while it runs', () =>
    onStore(async ({ root, store, git }) => {
      await publishAll(store, '1.0.0', '1.1.0');
      git('gc', '--quiet');
      await remove(store, '1.0.0');
      const old = new Date(Date.now() - 30 * 24 * 3_600_000);
      const packs = join(root, 'configurations/web.git/objects/pack');
      for (const name of await readdir(packs)) await utimes(join(packs, name), old, old);
      // The blob of 1.0.0 is in an old pack and nothing leads to it but this draft, whose ref is yet to come.
      await addVersion(store, '2.0.0', [file('main.dsc.yaml', 'only 1.0.0\n')]);
      const commit = git('rev-parse', 'draft/2.0.0');
      git('update-ref', '-d', 'refs/heads/draft/2.0.0');
      const maintenance = await openMaintenance(root);
      maintenance.request(WEB);
      await maintenance.whenIdle();
      git('update-ref', 'refs/heads/draft/2.0.0', commit);
      isSound(git);
      expect(git('show', 'draft/2.0.0:main.dsc.yaml')).to.equal('only 1.0.0');
    }));
});
