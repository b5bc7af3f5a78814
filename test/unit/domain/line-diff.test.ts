// full: SQLite
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import fc from 'fast-check';
import { PROJECT } from '../../../scripts/support/project.ts';
import { MAX_CONTEXT, narrowHunks, shownHunks } from '../../../src/domain/file-diff.ts';
import { textPatch } from '../../../src/domain/git-patch.ts';
import { countChanged, type LineChange, lineChanges, wholeMiddle } from '../../../src/domain/line-diff.ts';
import { TextLines } from '../../../src/domain/text-lines.ts';
import { TreeRepository } from '../../support/two-trees.ts';

const LONG = { milliseconds: 60_000 };
const lines = (text: string) => new TextLines(Buffer.from(text));

/** What the changes make of the text. */
function applied(before: TextLines, after: TextLines, changes: readonly LineChange[]): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { oldStart, oldEnd, newStart, newEnd } of changes) {
    for (; at < oldStart; at += 1) pieces.push(before.line(at));
    at = oldEnd;
    for (let next = newStart; next < newEnd; next += 1) pieces.push(after.line(next));
  }
  for (; at < before.count; at += 1) pieces.push(before.line(at));
  return Buffer.concat(pieces);
}

const git = (...args: string[]) =>
  execFileSync('git', ['-C', PROJECT, ...args], { maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'ignore'] });

/** The text files that a commit of this project has modified, and how many lines git counts for each. */
function modifiedFiles(commit: string) {
  const args = ['--no-renames', '--no-abbrev', '--root', '--no-commit-id', '-r', commit];
  const rowsOf = (form: string) =>
    git('diff-tree', form, ...args)
      .toString()
      .trim()
      .split('\n');
  const counts = rowsOf('--numstat');
  return rowsOf('--raw').flatMap((row, at) => {
    const [, , old = '', next = '', kind] = row.split(/[ \t]/);
    const [added = '-', deleted, path] = counts[at]?.split('\t') ?? [];
    if (kind !== 'M' || added === '-') return [];
    return [{ where: `${commit} ${path}`, old, next, stock: Number(added) + Number(deleted) }];
  });
}

/** Blobs by their ids, all from one process of git. */
function contentsOf(oids: readonly string[]): Map<string, Buffer> {
  const input = oids.map((oid) => `${oid}\n`).join('');
  const output = execFileSync('git', ['-C', PROJECT, 'cat-file', '--batch'], { input, maxBuffer: 2 ** 30 });
  const contents = new Map<string, Buffer>();
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at);
    const [oid = '', , size] = output.toString('latin1', at, end).split(' ');
    contents.set(oid, output.subarray(end + 1, end + 1 + Number(size)));
    at = end + 1 + Number(size) + 1;
  }
  return contents;
}

function total(changes: readonly LineChange[]): number {
  const { additions, deletions } = countChanged(changes);
  return additions + deletions;
}

/** Removed and added lines of the shortest difference, by the longest common subsequence. */
function shortest(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const one of a) {
    const next = [0];
    for (const [at, other] of b.entries())
      next.push(one === other ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0));
    row = next;
  }
  return a.length + b.length - 2 * (row.at(-1) ?? 0);
}

describe('the lines in which two texts differ', () => {
  it('make the one text the other, and are as few as possible', () => {
    const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', 'd\r\n', '\n'), { maxLength: 30 });
    const last = fc.constantFrom('', 'a', 'end');
    fc.assert(
      fc.property(text, last, text, last, (one, oneLast, other, otherLast) => {
        const [before, after] = [lines(one.join('') + oneLast), lines(other.join('') + otherLast)];
        const changes = lineChanges(before, after, LONG) ?? [];
        expect(applied(before, after, changes)).to.deep.equal(after.bytes);
        const parts = (all: string[], rest: string) => (rest === '' ? all : [...all, rest]);
        expect(total(changes)).to.equal(shortest(parts(one, oneLast), parts(other, otherLast)));
      }),
    );
  });

  it('are found by anchors where they are very many', () => {
    const random = fc.sample(fc.nat(4_000), { numRuns: 8_000, seed: 7 });
    for (const kinds of [3, 100, 5_000]) {
      const text = (ids: readonly number[]) => lines(ids.map((id) => `${id % kinds}\n`).join(''));
      const [before, after] = [text(random.slice(0, 4_000)), text(random.slice(4_000))];
      const changes = lineChanges(before, after, LONG);
      expect(changes, `${kinds}`).to.not.equal(null);
      expect(applied(before, after, changes ?? []).equals(after.bytes)).to.equal(true);
      expect(total(changes ?? [])).to.be.lessThan(total(wholeMiddle(before, after)));
    }
  });

  it('are the whole middle, or not told, where there is no time to look for them', () => {
    const before = lines('a\nb\nc\nd\ne\n');
    const after = lines('a\nx\nc\ny\ne\n');
    expect(lineChanges(before, after, { milliseconds: 0 })).to.equal(null);
    const [one, other] = [lines('a\nb\nc\n'), lines('c\nb\na\n')];
    expect(lineChanges(one, other, { milliseconds: 60_000, edits: 3 })).to.equal(null);
    expect(lineChanges(one, other, { milliseconds: 60_000, edits: 4 })).to.have.length(2);
    const middle = { oldStart: 1, oldEnd: 4, newStart: 1, newEnd: 4 };
    expect(wholeMiddle(before, after)).to.deep.equal([middle]);
    expect(wholeMiddle(before, before)).to.deep.equal([]);
  });

  it('are those of git, hunk by hunk, with any context', () => {
    const repository = new TreeRepository();
    const unique = (count: number, name: string) =>
      Array.from({ length: count }, (_, at) => `${name} ${at}\n`);
    // Which lines are left out and put in is all that there is to say where no line occurs twice.
    const edits = fc.array(fc.tuple(fc.nat(59), fc.boolean(), fc.nat(3)), { maxLength: 8 });
    try {
      fc.assert(
        fc.property(edits, fc.constantFrom(0, 1, 3, 10, 100), (all, context) => {
          const old = unique(60, 'line');
          const next = [...old];
          for (const [at, isGone, added] of all) {
            const fresh = unique(added, `new at ${at}`).filter((line) => !next.join('').includes(line));
            next[at] = (isGone ? '' : (next[at] ?? '')) + fresh.join('');
          }
          const [before, after] = [lines(old.join('')), lines(next.join(''))];
          repository.put({ before: { f: before.bytes }, after: { f: after.bytes } });
          const stock = repository.git('diff', `-U${context}`, 'before', 'after');
          const heads = [...stock.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm)].map((match) =>
            match.slice(1, 5).map((number) => Number(number ?? 1)),
          );
          const hunks = shownHunks(before, after, lineChanges(before, after, LONG) ?? [], context);
          expect(hunks.map((hunk) => Object.values(hunk).slice(0, 4))).to.deep.equal(heads);
          const signs = { Context: ' ', Added: '+', Removed: '-' };
          const shown = hunks.flatMap((hunk) => hunk.lines.map(({ kind, text }) => signs[kind] + text));
          const body = stock
            .split('\n')
            .filter((line) => /^[ +-]/.test(line) && !/^(\+\+\+|---) /.test(line));
          expect(shown).to.deep.equal(body);
          const kept = shownHunks(before, after, lineChanges(before, after, LONG) ?? [], MAX_CONTEXT);
          expect(narrowHunks(kept, context), 'cut out of those with all context').to.deep.equal(hunks);
        }),
        { numRuns: 40 },
      );
    } finally {
      repository.close();
    }
  });

  it('are no more than those of git in the history of this project', () => {
    const commits = git('rev-list', '--no-merges', '-n', '25', 'HEAD').toString().trim().split('\n');
    const changed = commits.flatMap((commit) => modifiedFiles(commit));
    const texts = contentsOf(changed.flatMap(({ old, next }) => [old, next]));
    let same = 0;
    for (const { where, old, next, stock } of changed) {
      const [before, after] = [old, next].map((oid) => new TextLines(texts.get(oid) ?? Buffer.alloc(0))) as [
        TextLines,
        TextLines,
      ];
      const changes = lineChanges(before, after, LONG) ?? [];
      expect(applied(before, after, changes).equals(after.bytes), where).to.equal(true);
      // Beyond that the shortest difference is not looked for.
      if (stock <= 400) expect(total(changes), where).to.be.at.most(stock);
      if (total(changes) === stock) same += 1;
    }
    // Git itself prefers a longer difference now and then, where it is easier to read.
    expect(same).to.be.at.least(Math.floor(changed.length * 0.9));
  });

  it('are shown with the heading before them, as git does', () => {
    const old = ['first() {', ...Array.from({ length: 20 }, (_, at) => `  ${at}`), '}', ''].join('\n');
    const [before, after] = [lines(old), lines(old.replace('  15', '  x'))];
    const file = { path: 'f', oid: 'a'.repeat(40), executable: false };
    const changed = { path: 'f', previousPath: null, change: 'Modified', before: file, after: file } as const;
    const patch = [...textPatch(changed, before, after, lineChanges(before, after, LONG) ?? [])].join('');
    expect(patch).to.include('\n@@ -14,7 +14,7 @@ first() {\n');
  });
});
