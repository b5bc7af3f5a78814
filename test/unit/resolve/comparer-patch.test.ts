// full: SQLite
import { expect } from 'chai';
import fc from 'fast-check';
import { Comparer } from '../../../src/resolve/comparer.ts';
import { openComparingThreads } from '../../../src/threads/open.ts';
import { type TestTree, TreeRepository } from '../../support/two-trees.ts';

describe('a patch of two lists of files', () => {
  const threads = openComparingThreads();
  const comparer = new Comparer(threads);
  const repository = new TreeRepository();
  after(async () => {
    repository.close();
    await threads.close();
  });

  /** The patch, once git has applied it in both directions. */
  async function checked(before: TestTree, after: TestTree): Promise<string> {
    repository.put({ before, after });
    const patch = await repository.patch(comparer, 'before', 'after');
    expect(repository.applied('before', patch), patch.toString()).to.equal(repository.treeOf('after'));
    const back = await repository.patch(comparer, 'after', 'before');
    expect(repository.applied('after', back), back.toString()).to.equal(repository.treeOf('before'));
    return patch.toString('latin1');
  }

  const lines = (count: number, text = (at: number) => `line ${at}`) =>
    Array.from({ length: count }, (_, at) => `${text(at)}\n`).join('');

  it('is written as git diff writes it', async () => {
    const changed = (text: string) =>
      text.replace('line 7\n', 'line seven\n').replace('line 20', 'line twenty');
    const patch = await checked(
      {
        'a.txt': lines(30),
        'gone.txt': 'gone\n',
        'empty-gone': '',
        'mode.sh': '#!/bin/sh\n',
        'mode and text.sh': 'one\ntwo\n',
        'no newline': 'one\ntwo',
        'naïve "quoted".txt': 'x\n',
        'headed.c': `int main(void)  \n{\n${lines(12, (at) => ` statement ${at};`)}}\n`,
      },
      {
        'a.txt': changed(lines(30)),
        'new.txt': 'new\n',
        'empty-new': '',
        'mode.sh': { content: '#!/bin/sh\n', executable: true },
        'mode and text.sh': { content: 'one\n2\n', executable: true },
        'no newline': 'one\n2',
        'naïve "quoted".txt': 'y\n',
        'headed.c': `int main(void)  \n{\n${lines(12, (at) => ` statement ${at === 9 ? 'nine' : at};`)}}\n`,
      },
    );
    // The empty file would be taken for a renamed one.
    const stock = repository.git('diff', '--abbrev=7', '--no-renames', 'before', 'after');
    const withoutRename = (text: string) =>
      text.split(/^(?=diff --git )/m).filter((part) => !part.includes('empty'));
    expect(withoutRename(patch)).to.deep.equal(withoutRename(Buffer.from(stock).toString('latin1')));
    expect(patch).to.include('rename from empty-gone\nrename to empty-new\n');
  });

  it('renames files of equal bytes, and changes their mode with it', async () => {
    const patch = await checked(
      { 'old name': 'same\n', 'b.sh': '#!/bin/sh\n', 'kept.txt': 'kept\n' },
      { 'new/name': 'same\n', 'c.sh': { content: '#!/bin/sh\n', executable: true }, 'kept.txt': 'kept\n' },
    );
    const stock = repository.git('diff', '-M100%', 'before', 'after');
    expect(patch).to.equal(stock);
  });

  it('takes folders for files and files for folders', async () => {
    await checked({ a: 'x\n', 'b/c': 'y\n' }, { 'a/d': 'z\n', b: 'w\n' });
    await checked({ a: 'x\n', 'b/c': 'y\n' }, { 'a/b': 'x\n', b: 'y\n' });
  });

  it('holds binary files and bytes that are no UTF-8', async () => {
    const noise = (length: number) => Buffer.from(Array.from({ length }, (_, at) => (at * 7919) % 256));
    const patch = await checked(
      {
        image: noise(1000),
        'old.bin': noise(3),
        latin: Buffer.from('caf\xe9\nau lait\n', 'latin1'),
        dos: 'a\r\nb\r\n',
      },
      {
        image: noise(100_001),
        'new.bin': noise(53),
        latin: Buffer.from('caf\xe9\nnoir\n', 'latin1'),
        dos: 'a\r\nc\r\n',
      },
    );
    expect(patch)
      .to.include('GIT binary patch\nliteral 100001\n')
      .and.to.include(' caf\xe9\n-au lait\n+noir\n');
    expect(patch).to.include(' a\r\n-b\r\n+c\r\n');
  });

  it('holds large texts in full', async () => {
    const minified = (seed: number) => `{"a":"${'0123456789abcdef'.repeat(130_000)}${seed}"}`;
    await checked(
      { 'bundle.json': minified(1), 'long.txt': lines(60_000) },
      { 'bundle.json': minified(2), 'long.txt': `first\n${lines(60_000)}last` },
    );
  });

  it('makes any tree any other one', async () => {
    const name = fc.constantFrom('a', 'b', 'c d', 'é', '"q"', 'tab.txt', '~', 'z/y');
    const path = fc.array(name, { minLength: 1, maxLength: 2 }).map((parts) => `${parts.join('/')}.f`);
    const line = fc.constantFrom('', 'a', 'b', '  indented', 'a\r', '}', '+', '-', '\\ No newline', '\xe9');
    const text = fc
      .tuple(fc.array(line, { maxLength: 25 }), fc.boolean())
      .map(([all, ends]) => Buffer.from(all.join('\n') + (ends && all.length > 0 ? '\n' : ''), 'latin1'));
    const bytes = fc.uint8Array({ maxLength: 200 }).map((all) => Buffer.from(all));
    const content = fc.oneof({ weight: 4, arbitrary: text }, bytes, fc.constant(Buffer.from('same\n')));
    const file = fc.record({ content, executable: fc.boolean() });
    const tree = fc.dictionary(path, file, { maxKeys: 6, noNullPrototype: true });
    await fc.assert(
      fc.asyncProperty(tree, tree, async (before, after) => {
        await checked(before, after);
      }),
      { numRuns: 10 },
    );
  });
});
