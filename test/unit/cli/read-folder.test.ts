import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { Failure } from '../../../src/cli/errors.ts';
import { digestOf } from '../../../src/cli/folder/contents.ts';
import { readFolder } from '../../../src/cli/folder/read-folder.ts';
import { failureOf } from '../../support/failures.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('the folder that becomes a version', () => {
  const folder = temporaryFolder();
  beforeEach(() => write('main.dsc.yaml', '$schema: x\nresources: []\n'));

  function write(path: string | Buffer, content: string | Buffer): void {
    const place = Buffer.concat([Buffer.from(`${folder()}/`), Buffer.from(path as string)]);
    mkdirSync(dirname(place.toString()), { recursive: true });
    writeFileSync(place, content);
  }

  const contents = async () => (await readFolder(folder())).contents;

  /** The message of the refusal. */
  async function refusal(place = folder()): Promise<string> {
    const error = await failureOf(readFolder(place));
    expect(error).to.be.instanceOf(Failure);
    return error.message;
  }

  it('has its files with their bytes and executable bits, ordered by their paths', async () => {
    const bytes = Buffer.from([0, 255, 13, 10]);
    write('b/run.sh', '#!/bin/sh\n');
    write('B.bin', bytes);
    write('b-a/empty', '');
    chmodSync(folder('b/run.sh'), 0o700);
    chmodSync(folder('B.bin'), 0o654);
    const found = await contents();
    const shown = found.map(({ path, executable }) => `${path}${executable ? ' x' : ''}`);
    expect(shown).to.deep.equal(['B.bin', 'b-a/empty', 'b/run.sh x', 'main.dsc.yaml']);
    expect(found[0]?.content).to.deep.equal(bytes);
  });

  it('is another content when a bit, a byte or a name is another', async () => {
    const digests = new Set([digestOf(await contents())]);
    chmodSync(folder('main.dsc.yaml'), 0o755);
    digests.add(digestOf(await contents()));
    write('main.dsc.yaml', 'resources: [ ]\n');
    digests.add(digestOf(await contents()));
    write('other', '');
    digests.add(digestOf(await contents()));
    expect(digests.size).to.equal(4);
  });

  it('may hold a name whose letters are written in two ways, and stores it in one', async () => {
    write('u\u0308ber.txt', 'x');
    expect((await contents()).map(({ path }) => path)).to.include('\u00fcber.txt');
  });

  it('has nothing that macOS or Windows has put there, at any depth, and names it', async () => {
    const litter = [
      ...[
        '__MACOSX/._main.dsc.yaml',
        '.DS_Store',
        'a/.ds_store',
        'a/Thumbs.db',
        'a/b/thumbs.DB',
        'Desktop.ini',
      ],
      ...['a/__macosx/x', 'a/__macosx/deep/y'],
    ];
    const kept = ['.DS_Store.txt', 'a/desktop.ini/kept', 'a/my-desktop.ini', 'main.dsc.yaml'];
    for (const path of [...litter, ...kept]) write(path, '');
    mkdirSync(folder('links'));
    symlinkSync('nowhere', folder('links/.DS_Store'));
    const found = await readFolder(folder());
    expect(found.contents.map(({ path }) => path)).to.deep.equal(kept);
    expect(found.litter).to.deep.equal([
      ...['.DS_Store', 'Desktop.ini', '__MACOSX/', 'a/.ds_store', 'a/Thumbs.db', 'a/__macosx/'],
      ...['a/b/thumbs.DB', 'links/.DS_Store'],
    ]);
  });

  it('may have litter that .hawserignore names, of which nothing is said', async () => {
    for (const path of ['.DS_Store', 'a/.DS_Store', 'a/Thumbs.db']) write(path, '');
    write('.hawserignore', '.DS_Store\n');
    expect((await readFolder(folder())).litter).to.deep.equal(['a/Thumbs.db']);
  });

  const REFUSED: [what: string, make: () => void, says: RegExp][] = [
    ['a link to a file', () => symlinkSync('../main.dsc.yaml', at('x/a')), /"x\/a" is a symbolic link/],
    ['a link to a folder', () => symlinkSync('/etc', at('x/etc')), /"x\/etc" is a symbolic link/],
    ['a link that leads nowhere', () => symlinkSync('nowhere', at('x/b')), /"x\/b" is a symbolic link/],
    ['a named pipe', () => execFileSync('mkfifo', [at('x/pipe')]), /"x\/pipe" is a named pipe/],
    ['a backslash', () => write('x/a\\b', ''), /"x\/a\\b" has a backslash/],
    [
      'a file name that is not UTF-8',
      () => write(Buffer.from('x/\xff.txt', 'latin1'), ''),
      /"x\/\ufffd\.txt" has a name that is not UTF-8/,
    ],
    [
      'a folder name that is not UTF-8',
      () => mkdirSync(Buffer.from(folder('\xe4'), 'latin1')),
      /"\ufffd" has a name that is not UTF-8/,
    ],
    ['a name that Windows keeps for a device', () => write('x/aux.txt', ''), /"x\/aux\.txt"/],
    [
      'names that differ in case alone',
      () => {
        for (const path of ['x/A', 'x/a']) write(path, '');
      },
      /"?x\/[aA]"?.*without regard to case/,
    ],
    ['a control character, which is shown', () => write('x/\u001b[2J', ''), /"x\/\\u\{1b\}\[2J"/],
  ];

  function at(path: string): string {
    mkdirSync(dirname(folder(path)), { recursive: true });
    return folder(path);
  }

  for (const [what, make, says] of REFUSED)
    it(`is refused for ${what}, with its path`, async () => {
      make();
      expect(await refusal())
        .to.match(says)
        .and.match(/^invalid_path: /);
    });

  it('is refused above 1 GiB before a file is read', async () => {
    write('large', '');
    truncateSync(folder('large'), 1024 ** 3);
    const before = process.memoryUsage().arrayBuffers;
    expect(await refusal()).to.equal(
      `${folder()} has more than 1 GiB; .hawserignore can name what does not belong there.`,
    );
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(1024 ** 2);
  });

  it('is refused above 20,000 files', async () => {
    for (let each = 0; each < 20_000; each += 1) writeFileSync(folder(`file-${each}`), '');
    expect(await refusal()).to.match(/ has more than 20000 files or folders; \.hawserignore can name/);
  });

  it('is refused without files, and when it is none', async () => {
    rmSync(folder('main.dsc.yaml'));
    mkdirSync(folder('empty'));
    write('.DS_Store', '');
    expect(await refusal()).to.match(/ has no files for a version\./);
    write('file', '');
    expect(await refusal(folder('file'))).to.equal(`${folder()}/file is no folder.`);
    expect(await refusal(folder('none'))).to.equal(`There is no folder ${folder()}/none.`);
  });
});
