// full: SQLite
import { rename, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { newId } from '../../../src/lib/ids.ts';
import type { GitStore } from '../../../src/versions/store.ts';
import {
  addVersion,
  draftOf,
  EMPTY_COMPOSITE,
  file,
  listeningLog,
  makePublishedWeb,
  makeWeb,
  onStore,
  pipeGit,
  publish,
  settingsOf,
  summary,
  until,
  WEB,
  type Workbench,
} from './support.ts';

/** An administrator at work in the repository with stock git's plumbing. */
class Outsider {
  private readonly gitdir: string;

  constructor({ gitdir }: Workbench) {
    this.gitdir = gitdir;
  }

  git(input: string | Buffer, ...args: string[]): string {
    return pipeGit(this.gitdir, input, ...args);
  }

  blob(text: string): string {
    return this.git(text, 'hash-object', '-w', '--stdin');
  }

  tree(...entries: string[]): string {
    return this.git(entries.map((entry) => `${entry}\n`).join(''), 'mktree', '--missing');
  }

  /** A tree that mktree would refuse to write. */
  literalTree(name: string): string {
    const entry = Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(this.blob('x'), 'hex')]);
    return this.git(entry, 'hash-object', '-w', '--literally', '-t', 'tree', '--stdin');
  }

  commit(tree: string, ...message: string[]): string {
    const words = (message.length ? message : ['by hand']).flatMap((part) => ['-m', part]);
    return this.git('', 'commit-tree', tree, ...words);
  }

  tag(name: string, target: string): void {
    this.git('', 'tag', '-a', name, target, '-m', 'by hand');
  }

  file(path: string, text = path): string {
    return `100644 blob ${this.blob(text)}\t${path}`;
  }
}

const MAIN = 'main.dsc.yaml';

function reasons(store: GitStore): Record<string, string> {
  return Object.fromEntries(store.problems().map(({ ref, reason }) => [ref, reason]));
}

const noVersions: [string, (outside: Outsider) => string, RegExp][] = [
  ['a link', (o) => o.tree(o.file(MAIN), `120000 blob ${o.blob('/etc/passwd')}\tlink`), /"link" is a link/],
  [
    'a submodule',
    (o) => o.tree(o.file(MAIN), `160000 commit ${'1'.repeat(40)}\tsub`),
    /"sub" is a link or a submodule/,
  ],
  ['no file at its entry point', (o) => o.tree(o.file('other.yaml')), /no file at "main.dsc.yaml"/],
  ['no file at all', (o) => o.tree(), /no file at "main.dsc.yaml"/],
  ['a path that climbs', (o) => o.literalTree('../evil'), /malformed/],
  ['a .git file', (o) => o.literalTree('.git'), /"\.git" segment/],
  ['a name of two dots', (o) => o.literalTree('..'), /"\.\." segment/],
  ['an empty name', (o) => o.literalTree(''), /empty/],
  ['a name with a backslash', (o) => o.literalTree('a\\b'), /stored/],
  ['a name that is a device on Windows', (o) => o.tree(o.file(MAIN), o.file('con.txt')), /device/],
  ['two files that are one on Windows', (o) => o.tree(o.file(MAIN), o.file('MAIN.dsc.yaml')), /same file/],
];

describe('refs that stock git made', () => {
  for (const [what, make, reason] of noVersions) {
    it(`are no versions with ${what}: the older one stays the newest`, async () => {
      const { log, lines } = listeningLog();
      await onStore(
        async (bench) => {
          const { store, git, reopen } = bench;
          const outside = new Outsider(bench);
          await makePublishedWeb(store);
          const commit = outside.commit(make(outside));
          outside.tag('v2.0.0', commit);
          git('update-ref', 'refs/heads/draft/3.0.0', commit);
          const refs = ['refs/tags/v2.0.0', 'refs/heads/draft/3.0.0'];
          for (const other of [store, await reopen(), await reopen()]) {
            await other.exclusive(WEB, async () => undefined);
            expect(await summary(other)).to.deep.equal(['1.0.0 Published']);
            expect(reasons(other)).to.have.all.keys(refs);
            for (const ref of refs) expect(reasons(other)[ref]).to.match(reason);
            await other.exclusive(WEB, async () => undefined);
          }
          // Each of the three stores tells of each of the two refs once.
          expect(lines.filter(({ ref }) => refs.includes(String(ref)))).to.have.length(3 * 2);
          expect(git('rev-parse', 'main')).to.equal(git('rev-parse', 'v1.0.0^{commit}'));
          git('tag', '-d', 'v2.0.0');
          git('update-ref', '-d', 'refs/heads/draft/3.0.0');
          await until(() => store.problems().length === 0);
        },
        { log },
      );
    });
  }

  it('are no versions when the tag leads to a file or a folder, or is hostile in size', () =>
    onStore(async (bench) => {
      const { store } = bench;
      const outside = new Outsider(bench);
      await makeWeb(store);
      outside.tag('v2.0.0', outside.blob('x'));
      outside.tag('v2.1.0', outside.tree(outside.file(MAIN)));
      let tree = outside.tree(outside.file('leaf'));
      for (let depth = 0; depth < 9; depth += 1) {
        tree = outside.tree(...Array.from({ length: 10 }, (_, at) => `040000 tree ${tree}\t${at}`));
      }
      outside.tag('v2.2.0', outside.commit(tree));
      outside.git('', 'tag', 'v4.0.0', 'draft/1.0.0');
      await store.exclusive(WEB, async () => undefined);
      expect(await summary(store)).to.deep.equal(['1.0.0 Draft']);
      expect(reasons(store)['refs/tags/v2.0.0']).to.match(/does not lead to a commit/);
      expect(reasons(store)['refs/tags/v2.1.0']).to.match(/does not lead to a commit/);
      expect(reasons(store)['refs/tags/v2.2.0']).to.match(/too many/);
      expect(Object.keys(reasons(store))).to.have.length(3);
    }));

  it('are no versions when the commit is malformed', () =>
    onStore(async (bench) => {
      const { store } = bench;
      const outside = new Outsider(bench);
      await makeWeb(store);
      const tree = `tree ${outside.tree(outside.file(MAIN))}\n`;
      const by = (time: string) => `author Eve <e@x> ${time}\ncommitter Eve <e@x> ${time}\n`;
      const texts = [
        `${tree}\nneither author nor committer\n`,
        `${tree}author Eve 1700000000 +0000\ncommitter Eve <e@x> 1700000000 +0000\n\nwithout an address\n`,
        `${tree}${by('soon')}\nat no time\n`,
        `${by('1700000000 +0000')}\nwithout a tree\n`,
        '',
      ];
      texts.forEach((text, minor) => {
        const commit = outside.git(text, 'hash-object', '-w', '--literally', '-t', 'commit', '--stdin');
        const name = `v2.${minor}.0`;
        const tag = `object ${commit}\ntype commit\ntag ${name}\ntagger Eve <e@x> 1700000000 +0000\n\nx\n`;
        const oid = outside.git(tag, 'hash-object', '-w', '--literally', '-t', 'tag', '--stdin');
        outside.git('', 'update-ref', `refs/tags/${name}`, oid);
      });
      await store.exclusive(WEB, async () => undefined);
      expect(await summary(store)).to.deep.equal(['1.0.0 Draft']);
      expect(Object.keys(reasons(store))).to.have.length(texts.length);
      expect(Object.values(reasons(store)).join()).to.not.contain('repository_damaged');
    }));

  it('do not cost a draft its branch while the tag of its name is no version, or cannot be read', () =>
    onStore(async (bench) => {
      const { store, git, gitdir, reopen } = bench;
      const outside = new Outsider(bench);
      await makeWeb(store);
      await addVersion(store, '2.0.0');
      await addVersion(store, '3.0.0');
      const drafts = git('for-each-ref', 'refs/heads/draft');
      // Else this store looks by itself, and may find tag v3.0.0 while it can still be read.
      await store.close();
      outside.tag('v2.0.0', outside.commit(outside.tree(outside.file('other.yaml'))));
      outside.tag('v3.0.0', outside.commit(outside.tree(outside.file(MAIN))));
      const tag = git('rev-parse', 'v3.0.0');
      const path = join(gitdir, 'objects', tag.slice(0, 2), tag.slice(2));
      await rename(path, `${path}.away`);
      const other = await reopen();
      await other.exclusive(WEB, async () => undefined);
      expect(git('for-each-ref', 'refs/heads/draft')).to.equal(drafts);
      await rename(`${path}.away`, path);
      await (await reopen()).exclusive(WEB, async () => undefined);
      expect(git('for-each-ref', '--format=%(refname)', 'refs/heads/draft').split('\n')).to.deep.equal([
        'refs/heads/draft/1.0.0',
        'refs/heads/draft/2.0.0',
      ]);
    }));

  it('are versions when the files are plain, executable or not, and a tag of a tag too', () =>
    onStore(async (bench) => {
      const { store } = bench;
      const outside = new Outsider(bench);
      await makePublishedWeb(store);
      const run = `100755 blob ${outside.blob('#!/bin/sh')}\trun.sh`;
      const folder = `040000 tree ${outside.tree(outside.file('häfen.txt'))}\tfiles`;
      outside.tag('v2.0.0', outside.commit(outside.tree(outside.file(MAIN), run, folder)));
      outside.tag('v2.1.0', 'v2.0.0');
      await store.exclusive(WEB, async () => undefined);
      expect(await summary(store)).to.deep.equal(['2.1.0 Published', '2.0.0 Published', '1.0.0 Published']);
      const ref = (await store.versions(WEB)).published[0] ?? expect.fail();
      const details = await store.details(WEB, ref);
      expect(details.files.map(({ path }) => path)).to.deep.equal(['files/häfen.txt', MAIN, 'run.sh']);
      expect(details.commit).to.equal(outside.git('', 'rev-parse', 'v2.0.0^{commit}'));
      expect(store.problems()).to.deep.equal([]);
    }));

  it('show soon, a draft branch too, and are told of', () =>
    onStore(async (bench) => {
      const { store, moved, git, untilLooked } = bench;
      const outside = new Outsider(bench);
      await makePublishedWeb(store);
      await store.versions(WEB);
      await untilLooked();
      moved.length = 0;
      const commit = outside.commit(outside.tree(outside.file(MAIN)), 'x', `Entry-Point: ${MAIN}`);
      git('update-ref', 'refs/heads/draft/1.5.0', commit);
      await until(() => moved.length === 1);
      expect(await summary(store)).to.deep.equal(['1.5.0 Draft', '1.0.0 Published']);
      outside.tag('v1.4.0', commit);
      await until(() => moved.length >= 2);
      expect(await summary(store)).to.deep.equal(['1.5.0 Draft', '1.4.0 Published', '1.0.0 Published']);
      await publish(store, '1.5.0');
      expect((await summary(store))[0]).to.equal('1.5.0 Published');
      expect(git('log', '--format=%H', '-1', 'v1.5.0')).to.equal(commit);
    }));

  it('inherit an entry point only if they hold the file, whatever stands below them', () =>
    onStore(async (bench) => {
      const { store, git, reopen } = bench;
      const outside = new Outsider(bench);
      await makeWeb(store, '1.0.0', [file(MAIN, ''), file('app.yaml', '')]);
      await store.exclusive(WEB, (r) => r.deleteDraft('', '1.0.0'));
      await addVersion(store, '1.0.0', [file(MAIN, 'x')]);
      await publish(store, '1.0.0');
      outside.tag('v2.0.0', outside.commit(outside.tree(outside.file('app.yaml'))));
      const looked = async () => {
        const answers = [];
        for (const other of [store, await reopen(), await reopen()]) {
          await other.exclusive(WEB, async () => undefined);
          answers.push(`${await summary(other)} ${Object.keys(reasons(other))}`);
        }
        expect(new Set(answers).size).to.equal(1);
        return answers[0];
      };
      expect(await looked()).to.equal('1.0.0 Published refs/tags/v2.0.0');
      const commit = outside.commit(outside.tree(outside.file('app.yaml')), 'x', 'Entry-Point: app.yaml');
      outside.tag('v1.9.0', commit);
      expect(await looked()).to.equal('2.0.0 Published,1.9.0 Published,1.0.0 Published ');
      const ref = (await store.versions(WEB)).get('2.0.0') ?? expect.fail();
      expect((await store.details(WEB, ref)).entryPoint).to.equal('app.yaml');
      git('tag', '-d', 'v1.9.0');
      expect(await looked()).to.equal('1.0.0 Published refs/tags/v2.0.0');
      // The watch of one of the stores may be about to follow 2.0.0, and the next one follows back.
      await until(() => git('rev-parse', 'main') === git('rev-parse', 'v1.0.0^{commit}'));
    }));

  it('of a composite need a document that can be read', () =>
    onStore(async ({ store, root }) => {
      const all = { kind: 'composites', name: 'all' } as const;
      await store.create(all, settingsOf(), draftOf('1.0.0', [file('composite.json', EMPTY_COMPOSITE)]));
      const gitdir = join(root, 'composites/all.git');
      const outside = new Outsider({ gitdir } as Workbench);
      const child = { id: newId(), configuration: 'web', version: null, order: 0 };
      const good = JSON.stringify({ entryPoint: MAIN, children: [child] });
      outside.tag('v2.0.0', outside.commit(outside.tree(outside.file('composite.json', good))));
      outside.tag('v3.0.0', outside.commit(outside.tree(outside.file('composite.json', '{"children"'))));
      outside.tag('v4.0.0', outside.commit(outside.tree(outside.file(MAIN))));
      await store.exclusive(all, async () => undefined);
      const { versions } = await store.versions(all);
      expect(versions.map(({ version }) => version)).to.deep.equal(['2.0.0', '1.0.0']);
      expect(reasons(store)['refs/tags/v3.0.0']).to.match(/"composite.json" cannot be used/);
      expect(reasons(store)['refs/tags/v4.0.0']).to.match(/no file at "composite.json"/);
      expect(store.problems()[0]?.repository).to.deep.equal(all);
    }));

  it('are checked anew when the list of what was checked is cut short, spoilt or gone', () =>
    onStore(async (bench) => {
      const { store, reopen, gitdir } = bench;
      const outside = new Outsider(bench);
      await makePublishedWeb(store);
      outside.tag('v2.0.0', outside.commit(outside.tree(outside.file('other.yaml'))));
      const path = join(gitdir, 'hawser-checked');
      for (const length of [10_000, 150, 1, 0]) {
        const other = await reopen();
        expect(await summary(other)).to.deep.equal(['1.0.0 Published']);
        expect(Object.keys(reasons(other))).to.deep.equal(['refs/tags/v2.0.0']);
        await truncate(path, length);
      }
    }));

  it('look the same after gc, repack and pack-refs', () =>
    onStore(async (bench) => {
      const { store, git, reopen } = bench;
      const outside = new Outsider(bench);
      await makePublishedWeb(store);
      outside.tag('v2.0.0', outside.commit(outside.tree(outside.file('other.yaml'))));
      outside.tag('v1.1.0', outside.commit(outside.tree(outside.file(MAIN))));
      git('update-ref', 'refs/heads/draft/1.2.0', outside.commit(outside.tree(outside.file(MAIN))));
      outside.git('', 'tag', 'v1.3.0', 'v1.1.0^{commit}');
      const look = async (other: GitStore) => {
        await other.exclusive(WEB, async () => undefined);
        return [await summary(other), reasons(other)];
      };
      const before = await look(store);
      expect(before[0]).to.deep.equal(['1.2.0 Draft', '1.1.0 Published', '1.0.0 Published']);
      for (const command of ['gc -q', 'repack -q -ad', 'pack-refs --all']) {
        git(...command.split(' '));
        expect(await look(store)).to.deep.equal(before);
        expect(await look(await reopen())).to.deep.equal(before);
      }
    }));
});
