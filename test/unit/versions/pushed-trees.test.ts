import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { encodeTree, type TreeEntry } from '../../../src/git/tree.ts';
import { HawserError } from '../../../src/lib/errors.ts';
import { PushedTrees } from '../../../src/versions/pushed-trees.ts';
import { treeTasks } from '../../../src/versions/tree-tasks.ts';

const BLOB = 'b'.repeat(40);
const MODES = { file: '100644', folder: '40000', link: '120000' };

/** Trees in memory, each once. */
class Forest {
  /** How often each tree was read, in the order of the first time. */
  readonly reads: string[] = [];
  private readonly contents = new Map<string, Buffer>();

  tree(entries: Record<string, string | null>): string {
    const list = Object.entries(entries).map(
      ([name, oid]): TreeEntry => ({
        mode: oid === null ? MODES.file : oid === 'link' ? MODES.link : MODES.folder,
        name,
        oid: oid === null || oid === 'link' ? BLOB : oid,
      }),
    );
    const content = encodeTree(list);
    const oid = createHash('sha1').update(content).digest('hex');
    this.contents.set(oid, content);
    return oid;
  }

  files(count: number, prefix = 'f'): string {
    return this.tree(Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, null])));
  }

  /** A tree at the end of so many folders. */
  under(depth: number, oid: string): string {
    return depth === 0 ? oid : this.under(depth - 1, this.tree({ d: oid }));
  }

  /** What a push of these uppermost folders is refused with; null where it is not. The first is that of the version. */
  async judge(roots: readonly string[], files = 20_000): Promise<string | null> {
    const trees = new PushedTrees({
      read: (oids) => this.read(oids),
      lookAt: async (batch) => treeTasks.lookAtTrees(batch),
      requireTime: () => undefined,
    });
    const [tree = '', ...others] = roots;
    try {
      await trees.require({ trees: new Set([tree]), files }, others);
      return null;
    } catch (error) {
      if (error instanceof HawserError) return `${error.code}: ${error.message}`;
      throw error;
    }
  }

  private async *read(oids: readonly string[]) {
    for (const oid of oids) {
      this.reads.push(oid);
      const content = this.contents.get(oid);
      if (content === undefined) throw new Error(`there is no tree ${oid}`);
      yield { oid, content };
    }
  }
}

describe('the folders of a push', () => {
  it('are looked at once each, however many commits share one', async () => {
    const forest = new Forest();
    const shared = forest.files(2_000);
    const roots = Array.from({ length: 100 }, (_, at) => forest.tree({ shared, [`n${at}`]: null }));
    expect(await forest.judge(roots)).to.equal(null);
    expect(forest.reads).to.have.length(101).and.to.include(shared);
    expect(new Set(forest.reads).size).to.equal(101);
  });

  it('may have 200,000 entries together, and no more', async () => {
    const forest = new Forest();
    const own = (count: number) => Array.from({ length: count }, (_, at) => forest.files(19_999, `p${at}-`));
    expect(await forest.judge(own(10))).to.equal(null);
    expect(await forest.judge(own(11))).to.match(/^too_complex: .*200000 entries; push fewer commits/);
  });

  it('are counted at each place, also where few trees stand in billions of places', async () => {
    const forest = new Forest();
    let tree = forest.files(10);
    for (let level = 0; level < 12; level += 1)
      tree = forest.tree(Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`d${at}`, tree])));
    expect(await forest.judge([forest.files(1), tree])).to.match(/^too_many_files: /);
    expect(await forest.judge([tree])).to.match(/^payload_too_large: .*HAWSER_UPLOAD_FILES/);
    expect(await forest.judge([forest.files(3), forest.files(9)], 3)).to.equal(null);
    expect(await forest.judge([forest.files(4)], 3)).to.match(/^payload_too_large: /);
  });

  it('are measured from each place where they stand', async () => {
    const forest = new Forest();
    const deep = forest.under(40, forest.tree({ file: null }));
    const long = forest.under(3, forest.tree({ ['x'.repeat(200)]: null }));
    const both = forest.tree({ deep, long });
    expect(await forest.judge([both])).to.equal(null);
    const names = ['a', 'b', 'c', 'e'].map((letter) => letter.repeat(240));
    const below = names.reduce((tree, name) => forest.tree({ [name]: tree }), long);
    expect(await forest.judge([both, forest.under(22, deep)])).to.equal(null);
    expect(await forest.judge([both, forest.under(24, deep)])).to.match(
      /^invalid_path: The path "d\/d\/.*" has more than 64 segments$/,
    );
    expect(await forest.judge([both, below])).to.match(/^invalid_path: .* is longer than 1024 bytes$/);
  });

  it('end where a chain of them is longer than any path may be, though each stands near the top too', async () => {
    const forest = new Forest();
    const chain = [forest.tree({ file: null })];
    for (let at = 0; at < 200; at += 1) chain.push(forest.tree({ d: chain.at(-1) ?? '' }));
    const root = forest.tree(Object.fromEntries(chain.map((oid, at) => [`c${at}`, oid])));
    expect(await forest.judge([root])).to.match(/^invalid_path: .* has more than 64 segments$/);
  });

  it('are refused for what no version may hold, wherever that is', async () => {
    const forest = new Forest();
    const faults: [entries: Record<string, string | null>, said: RegExp][] = [
      [{ link: 'link' }, /"far\/link" is a link or a submodule/],
      [{ 'a:b': null }, /"far\/a:b" has a colon/],
      [{ 'a\\b': null }, /not in the form in which paths are stored/],
      [{ 'e\u0301': null }, /not in the form in which paths are stored/],
      [{ nul: null }, /"far\/nul" .*device name/],
      [{ '.git': forest.files(1) }, /"\.git" segment/],
      [{ readme: null, README: null }, /the same file without regard to case/],
      [{ a: null, A: forest.files(1) }, /a file where the other needs a folder/],
    ];
    for (const [entries, said] of faults) {
      const root = forest.tree({ far: forest.tree(entries), main: null });
      expect(await forest.judge([forest.files(1), root]))
        .to.match(/^invalid_path: /)
        .and.to.match(said);
    }
  });

  it('become one on some disks where they differ in case only, so their files must not clash', async () => {
    const forest = new Forest();
    const twins = (one: Record<string, string | null>, other: Record<string, string | null>) =>
      forest.tree({ Docs: forest.tree(one), docs: forest.tree(other) });
    expect(await forest.judge([twins({ a: null }, { b: null })])).to.equal(null);
    expect(await forest.judge([twins({ a: null }, { A: null })])).to.match(/^invalid_path: .*regard to case/);
    const inner = twins({ in: forest.tree({ a: null }) }, { IN: forest.tree({ A: null }) });
    expect(await forest.judge([forest.files(1), inner])).to.match(/^invalid_path: .*regard to case/);
  });
});
