import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { Failure } from '../../../src/cli/errors.ts';
import { digestOf } from '../../../src/cli/folder/contents.ts';
import { readFolder } from '../../../src/cli/folder/read-folder.ts';

describe('the folder that becomes a version', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'folder-'));
    write('main.dsc.yaml', 'resources: []\n');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function write(path: string | Buffer, content: string | Buffer): void {
    const place = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path as string)]);
    mkdirSync(dirname(place.toString()), { recursive: true });
    writeFileSync(place, content);
  }

  /** The message of the refusal. */
  async function refusal(place = folder): Promise<string> {
    const error = await readFolder(place).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Failure);
    return (error as Failure).message;
  }

  it('has its files with their bytes and executable bits, ordered by their paths', async () => {
    const bytes = Buffer.from([0, 255, 13, 10]);
    write('b/run.sh', '#!/bin/sh\n');
    write('B.bin', bytes);
    write('b-a/empty', '');
    chmodSync(join(folder, 'b/run.sh'), 0o700);
    chmodSync(join(folder, 'B.bin'), 0o654);
    const found = await readFolder(folder);
    expect(found.map(({ path, executable }) => [path, executable])).to.deep.equal([
      ...[
        ['B.bin', false],
        ['b-a/empty', false],
      ],
      ...[
        ['b/run.sh', true],
        ['main.dsc.yaml', false],
      ],
    ]);
    expect(found[0]?.content).to.deep.equal(bytes);
  });

  it('is another content when a bit, a byte or a name is another', async () => {
    const digests = new Set([digestOf(await readFolder(folder))]);
    chmodSync(join(folder, 'main.dsc.yaml'), 0o755);
    digests.add(digestOf(await readFolder(folder)));
    write('main.dsc.yaml', 'resources: [ ]\n');
    digests.add(digestOf(await readFolder(folder)));
    write('other', '');
    digests.add(digestOf(await readFolder(folder)));
    expect(digests.size).to.equal(4);
  });

  it('may hold a name whose letters are written in two ways, and stores it in one', async () => {
    write('u\u0308ber.txt', 'x');
    expect((await readFolder(folder)).map(({ path }) => path)).to.include('\u00fcber.txt');
  });

  const REFUSED: { what: string; make: () => void; says: RegExp }[] = [
    {
      what: 'a link to a file',
      make: () => symlinkSync('../main.dsc.yaml', at('x/link')),
      says: /"x\/link" is a symbolic link/,
    },
    {
      what: 'a link to a folder',
      make: () => symlinkSync('/etc', at('x/etc')),
      says: /"x\/etc" is a symbolic link/,
    },
    {
      what: 'a link that leads nowhere',
      make: () => symlinkSync('nowhere', at('x/gone')),
      says: /"x\/gone" is a symbolic link/,
    },
    {
      what: 'a named pipe',
      make: () => execFileSync('mkfifo', [at('x/pipe')]),
      says: /"x\/pipe" is a named pipe/,
    },
    { what: 'a backslash', make: () => write('x/a\\b', ''), says: /"x\/a\\b" has a backslash/ },
    {
      what: 'a file name that is not UTF-8',
      make: () => write(Buffer.from('x/\xff.txt', 'latin1'), ''),
      says: /"x\/\ufffd\.txt" has a name that is not UTF-8/,
    },
    {
      what: 'a folder name that is not UTF-8',
      make: () => mkdirSync(Buffer.from(`${folder}/\xe4`, 'latin1')),
      says: /"\ufffd" has a name that is not UTF-8/,
    },
    {
      what: 'a name that Windows keeps for a device',
      make: () => write('x/aux.txt', ''),
      says: /"x\/aux\.txt"/,
    },
    {
      what: 'names that differ in case alone',
      make: () => {
        write('x/A', '');
        write('x/a', '');
      },
      says: /"?x\/[aA]"?.*without regard to case/,
    },
    {
      what: 'a control character, which is shown by its number',
      make: () => write('x/\u001b[2J', ''),
      says: /"x\/\\u\{1b\}\[2J"/,
    },
  ];

  function at(path: string): string {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    return join(folder, path);
  }

  for (const { what, make, says } of REFUSED)
    it(`is refused for ${what}, with its path`, async () => {
      make();
      expect(await refusal())
        .to.match(says)
        .and.match(/^invalid_path: /);
    });

  it('is refused above 1 GiB before a file is read', async () => {
    write('large', '');
    truncateSync(join(folder, 'large'), 1024 ** 3);
    const before = process.memoryUsage().arrayBuffers;
    expect(await refusal()).to.equal(
      `${folder} has more than 1 GiB; .hawserignore can name what does not belong there.`,
    );
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(1024 ** 2);
  });

  it('is refused above 20,000 files', async () => {
    for (let each = 0; each < 20_000; each += 1) writeFileSync(join(folder, `file-${each}`), '');
    expect(await refusal()).to.match(/ has more than 20000 files or folders; \.hawserignore can name/);
  });

  it('is refused without files, and when it is none', async () => {
    rmSync(join(folder, 'main.dsc.yaml'));
    mkdirSync(join(folder, 'empty'));
    expect(await refusal()).to.match(/ has no files for a version\./);
    write('file', '');
    expect(await refusal(join(folder, 'file'))).to.equal(`${folder}/file is no folder.`);
    expect(await refusal(join(folder, 'none'))).to.equal(`There is no folder ${folder}/none.`);
  });
});
