// full: SQLite
/** Many refs move by one rename of `packed-refs`: stock git, and whoever comes after a fault, sees all of it or none. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AtomicFs } from '../../../src/git/atomic-fs.ts';
import { listLooseRefs } from '../../../src/git/ref-reader.ts';
import { moveRefs, type PeeledMove } from '../../../src/git/refs.ts';
import { createLog } from '../../../src/lib/log.ts';
import { type Errno, FailingDisk } from '../../support/failing-disk.ts';
import { refusalOf } from '../../support/failures.ts';

const PERSON = { NAME: 'Ada', EMAIL: 'ada@example.org', DATE: '1700000000 +0000' };
const people = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((role) =>
    Object.entries(PERSON).map(([part, value]) => [`GIT_${role}_${part}`, value]),
  ),
);

describe('moving many refs at once', () => {
  let root: string;
  let gitdir: string;
  let commits: string[];
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', gitdir, ...args], { env: { ...process.env, ...people }, stdio: 'pipe' })
      .toString()
      .trim();
  const folderOf = (disk?: FailingDisk) => ({ fs: new AtomicFs(disk), log: createLog('silent'), gitdir });
  const refs = () => git('for-each-ref', '--format=%(refname) %(objectname)');
  const nameOf = (at: number) => `refs/heads/draft/Ring/v${at}/1.0.0`;
  const made = (count: number): PeeledMove[] =>
    Array.from({ length: count }, (_, at) => ({
      name: nameOf(at),
      from: null,
      to: commits[0] ?? '',
      peeled: null,
    }));
  /** No lock is left, and no empty folder of a ref that is packed. */
  const expectTidy = () => {
    expect(listLooseRefs(new AtomicFs(), gitdir).filter((name) => name.endsWith('.lock'))).to.deep.equal([]);
    expect(existsSync(join(gitdir, 'packed-refs.lock')), 'packed-refs.lock').to.equal(false);
    expect(git('fsck', '--strict', '--no-dangling')).to.equal('');
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'hawser-refs-'));
    gitdir = join(root, 'a.git');
    execFileSync('git', ['init', '-q', '--bare', gitdir]);
    const tree = git('mktree', '--missing');
    commits = ['one', 'two'].map((message) => git('commit-tree', tree, '-m', message));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('makes, moves and removes them, loose ones too, as stock git reads them', async () => {
    const [one = '', two = ''] = commits;
    git('tag', '-a', 'old', one, '-m', 'old');
    git('tag', '-a', 'v1', one, '-m', 'v1');
    const tag = git('rev-parse', 'refs/tags/v1');
    git('update-ref', '-d', 'refs/tags/v1');
    git('update-ref', nameOf(1), one);
    git('pack-refs', '--all');
    git('update-ref', nameOf(2), one);
    const moves = [
      { name: nameOf(1), from: one, to: two, peeled: null },
      { name: nameOf(2), from: one, to: null, peeled: null },
      { name: nameOf(3), from: null, to: two, peeled: null },
      { name: 'refs/tags/v1', from: null, to: tag, peeled: one },
    ];
    expect(await moveRefs(folderOf(), moves)).to.equal(true);
    expect(refs().split('\n')).to.deep.equal([
      `${nameOf(1)} ${two}`,
      `${nameOf(3)} ${two}`,
      `refs/tags/old ${git('rev-parse', 'refs/tags/old')}`,
      `refs/tags/v1 ${tag}`,
    ]);
    expect(git('rev-parse', 'refs/tags/v1^{commit}')).to.equal(one);
    expect(readFileSync(join(gitdir, 'packed-refs'), 'utf8')).to.include(`${tag} refs/tags/v1\n^${one}\n`);
    expectTidy();
    expect(existsSync(join(gitdir, 'refs/heads/draft/Ring')), 'an empty folder').to.equal(false);
  });

  it('moves none where one of fifty has another value, loose or packed', async () => {
    const [, two = ''] = commits;
    for (const pack of [false, true]) {
      git('update-ref', nameOf(49), two);
      if (pack) git('pack-refs', '--all');
      const before = refs();
      expect(await moveRefs(folderOf(), made(50))).to.equal(false);
      expect(refs()).to.equal(before);
      expectTidy();
    }
  });

  it('waits for a program that holds one of them, and moves them then', async () => {
    const lock = join(gitdir, `${nameOf(7)}.lock`);
    execFileSync('mkdir', ['-p', join(gitdir, 'refs/heads/draft/Ring/v7')]);
    writeFileSync(lock, '');
    const moving = moveRefs(folderOf(), made(20));
    // The last of the other locks is taken while this one is held.
    while (!existsSync(join(gitdir, `${nameOf(15)}.lock`))) await new Promise(setImmediate);
    expect(refs()).to.equal('');
    rmSync(lock);
    expect(await moving).to.equal(true);
    expect(refs().split('\n')).to.have.length(20);
    expectTidy();
  });

  it('refuses a packed-refs in a form that git does not give it, and changes nothing', async () => {
    git('update-ref', 'refs/heads/main', commits[0] ?? '');
    git('pack-refs', '--all');
    const file = join(gitdir, 'packed-refs');
    const text = readFileSync(file, 'utf8').replace(/^#.*\n/, '# pack-refs with: peeled \n');
    writeFileSync(file, text);
    const error = await refusalOf(moveRefs(folderOf(), made(3)));
    expect(error).to.include({ code: 'repository_damaged' });
    expect(readFileSync(file, 'utf8')).to.equal(text);
    expectTidy();
  });

  for (const errno of ['ENOSPC', 'EIO'] as const satisfies Errno[])
    it(`moves all or none where the disk fails at any step with ${errno}`, async () => {
      const [one = ''] = commits;
      git('update-ref', nameOf(1), one);
      const moves = [...made(4).filter(({ name }) => name !== nameOf(1))];
      moves.push({ name: nameOf(1), from: one, to: null, peeled: null });
      const seen = new Set<number>();
      for (let after = 0; ; after += 1) {
        const before = refs();
        const disk = new FailingDisk();
        disk.fail(errno, after, false);
        const outcome = await moveRefs(folderOf(disk), moves).catch(() => 'failed');
        disk.heal();
        const now = refs();
        const count = now === '' ? 0 : now.split('\n').length;
        // All are there, or they are as they were.
        expect(now === before || count === 3, `after ${after} steps: ${now}`).to.equal(true);
        seen.add(count);
        if (outcome === true && disk.failures === 0) break;
        // A lock that cannot be removed is removed later, by the holder of the next lock of the repository.
        for (const name of listLooseRefs(new AtomicFs(), gitdir))
          if (name.endsWith('.lock')) rmSync(join(gitdir, name));
        for (const name of ['packed-refs.lock', 'packed-refs.new'])
          rmSync(join(gitdir, name), { force: true });
        for (const { name } of made(4)) git('update-ref', '-d', name);
        git('update-ref', nameOf(1), one);
      }
      expect([...seen]).to.include.members([1, 3]);
      expectTidy();
    });
});
