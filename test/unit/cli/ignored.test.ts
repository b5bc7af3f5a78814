import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { readFolder } from '../../../src/cli/folder/read-folder.ts';
import { failureOf } from '../../support/failures.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { words } from '../../support/words.ts';

const FILES = words('a.log a.tmp keep.log out/b.log out/deep/c.txt src/out/d.txt src/main.yaml #x');

/** What stays out of `FILES` by these patterns. */
const CASES: [says: string, patterns: string, out: string][] = [
  ['nothing without a pattern', '\n   \n# a.log\n', ''],
  ['a name at every depth', '*.log', 'a.log keep.log out/b.log'],
  ['a name at the top alone', '/*.log', 'a.log keep.log'],
  ['all but what is taken back', '*.log\n!keep.log', 'a.log out/b.log'],
  ['what is named after it was taken back', '!a.log\n*.log\n!keep.log\n!out/b.log', 'a.log'],
  ['a folder at every depth', 'out/', 'out/b.log out/deep/c.txt src/out/d.txt'],
  ['a folder of the top', '/out', 'out/b.log out/deep/c.txt'],
  ['a file in a folder that stays out', 'out/\n!out/b.log', 'out/b.log out/deep/c.txt src/out/d.txt'],
  ['what is in a folder but one', '/out/*\n!/out/b.log', 'out/deep/c.txt'],
  ['no file where a folder is named', 'a.log/\nmain.yaml/', ''],
  ['any number of folders', 'src/**/d.txt\n**/deep', 'out/deep/c.txt src/out/d.txt'],
  ['a set of characters', 'a.[lt]*', 'a.log a.tmp'],
  ['a name that begins with #', '\\#x', '#x'],
  ['a name with the case that it has', 'A.LOG\nOut', ''],
  ['lines that end as on Windows', 'a.log\r\nout\r\n', 'a.log out/b.log out/deep/c.txt src/out/d.txt'],
];

describe('what .hawserignore keeps out of a version', () => {
  const folder = temporaryFolder();
  beforeEach(() => {
    for (const file of FILES) write(file, file);
  });

  function write(path: string, content: string): void {
    mkdirSync(dirname(folder(path)), { recursive: true });
    writeFileSync(folder(path), content);
  }

  const kept = async () => (await readFolder(folder())).contents.map(({ path }) => path);

  /** What stock git leaves, given the same patterns. */
  function keptByGit(): string[] {
    const args = ['ls-files', '-z', '--others', '--exclude-from=.hawserignore', '--exclude=/.hawserignore'];
    execFileSync('git', ['init', '-q', folder()]);
    const listed = execFileSync('git', ['-C', folder(), ...args], { encoding: 'utf8' });
    return listed.split('\0').filter((path) => path !== '');
  }

  for (const [says, patterns, out] of CASES)
    it(`is ${says}, as git has it`, async () => {
      write('.hawserignore', patterns);
      const expected = FILES.filter((file) => !words(out).includes(file)).sort();
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
    symlinkSync('/etc', folder('link'));
    write('NUL', 'x');
    expect(await kept()).to.deep.equal([...FILES].sort());
  });

  it('is nothing that a link could name', async () => {
    symlinkSync('a.log', folder('.hawserignore'));
    const { message } = await failureOf(readFolder(folder()));
    expect(message).to.equal(`${folder('.hawserignore')} is no regular file.`);
  });
});
