import { appendFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { withPackedRefs } from '../../src/git/refs.ts';
import { CountingFs } from '../unit/git/counting-fs.ts';
import {
  addVersion,
  makePublishedWeb,
  makeStore,
  makeWeb,
  onStore,
  pipeGit,
  publish,
  summary,
  until,
  WEB,
  type Workbench,
} from '../unit/git/support.ts';

/** So many annotated tags with a tree, a commit and an object each, none of them by our hand. */
function makeTags({ gitdir }: Workbench, count: number): void {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const who = 'Carol <carol@example.org> 1700000000 +0000';
  const commands = Array.from({ length: count }, (_, at) => {
    const commit = `commit refs/heads/import\nmark :${at + 1}\ncommitter ${who}\n${data('import')}`;
    const tree = `M 100644 inline main.dsc.yaml\n${data(`version ${at}`)}`;
    return `${commit}${tree}tag v2.${at}.0\nfrom :${at + 1}\ntagger ${who}\n${data('by hand')}`;
  });
  pipeGit(gitdir, commands.join(''), 'fast-import', '--quiet');
}

describe('a repository of two thousand versions', () => {
  for (const layout of ['loose', 'packed']) {
    it(`is checked once, ${layout}: a start after that reads no tag`, () =>
      onStore(async (bench) => {
        const { store, git, root } = bench;
        await makeWeb(store);
        makeTags(bench, 2_000);
        if (layout === 'packed') git('gc', '-q');
        expect((await store.exclusive(WEB, async ({ index }) => index.of(''))).published).to.have.length(
          2_000,
        );
        const fs = new CountingFs();
        const later = makeStore(root, [], { fs });
        await later.prepare();
        later.open();
        expect((await later.versions(WEB)).published[0]?.version).to.equal('2.1999.0');
        // The loose refs themselves, `packed-refs` and the list of what was checked.
        expect(fs.reads).to.be.lessThan(layout === 'loose' ? 2_010 : 10);
        await later.close();
      }));
  }

  it('is written to at the price of a small one, and its loose refs are packed', () =>
    onStore(async (bench) => {
      const { store, root, gitdir, git } = bench;
      await makeWeb(store);
      makeTags(bench, 2_000);
      await store.versions(WEB);
      const fs = new CountingFs();
      // It isn't opened, so that no watch of its own reads meanwhile.
      const other = makeStore(root, [], { fs });
      await other.prepare();
      await addVersion(other, '3.0.0');
      await other.exclusive(WEB, async () => undefined);
      // The other store has its eye on the same folder, and may be looking after the same refs at this moment.
      const looseTags = () => readdir(join(gitdir, 'refs/tags'));
      await until(async () => (await looseTags()).length === 0);
      expect(git('for-each-ref', 'refs/tags').split('\n')).to.have.length(2_000);
      const packed = await readFile(join(gitdir, 'packed-refs'), 'utf8');
      git('pack-refs', '--all');
      const byGit = await readFile(join(gitdir, 'packed-refs'), 'utf8');
      expect(byGit.replace(/.* refs\/heads\/(main|import)\n/g, '')).to.equal(
        packed.replace(/.* refs\/heads\/(main|import)\n/g, ''),
      );
      await other.exclusive(WEB, async () => undefined);
      fs.reads = 0;
      fs.looks = 0;
      await publish(other, '3.0.0');
      expect(fs.reads).to.be.lessThan(80);
      expect(fs.looks).to.be.lessThan(80);
      expect((await summary(other))[0]).to.equal('3.0.0 Published');
      await other.close();
    }));

  it('loses no version when many are published one after the other', () =>
    onStore(async ({ store, git, gitdir }) => {
      await makeWeb(store);
      for (let minor = 1; minor <= 130; minor += 1) {
        await addVersion(store, `1.${minor}.0`);
        if (minor % 2 === 0) await publish(store, `1.${minor}.0`);
      }
      await until(async () => (await readdir(join(gitdir, 'refs/tags'))).length < 60);
      expect((await store.versions(WEB)).versions).to.have.length(131);
      expect(git('for-each-ref', 'refs/heads/draft').split('\n')).to.have.length(66);
      expect(git('for-each-ref', 'refs/tags').split('\n')).to.have.length(65);
      await publish(store, '1.3.0');
      await store.exclusive(WEB, (repository) => repository.deleteDraft('', '1.1.0'));
      expect(git('for-each-ref', 'refs/heads/draft').split('\n')).to.have.length(64);
      expect(git('fsck', '--strict')).to.not.contain('error');
    }));

  it('sees each of many quick changes by stock git', () =>
    onStore(async ({ store, git }) => {
      await makeWeb(store);
      const tree = git('rev-parse', 'draft/1.0.0^{tree}');
      for (let turn = 0; turn < 15; turn += 1) {
        const commit = git('commit-tree', tree, '-m', `turn ${turn}`);
        git('update-ref', 'refs/heads/draft/1.0.0', commit);
        const index = await store.exclusive(WEB, async (repository) => repository.index);
        expect(index.of('').get('1.0.0')?.oid).to.equal(commit);
      }
    }));
});

describe('the text of packed-refs', () => {
  const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];
  const HEADER = '# pack-refs with: peeled fully-peeled sorted \n';

  it('takes refs in at their places, by bytes, in place of what it held', () => {
    const text = withPackedRefs('', [
      { name: 'refs/tags/v\uff5e', oid: A, peeled: B },
      { name: 'refs/tags/v\u{1f600}', oid: A, peeled: B },
      { name: 'refs/heads/draft/1.0.0', oid: B, peeled: null },
    ]);
    const tags = `${A} refs/tags/v\uff5e\n^${B}\n${A} refs/tags/v\u{1f600}\n^${B}\n`;
    expect(text).to.equal(`${HEADER}${B} refs/heads/draft/1.0.0\n${tags}`);
    const later = withPackedRefs(text ?? '', [{ name: 'refs/heads/draft/1.0.0', oid: A, peeled: null }]);
    expect(later).to.equal(`${HEADER}${A} refs/heads/draft/1.0.0\n${tags}`);
  });

  it('leaves a file of another make to git', () => {
    const added = [{ name: 'refs/tags/v1', oid: A, peeled: B }];
    expect(withPackedRefs(`# pack-refs with: peeled \n${A} refs/tags/a\n`, added)).to.equal(null);
    expect(withPackedRefs(`${A} refs/tags/a\n`, added)).to.equal(null);
    expect(withPackedRefs(`${HEADER}what is this\n`, added)).to.equal(null);
  });

  it('is read by git', () =>
    onStore(async ({ store, git, gitdir }) => {
      await makePublishedWeb(store);
      git('pack-refs', '--all');
      await appendFile(join(gitdir, 'packed-refs'), '');
      const text = await readFile(join(gitdir, 'packed-refs'), 'utf8');
      expect(withPackedRefs(text, [])).to.equal(text);
    }));
});
