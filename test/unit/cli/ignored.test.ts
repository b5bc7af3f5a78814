import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { readFolder } from '../../../src/cli/folder/read-folder.ts';

const FILES = [
  'a.log',
  'a.tmp',
  'keep.log',
  'out/b.log',
  'out/deep/c.txt',
  'src/out/d.txt',
  'src/main.yaml',
  '#x',
];

/** What stays out of `FILES` by these patterns. */
const CASES: { says: string; patterns: string; out: string[] }[] = [
  { says: 'nothing without a pattern', patterns: '\n   \n# a.log\n', out: [] },
  { says: 'a name at every depth', patterns: '*.log', out: ['a.log', 'keep.log', 'out/b.log'] },
  { says: 'a name at the top alone', patterns: '/*.log', out: ['a.log', 'keep.log'] },
  { says: 'all but what is taken back', patterns: '*.log\n!keep.log', out: ['a.log', 'out/b.log'] },
  {
    says: 'what is named after it was taken back',
    patterns: '!a.log\n*.log\n!keep.log\n!out/b.log',
    out: ['a.log'],
  },
  {
    says: 'a folder at every depth',
    patterns: 'out/',
    out: ['out/b.log', 'out/deep/c.txt', 'src/out/d.txt'],
  },
  { says: 'a folder of the top', patterns: '/out', out: ['out/b.log', 'out/deep/c.txt'] },
  {
    says: 'a file in a folder that stays out',
    patterns: 'out/\n!out/b.log',
    out: ['out/b.log', 'out/deep/c.txt', 'src/out/d.txt'],
  },
  { says: 'what is in a folder but one', patterns: '/out/*\n!/out/b.log', out: ['out/deep/c.txt'] },
  { says: 'no file where a folder is named', patterns: 'a.log/\nmain.yaml/', out: [] },
  {
    says: 'any number of folders',
    patterns: 'src/**/d.txt\n**/deep',
    out: ['out/deep/c.txt', 'src/out/d.txt'],
  },
  { says: 'a set of characters', patterns: 'a.[lt]*', out: ['a.log', 'a.tmp'] },
  { says: 'a name that begins with #', patterns: '\\#x', out: ['#x'] },
  { says: 'a name with the case that it has', patterns: 'A.LOG\nOut', out: [] },
  {
    says: 'lines that end as on Windows',
    patterns: 'a.log\r\nout\r\n',
    out: ['a.log', 'out/b.log', 'out/deep/c.txt', 'src/out/d.txt'],
  },
];

describe('what .hawserignore keeps out of a version', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ignored-'));
    for (const file of FILES) write(file, file);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function write(path: string, content: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }

  const kept = async () => (await readFolder(folder)).map(({ path }) => path);

  /** What stock git leaves, given the same patterns. */
  function keptByGit(): string[] {
    const words = ['ls-files', '-z', '--others', '--exclude-from=.hawserignore', '--exclude=/.hawserignore'];
    execFileSync('git', ['init', '-q', folder]);
    const listed = execFileSync('git', ['-C', folder, ...words], { encoding: 'utf8' });
    return listed.split('\0').filter((path) => path !== '');
  }

  for (const { says, patterns, out } of CASES)
    it(`is ${says}, as git has it`, async () => {
      write('.hawserignore', patterns);
      const expected = FILES.filter((file) => !out.includes(file)).sort();
      expect(await kept()).to.deep.equal(expected);
      if (!patterns.includes('\r')) expect(keptByGit().sort()).to.deep.equal(expected);
    });

  it('is the file itself and .git always, at every depth, whatever it says', async () => {
    write('.hawserignore', '\ufeffa.log\n!.git\n!.hawserignore\n');
    write('.git/config', 'x');
    write('src/.git', 'gitdir: elsewhere\n');
    write('.gitignore', 'src\n');
    const expected = [...FILES.filter((file) => file !== 'a.log'), '.gitignore'].sort();
    expect(await kept()).to.deep.equal(expected);
  });

  it('is a link too, and a name that could not be sent', async () => {
    write('.hawserignore', 'link\nNUL\n');
    symlinkSync('/etc', join(folder, 'link'));
    write('NUL', 'x');
    expect(await kept()).to.deep.equal([...FILES].sort());
  });

  it('is nothing that a link could name', async () => {
    symlinkSync('a.log', join(folder, '.hawserignore'));
    const error = await readFolder(folder).catch((reason: Error) => reason);
    expect((error as Error).message).to.equal(`${join(folder, '.hawserignore')} is no regular file.`);
  });
});
