// full: SQLite
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { GitStore } from '../../../src/versions/store.ts';
import {
  DEFAULT,
  filesOf,
  onParameters,
  PARAMETERS,
  PROD,
  portOf,
  publishFile,
  release,
  TEST,
  textOf,
  WEB_PARAMETERS,
  writeFile,
} from './parameter-support.ts';
import { codeOf, pipeGit, until, type Workbench } from './support.ts';

function reasons(store: GitStore): Record<string, string> {
  return Object.fromEntries(store.problems().map(({ ref, reason }) => [ref, reason]));
}

/** Takes the lock once, which reads the disk first. */
async function look(store: GitStore): Promise<void> {
  await store.exclusive(PARAMETERS, async () => undefined);
}

/** An administrator's tag with these files. */
function tagFiles({ gitdir }: Workbench, name: string, files: Record<string, string>, message = 'x'): void {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const who = 'Carol <carol@example.org> 1700000000 +0000';
  const changes = Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`);
  const commit = `commit refs/heads/import\nmark :1\ncommitter ${who}\n${data('import')}deleteall\n`;
  const tag = `tag ${name}\nfrom :1\ntagger ${who}\n${data(message)}`;
  pipeGit(gitdir, `${commit}${changes.join('')}${tag}`, 'fast-import', '--quiet', '--force');
  pipeGit(gitdir, '', 'update-ref', '-d', 'refs/heads/import');
}

describe('parameters that stock git touches', () => {
  it('count once tagged under a legal name, and go with their tags', () =>
    onParameters(async (bench) => {
      const { store, git, moved, untilLooked } = bench;
      await release(store, PROD, '1.0.0', portOf(1));
      await untilLooked();
      moved.length = 0;
      const has = (series: string, text: string) => async () =>
        (await filesOf(store, series)).join() === text;
      tagFiles(bench, 'Environment/prod/v1.1.0', { 'prod/parameters.yaml': portOf(2) });
      await until(has(PROD, '1.1.0 Published,1.0.0 Published'));
      expect(await textOf(store, PROD, '1.1.0')).to.equal(portOf(2));
      tagFiles(bench, 'Environment/new/v1.0.0', { 'new/parameters.json': '{}' });
      await until(has('Environment/new', '1.0.0 Published'));
      git('tag', '-d', 'Environment/prod/v1.1.0');
      await until(has(PROD, '1.0.0 Published'));
      git('gc', '-q', '--prune=now');
      git('update-ref', 'refs/heads/draft/Environment/prod/3.0.0', 'Environment/prod/v1.0.0^{commit}');
      await until(has(PROD, '3.0.0 Draft,1.0.0 Published'));
      await until(() => moved.length > 3);
      expect(store.problems()).to.deep.equal([]);
    }));

  it('may be tagged on the branch that collects them all', () =>
    onParameters(async ({ store, git }) => {
      await release(store, PROD, '1.0.0', portOf(1));
      await release(store, TEST, '1.0.0', portOf(2));
      git('tag', '-a', 'Environment/prod/v1.0.1', '-m', 'by hand', 'Environment');
      await look(store);
      expect(await textOf(store, PROD, '1.0.1')).to.equal(portOf(1));
    }));

  it('are reported and no versions when their names or their files are not legal', () =>
    onParameters(async (bench) => {
      const { store, git, reopen } = bench;
      await release(store, PROD, '1.0.0');
      const file = { 'prod/parameters.yaml': portOf(1) };
      tagFiles(bench, 'Environment/v2.0.0', file);
      tagFiles(bench, 'Default/prod/v2.0.0', file);
      tagFiles(bench, 'Environment/a.-b/v2.0.0', file);
      tagFiles(bench, 'Environment/prod/v2.0.0', { 'test/parameters.yaml': portOf(1) });
      tagFiles(bench, 'Environment/prod/v2.1.0', { ...file, 'prod/parameters.json': '{}' });
      tagFiles(bench, 'Environment/prod/v2.2.0', file, 'x\n\nPassthrough: true');
      tagFiles(bench, 'schema/v2.0.0', file);
      git('update-ref', 'refs/heads/draft/2.0.0', 'Environment/prod/v1.0.0^{commit}');
      // None of ours, so passed over without a word.
      git('tag', 'Environment/prod/v3.0.0', 'Environment/prod/v1.0.0^{commit}');
      tagFiles(bench, 'Environment/prod/vendor-import', file);
      tagFiles(bench, 'backup', file);
      for (const other of [store, await reopen(), await reopen()]) {
        await look(other);
        expect(await filesOf(other, PROD)).to.deep.equal(['1.0.0 Published']);
        expect((await other.parameters.index(WEB_PARAMETERS)).of('schema').versions).to.deep.equal([]);
        const illegal = 'The name is not that of a parameter file or schema';
        expect(reasons(other)).to.deep.equal({
          'refs/heads/draft/2.0.0': illegal,
          'refs/tags/Environment/v2.0.0': illegal,
          'refs/tags/Default/prod/v2.0.0': illegal,
          'refs/tags/Environment/a.-b/v2.0.0': illegal,
          'refs/tags/Environment/prod/v2.0.0': 'There is no file at "prod/parameters.yaml"',
          'refs/tags/Environment/prod/v2.1.0': 'There are both a YAML and a JSON file',
          'refs/tags/Environment/prod/v2.2.0': 'A scope that is passed through has a file',
          'refs/tags/schema/v2.0.0': 'There is no file at "schema.yaml"',
        });
      }
      git('tag', '-d', 'Environment/v2.0.0');
      await look(store);
      expect(reasons(store)).to.not.have.property('refs/tags/Environment/v2.0.0');
    }));

  it('answer the same after gc, repack and pack-refs, and are written to as before', () =>
    onParameters(async ({ store, git, reopen }) => {
      await release(store, DEFAULT, '1.0.0', portOf(1));
      await release(store, PROD, '1.0.0', portOf(2));
      await writeFile(store, PROD, '1.1.0', portOf(3));
      const answers = async (other: GitStore) => {
        await look(other);
        return [
          await filesOf(other, DEFAULT),
          await filesOf(other, PROD),
          await textOf(other, PROD, '1.1.0'),
        ];
      };
      const before = await answers(store);
      for (const command of ['gc -q --prune=now', 'repack -q -ad', 'pack-refs --all']) {
        git(...command.split(' '));
        expect(await answers(store)).to.deep.equal(before);
        expect(await answers(await reopen())).to.deep.equal(before);
      }
      await publishFile(store, PROD, '1.1.0');
      git('gc', '-q', '--prune=now');
      await release(store, PROD, '1.2.0', portOf(4));
      expect(git('log', '--format=%s', 'Environment').split('\n')).to.have.length(3);
      expect(git('for-each-ref', 'refs/heads/draft')).to.equal('');
      git('commit-graph', 'write', '--reachable');
      expect(git('fsck', '--strict', '--full')).to.not.contain('error');
    }));

  it('keep what an author committed to the branch, and record each version once beside it', () =>
    onParameters(async ({ store, git, root, gitdir }) => {
      await release(store, PROD, '1.0.0', portOf(1));
      const copy = join(root, 'copy');
      pipeGit(root, '', 'clone', '-q', '-b', 'Environment', `file://${gitdir}`, 'copy');
      pipeGit(copy, 'mind the port\n', 'hash-object', '-w', '--stdin');
      const blob = pipeGit(copy, 'mind the port\n', 'hash-object', '--stdin');
      pipeGit(copy, '', 'update-index', '--add', '--cacheinfo', `100644,${blob},prod/README`);
      pipeGit(copy, '', 'commit', '-q', '-m', 'a word on the port');
      pipeGit(copy, '', 'push', '-q');
      await release(store, PROD, '1.1.0', portOf(2));
      expect(git('ls-tree', '-r', '--name-only', 'Environment')).to.equal(
        'prod/README\nprod/parameters.yaml',
      );
      git('update-ref', 'refs/heads/draft/Environment/prod/1.0.0', 'Environment/prod/v1.0.0^{commit}');
      await look(store);
      expect(git('for-each-ref', 'refs/heads/draft')).to.equal('');
      expect(git('log', '--format=%s', 'Environment')).to.equal(
        'Environment/prod 1.1.0\na word on the port\nEnvironment/prod 1.0.0',
      );
    }));

  it('are recorded once, though two processes are about the same publishing', () =>
    onParameters(async ({ store, git, reopen }) => {
      const other = await reopen();
      const versions = Array.from({ length: 12 }, (_, minor) => `1.${minor}.0`);
      for (const version of versions) {
        await writeFile(store, PROD, version);
        await Promise.all([publishFile(store, PROD, version), look(other), look(other)]);
      }
      expect(git('log', '--format=%s', 'Environment').split('\n').toReversed()).to.deep.equal(
        versions.map((version) => `Environment/prod ${version}`),
      );
    }));

  it('are recorded on the branch when a hand-made tag publishes a draft', () =>
    onParameters(async ({ store, git }) => {
      await writeFile(store, PROD, '1.0.0', portOf(1));
      git('tag', '-a', 'Environment/prod/v1.0.0', '-m', 'go', 'draft/Environment/prod/1.0.0');
      await look(store);
      expect(git('log', '--format=%s %an %cn', 'Environment')).to.equal('Environment/prod 1.0.0 Alice Carol');
      expect(git('for-each-ref', 'refs/heads/draft')).to.equal('');
    }));

  it('are empty once their folder is gone, and back when it is', () =>
    onParameters(async ({ store, gitdir }) => {
      await release(store, PROD, '1.0.0');
      await rename(gitdir, `${gitdir}.away`);
      await until(async () => (await filesOf(store, PROD)).length === 0);
      await rename(`${gitdir}.away`, gitdir);
      await until(async () => (await filesOf(store, PROD)).length === 1);
    }));
});

describe('damaged parameters', () => {
  it('fail to be read, stay listed, and cost no other configuration anything', () =>
    onParameters(async ({ store, git, gitdir, reopen }) => {
      await release(store, PROD, '1.0.0', portOf(1));
      await release(store, TEST, '1.0.0', portOf(2));
      const [tag, blob] = ['Environment/prod/v1.0.0', 'Environment/test/v1.0.0:test/parameters.yaml'].map(
        (name) => git('rev-parse', name),
      );
      const pathOf = (oid = '') => join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2));
      for (const oid of [tag, blob]) await rename(pathOf(oid), `${pathOf(oid)}.away`);
      await rm(join(gitdir, 'hawser-checked'));
      const other = await reopen();
      expect(await filesOf(other, PROD)).to.deep.equal(['1.0.0 Published']);
      expect(await codeOf(textOf(other, PROD, '1.0.0'))).to.equal('repository_damaged');
      expect(await codeOf(textOf(other, TEST, '1.0.0'))).to.equal('repository_damaged');
      expect(reasons(other)).to.deep.equal({
        'refs/tags/Environment/prod/v1.0.0': 'repository_damaged',
        [`blob ${blob}`]: 'repository_damaged',
      });
      expect(await codeOf(writeFile(other, PROD, '1.1.0'))).to.equal('repository_damaged');
      await writeFile(other, TEST, '1.1.0');
      expect((await other.parameters.index('mail')).series).to.deep.equal([]);
      const before = (await other.parameters.index(WEB_PARAMETERS)).of(PROD).versions;
      for (const oid of [tag, blob]) await rename(`${pathOf(oid)}.away`, pathOf(oid));
      expect(await textOf(other, PROD, '1.0.0')).to.equal(portOf(1));
      expect(await textOf(other, TEST, '1.0.0')).to.equal(portOf(2));
      expect(other.problems()).to.deep.equal([]);
      expect((await other.parameters.index(WEB_PARAMETERS)).of(PROD).versions).to.not.equal(before);
    }));

  it('are never an empty answer when the refs are gone but the folder is there', () =>
    onParameters(async ({ store, gitdir, root, reopen }) => {
      await release(store, PROD, '1.0.0');
      await rm(join(gitdir, 'refs'), { recursive: true });
      const other = await reopen();
      expect(await codeOf(filesOf(other, PROD))).to.equal('repository_damaged');
      expect(await codeOf(writeFile(other, PROD, '1.1.0'))).to.equal('repository_damaged');
      const failsSoon = async () => (await codeOf(filesOf(store, PROD))) === 'repository_damaged';
      await until(failsSoon);
      await rm(join(root, 'parameters'), { recursive: true });
      expect(await codeOf(filesOf(other, PROD))).to.equal('repository_missing');
    }));
});
