import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { ListedFile } from '../../../src/domain/file-changes.ts';
import { sha256Hex } from '../../../src/lib/hash.ts';
import { compareTasks } from '../../../src/resolve/compare-tasks.ts';
import { type ComparedFiles, Comparer, type KeepUntilRead, NO_FILES } from '../../../src/resolve/comparer.ts';
import { openComparingThreads } from '../../../src/threads/open.ts';
import { refusalOf } from '../../support/failures.ts';
import { keptInMemory } from '../../support/two-trees.ts';

const CALLER = { id: 'carol' };
const numbered = (count: number, name = 'line') =>
  Array.from({ length: count }, (_, at) => `${name} ${at}\n`).join('');

describe('comparing lists of files', () => {
  const threads = openComparingThreads();
  let comparer: Comparer;
  let reads: string[];
  beforeEach(() => {
    comparer = new Comparer(threads);
    reads = [];
  });
  after(() => threads.close());

  /** Files that are read from memory. Their ids are not those of Git. */
  function side(contents: Record<string, string | Buffer>): ComparedFiles {
    const bytesOf = ({ path }: ListedFile) => Buffer.from(contents[path] as Buffer);
    const files = Object.entries(contents).map(([path, content]) => {
      return { path, oid: sha256Hex(Buffer.from(content as Buffer)), executable: false };
    });
    return {
      files,
      infos: async (all) =>
        all.map((file) => ({ size: bytesOf(file).length, sha256: sha256Hex(bytesOf(file)) })),
      async read(file) {
        reads.push(file.path);
        return bytesOf(file);
      },
    };
  }

  it('compares in threads that let polls go first', async () => {
    const [old, next] = [side({ a: numbered(5_000) }), side({ a: numbered(5_000, 'other') })];
    await comparer.changes(CALLER, old, next);
    const niceOf = (id: string) =>
      readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ')[1]?.split(' ')[16];
    const niceness = readdirSync('/proc/self/task').map(niceOf);
    expect(niceness).to.include('10');
    expect(niceOf(String(process.pid))).to.equal('0');
  });

  it('counts lines in a thread as it counts them at once', async () => {
    const text = numbered(5_000);
    const before = side({ 'large.txt': text, 'noisy.txt': numbered(400, 'old'), 'small.txt': 'a\nb\n' });
    const fewer = text.replace('line 7\n', '');
    const after = side({ 'large.txt': fewer, 'noisy.txt': numbered(400, 'new'), 'small.txt': 'a\nc\n' });
    const changes = await comparer.changes(CALLER, before, after);
    expect(changes.map(({ path, additions, deletions }) => [path, additions, deletions])).to.deep.equal([
      ['large.txt', 0, 1],
      ['noisy.txt', 400, 400],
      ['small.txt', 1, 1],
    ]);
  });

  it('reads contents once, however often they are compared', async () => {
    const [before, after] = [side({ a: 'one\n' }), side({ a: 'two\n' })];
    const first = await comparer.changes(CALLER, before, after);
    expect(reads).to.deep.equal(['a', 'a']);
    expect(await comparer.changes({ id: 'dave' }, before, after)).to.deep.equal(first);
    expect(reads).to.deep.equal(['a', 'a']);
  });

  it('begins nothing for a caller who has gone', async () => {
    const gone = { id: 'carol', gone: AbortSignal.abort() };
    const refusal = await refusalOf(comparer.changes(gone, NO_FILES, side({ a: 'x\n' })));
    expect(refusal.code).to.equal('client_gone');
    expect(reads).to.deep.equal([]);
  });

  it('reads the files of a patch only as far as the patch is read', async () => {
    const patch = comparer.patch(CALLER, NO_FILES, side({ a: 'x\n', b: 'y\n', c: 'z\n' }), keptInMemory);
    const first = await patch.next();
    expect(String(first.value)).to.include('+++ b/a\n');
    expect(reads).to.deep.equal(['a']);
    await patch.return(undefined);
    expect(reads).to.deep.equal(['a']);
  });

  it('gives a patch in small pieces, and makes no more of it for a caller who has gone', async () => {
    const leaving = new AbortController();
    const sizes: number[] = [];
    const keep: KeepUntilRead = async function* (make) {
      await make(async ({ length }) => {
        sizes.push(length);
        if (sizes.length === 3) leaving.abort();
      });
      yield Buffer.from('whole');
    };
    const after = side({ a: randomBytes(2 * 1024 * 1024), b: 'y\n' });
    const patch = comparer.patch({ id: 'carol', gone: leaving.signal }, NO_FILES, after, keep);
    expect(await refusalOf(patch.next())).to.include({ code: 'client_gone' });
    expect(sizes).to.have.length(3);
    expect(Math.max(...sizes)).to.be.below(512 * 1024);
    // The thread is free for others.
    const whole = comparer.patch({ id: 'dave' }, NO_FILES, after, keep);
    expect(String((await whole.next()).value)).to.equal('whole');
  });

  it('takes everything in the middle for changed where there is no time', () => {
    const compared = {
      before: Buffer.from('first\na\nb\nc\nlast\n'),
      after: Buffer.from('first\nx\nb\ny\nlast\n'),
      bounds: { milliseconds: 0 },
    };
    const counted = compareTasks.countLines(compared);
    expect(counted).to.deep.equal({ isBinary: false, additions: 3, deletions: 3 });
    const head = { path: 'f', previousPath: null, change: 'Modified' } as const;
    const printed = compareTasks.printFileDiff({ ...compared, head, context: 0 });
    const diff = JSON.parse(Buffer.from(printed).toString());
    expect(diff.hunks.map((hunk: { oldStart: number }) => hunk.oldStart)).to.deep.equal([2]);
    expect(diff.hunks[0].lines).to.have.length(6);
  });

  it('knows the limits of a text that is shown', () => {
    const bounds = { milliseconds: 60_000 };
    const additions = (content: string | Buffer) =>
      compareTasks.countLines({ before: null, after: Buffer.from(content as Buffer), bounds }).additions;
    expect(additions('')).to.equal(0);
    expect(additions('x')).to.equal(1);
    expect(additions('\n'.repeat(20_000))).to.equal(20_000);
    expect(additions('\n'.repeat(20_001))).to.equal(null);
    expect(additions('\n'.repeat(20_000).concat('x'))).to.equal(null);
    expect(additions('x'.repeat(1024 * 1024))).to.equal(1);
    expect(additions('x'.repeat(1024 * 1024 + 1))).to.equal(null);
    expect(additions(Buffer.from(`${'x'.repeat(7_999)}\0`))).to.equal(null);
    expect(additions(Buffer.from(`${'x'.repeat(8_000)}\0`))).to.equal(1);
    const large = { before: Buffer.from('x'), after: Buffer.from('\n'.repeat(20_001)), bounds };
    const head = { path: 'f', previousPath: null, change: 'Modified' } as const;
    const diff = compareTasks.printFileDiff({ ...large, head, context: 3 });
    expect(JSON.parse(Buffer.from(diff).toString())).to.deep.include({
      ...{ isBinary: false, isTooLarge: true, hunks: [] },
    });
  });
});
