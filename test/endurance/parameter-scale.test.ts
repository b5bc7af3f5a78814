import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { CountingFs } from '../unit/git/counting-fs.ts';
import {
  DEFAULT,
  filesOf,
  onParameters,
  PARAMETERS,
  PROD,
  portOf,
  publishFile,
  release,
  textOf,
  WEB_PARAMETERS,
  writeFile,
} from '../unit/git/parameter-support.ts';
import { codeOf, makeStore, pipeGit, until, type Workbench } from '../unit/git/support.ts';

const site = (at: number) => `Environment/site-${at}`;

/** A published version and a draft for so many scope values, and their branch, none of them by our hand. */
function makeSites({ gitdir }: Workbench, count: number): void {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const who = 'Carol <carol@example.org> 1700000000 +0000';
  const commands = Array.from({ length: count }, (_, at) => {
    const file = `M 100644 inline site-${at}/parameters.yaml\n${data(portOf(at))}`;
    const draft = `commit refs/heads/draft/Environment/site-${at}/1.1.0\nmark :${at + 1}\ncommitter ${who}\n`;
    const tag = `tag Environment/site-${at}/v1.0.0\nfrom :${at + 1}\ntagger ${who}\n${data('by hand')}`;
    return { file, version: `${draft}${data('import')}${file}${tag}` };
  });
  const branch = `commit refs/heads/Environment\ncommitter ${who}\n${data('all')}`;
  const input = [...commands.map(({ version }) => version), branch, ...commands.map(({ file }) => file)];
  pipeGit(gitdir, input.join(''), 'fast-import', '--quiet');
}

describe('the parameters of many scope values', () => {
  it('are published at once to as many scopes, each recorded once', () =>
    onParameters(async ({ store, git, gitdir, reopen }) => {
      const sites = Array.from({ length: 50 }, (_, at) => site(at));
      await Promise.all(sites.map((scope, at) => release(store, scope, '1.0.0', portOf(at))));
      for (const other of [store, await reopen()]) {
        for (const [at, scope] of sites.entries()) {
          expect(await textOf(other, scope, '1.0.0')).to.equal(portOf(at));
        }
      }
      const subjects = git('log', '--format=%s', 'Environment').split('\n');
      expect(subjects).to.have.members(sites.map((series) => `${series} 1.0.0`));
      expect(git('ls-tree', 'Environment').split('\n')).to.have.length(50);
      expect(git('for-each-ref', 'refs/heads/draft')).to.equal('');
      // No folder outlives its drafts: each is looked at every second.
      expect(await readdir(join(gitdir, 'refs/heads/draft'))).to.deep.equal([]);
      expect(git('fsck', '--strict')).to.not.contain('error');
    }));

  it('take one of many publishings of the same version, and all of different ones', () =>
    onParameters(async ({ store, git }) => {
      const versions = Array.from({ length: 50 }, (_, at) => `1.${at}.0`);
      await writeFile(store, PROD, '2.0.0');
      const codes = await Promise.all(versions.map(() => codeOf(publishFile(store, PROD, '2.0.0'))));
      expect(codes.filter((code) => code === 'no error')).to.have.length(1);
      expect(codes.filter((code) => code === 'already_published')).to.have.length(49);
      await Promise.all(versions.map((version, at) => release(store, PROD, version, portOf(at))));
      expect(await filesOf(store, PROD)).to.deep.equal(
        ['2.0.0', ...versions.toReversed()].map((version) => `${version} Published`),
      );
      expect(git('log', '--format=%s', 'Environment').split('\n')).to.have.length(51);
      expect(git('fsck', '--strict')).to.not.contain('error');
    }));

  for (const layout of ['loose', 'packed']) {
    it(`are checked once, ${layout}: a start after that reads no tag`, () =>
      onParameters(async (bench) => {
        const { store, root, git } = bench;
        await release(store, DEFAULT, '1.0.0');
        makeSites(bench, 400);
        if (layout === 'packed') git('gc', '-q');
        await store.exclusive(PARAMETERS, async () => undefined);
        expect((await store.parameters.index(WEB_PARAMETERS)).series).to.have.length(401);
        const fs = new CountingFs();
        const later = makeStore(root, [], { fs });
        await later.prepare();
        later.open();
        expect(await filesOf(later, site(7))).to.deep.equal(['1.1.0 Draft', '1.0.0 Published']);
        // The loose refs and their folders, `packed-refs` and the list of what was checked.
        expect(fs.reads).to.be.lessThan(layout === 'loose' ? 1_700 : 20);
        await later.close();
      }));
  }

  it('are written to at the price of few, and their loose refs are packed', () =>
    onParameters(async (bench) => {
      const { store, root, gitdir, git } = bench;
      await release(store, DEFAULT, '1.0.0');
      makeSites(bench, 400);
      const fs = new CountingFs();
      // It isn't opened, so that no watch of its own reads meanwhile.
      const other = makeStore(root, [], { fs });
      await other.prepare();
      await other.exclusive(PARAMETERS, async () => undefined);
      const folders = async () => (await readdir(join(gitdir, 'refs/tags'))).length;
      await until(async () => (await folders()) === 0);
      expect(git('for-each-ref').split('\n')).to.have.length(803);
      await release(other, site(1), '2.0.0');
      fs.reads = 0;
      fs.looks = 0;
      await writeFile(other, site(2), '2.0.0', portOf(2));
      await publishFile(other, site(2), '2.0.0');
      expect(fs.reads).to.be.lessThan(150);
      expect(fs.looks).to.be.lessThan(200);
      expect((await filesOf(other, site(2)))[0]).to.equal('2.0.0 Published');
      expect(git('ls-tree', 'Environment').split('\n')).to.have.length(400);
      expect(git('show', 'Environment:site-2/parameters.yaml')).to.equal(portOf(2).trim());
      expect(git('fsck', '--strict')).to.not.contain('error');
      await other.close();
    }));
});
