import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { type EndOptions, ZipFile } from 'yazl';
import { unpackArchive } from '../../../src/http/archive.ts';
import { type FieldError, HawserError } from '../../../src/lib/errors.ts';
import { itWith } from '../../support/optional-tools.ts';
import { makeZip, UTF8, unixMode, type ZipEntry } from '../../support/zip.ts';

const ZIP64: EndOptions = { forceZip64Format: true, comment: '' };
const LIMITS = { bytes: 100_000, files: 20 };

async function codeOf(archive: Buffer): Promise<string> {
  const outcome = await unpackArchive(archive, LIMITS).catch((error: unknown) => error);
  if (!(outcome instanceof Error)) return 'unpacked';
  if (!(outcome instanceof HawserError)) throw outcome;
  const [fault] = (outcome.data['errors'] ?? []) as FieldError[];
  return fault?.code ?? outcome.code;
}

async function textsOf(archive: Buffer): Promise<Record<string, string>> {
  const { files } = await unpackArchive(archive, LIMITS);
  return Object.fromEntries(files.map((file) => [file.path, file.content.toString()]));
}

async function yazlZip(fill: (zip: ZipFile) => void, options: EndOptions): Promise<Buffer> {
  const zip = new ZipFile();
  fill(zip);
  zip.end(options);
  return buffer(zip.outputStream);
}

describe('unpackArchive: what it takes', () => {
  it('deflated, stored, empty, described behind and folder entries', async () => {
    const archive = makeZip([
      { name: 'dir/', method: 0, attributes: unixMode(0o40755) | 0x10 },
      { name: 'dir/a.yaml', content: 'a'.repeat(500), attributes: unixMode(0o100644) },
      { name: 'b.yaml', content: 'stored', method: 0 },
      { name: 'empty', content: '' },
      { name: 'late', content: 'described behind', descriptor: true },
      { name: 'java/', content: '' },
    ]);
    expect(await textsOf(archive)).to.deep.equal({
      'dir/a.yaml': 'a'.repeat(500),
      'b.yaml': 'stored',
      empty: '',
      late: 'described behind',
    });
  });

  it('the executable bit of the owner, and no other', async () => {
    const archive = makeZip([
      { name: 'run.sh', attributes: unixMode(0o100755) },
      { name: 'mine.sh', attributes: unixMode(0o100700) },
      { name: 'others.sh', attributes: unixMode(0o100655) },
      { name: 'windows.cmd', attributes: 0x20 },
    ]);
    const { files } = await unpackArchive(archive, LIMITS);
    const executable = files.filter((file) => file.executable).map(({ path }) => path);
    expect(executable).to.deep.equal(['run.sh', 'mine.sh']);
  });

  it('names in UTF-8, CP437 and the Unicode path field, and with backslashes', async () => {
    const unicode = Buffer.from('ünï.txt');
    const extra = Buffer.alloc(9 + unicode.length);
    extra.writeUInt16LE(0x7075, 0);
    extra.writeUInt16LE(5 + unicode.length, 2);
    extra.writeUInt8(1, 4);
    extra.writeUInt32LE(crc32('uni.txt'), 5);
    unicode.copy(extra, 9);
    const archive = makeZip([
      { name: 'mu\u0308ll.txt' },
      { name: Buffer.from([0x81, 0x2e, 0x74]), flags: 0 },
      { name: 'uni.txt', flags: 0, extra },
      { name: 'win\\dir\\x.txt', madeBy: 0 },
      { name: 'win\\empty\\', madeBy: 0, attributes: 0x10 },
    ]);
    const paths = Object.keys(await textsOf(archive));
    expect(paths).to.deep.equal(['m\u00fcll.txt', 'ü.t', 'ünï.txt', 'win/dir/x.txt']);
  });

  it('names in UTF-8 without the flag, as Unix and macOS write them, and with a leading dot', async () => {
    const [utf8, latin1] = [Buffer.from('grüße/日本.txt'), Buffer.from('gr\xfc.txt', 'latin1')];
    const nameOf = async (name: Buffer, madeBy: number) =>
      Object.keys(await textsOf(makeZip([{ name, flags: 0, madeBy }])))[0];
    for (const madeBy of [3, 19]) {
      expect(await nameOf(utf8, madeBy)).to.equal('grüße/日本.txt');
      // What is no UTF-8 is CP437.
      expect(await nameOf(latin1, madeBy)).to.equal('grⁿ.txt');
    }
    expect(await nameOf(Buffer.from('grü.txt'), 0)).to.equal('gr├╝.txt');
    expect(Object.keys(await textsOf(makeZip([{ name: './a/b.txt' }, { name: './c.txt' }])))).to.deep.equal([
      'a/b.txt',
      'c.txt',
    ]);
  });

  it('what yazl writes, with zip64 and without known sizes', async () => {
    const archive = await yazlZip((zip) => {
      zip.addBuffer(Buffer.from('one'), 'one.txt', { forceZip64Format: true });
      zip.addReadStream(Readable.from([Buffer.from('two')]), 'two.txt');
      zip.addEmptyDirectory('folder');
    }, ZIP64);
    expect(await textsOf(archive)).to.deep.equal({ 'one.txt': 'one', 'two.txt': 'two' });
  });

  itWith(['python3'], 'what python writes', async () => {
    const script = [
      'import sys, zipfile',
      "z = zipfile.ZipFile(sys.stdout.buffer, 'w', zipfile.ZIP_DEFLATED)",
      "z.writestr('modules/iis.yaml', 'iis'); z.writestr('\\u00fc.txt', 'u'); z.close()",
    ].join('\n');
    const archive = execFileSync('python3', ['-c', script]);
    expect(await textsOf(archive)).to.deep.equal({ 'modules/iis.yaml': 'iis', 'ü.txt': 'u' });
  });

  it('an archive without entries, and one with a comment', async () => {
    expect(await textsOf(makeZip([]))).to.deep.equal({});
    expect(await textsOf(makeZip([{ name: 'a' }], { comment: 'hello' }))).to.deep.equal({ a: '' });
  });

  it('does not keep the archive alive behind a small file', async () => {
    const archive = makeZip([
      { name: 'large', content: randomBytes(50_000), method: 0 },
      { name: 'small', content: 'x', method: 0 },
      { name: 'small2', content: 'x' },
    ]);
    for (const file of (await unpackArchive(archive, LIMITS)).files) {
      expect(file.content.buffer).to.not.equal(archive.buffer);
    }
  });
});

describe('unpackArchive: what it leaves out', () => {
  const LITTER = [
    ...['__MACOSX/._main.dsc.yaml', 'sub/__macosx/x', '.DS_Store', 'sub/.ds_store'],
    ...['Thumbs.db', 'sub/THUMBS.DB', 'desktop.ini', 'sub/Desktop.ini'],
  ];

  it('litter of macOS and Windows, which it names, and no more', async () => {
    const kept = ['a.txt', 'sub/desktop.ini.txt', 'Thumbs.db/inside', 'my.DS_Store'];
    const archive = makeZip([
      { name: '__MACOSX/' },
      ...[...LITTER, ...kept].map((name) => ({ name, content: 'x' })),
      { name: 'win\\Thumbs.db', madeBy: 0 },
    ]);
    const { files, ignored } = await unpackArchive(archive, LIMITS);
    expect(files.map(({ path }) => path)).to.deep.equal(kept);
    expect(ignored).to.deep.equal([...LITTER, 'win/Thumbs.db']);
  });

  it('litter that nobody could unpack, or that alone is more than the limits', async () => {
    const damaged = [
      { name: '__MACOSX/a', content: 'x', crc: 1 },
      { name: '__MACOSX/b', content: 'x', flags: UTF8 | 1 },
      { name: '__MACOSX/../../evil', content: 'x', method: 12 },
      { name: '.DS_Store', content: Buffer.alloc(200_000) },
    ];
    const many = Array.from({ length: 200 }, (_, at) => ({ name: `__MACOSX/${at}` }));
    expect(await textsOf(makeZip([{ name: 'a' }, ...damaged, ...many]))).to.deep.equal({ a: '' });
  });

  it('more names of litter than an answer has room for', async () => {
    const many = Array.from({ length: 1_100 }, (_, at) => ({ name: `${'x'.repeat(2_000)}${at}/.DS_Store` }));
    const { ignored } = await unpackArchive(makeZip([...many, { name: 'Thumbs.db' }]), LIMITS);
    expect(ignored).to.have.length(1_000);
    expect(new Set(ignored.map(({ length }) => length))).to.deep.equal(new Set([1_024]));
  });

  it('the folder that was packed', async () => {
    expect(await textsOf(makeZip([{ name: './' }, { name: './a' }]))).to.deep.equal({ a: '' });
    expect(await codeOf(makeZip([{ name: '.' }]))).to.equal('invalid_path');
    expect(await codeOf(makeZip([{ name: '././' }]))).to.equal('unpacked');
    expect(await codeOf(makeZip([{ name: '../' }]))).to.equal('invalid_path');
  });
});

describe('unpackArchive: invalid_path', () => {
  const entries: Record<string, ZipEntry[]> = {
    'a slip': [{ name: '../evil' }],
    'a slip by backslashes': [{ name: '..\\evil' }],
    'a slip inside': [{ name: 'a/../../evil' }],
    'a slip by a folder': [{ name: '../evil/' }],
    'an absolute name': [{ name: '/etc/passwd' }],
    'an absolute name by a backslash': [{ name: '\\x' }],
    'a drive letter': [{ name: 'C:\\x' }],
    'an empty name': [{ name: '' }],
    'the root folder': [{ name: '/' }],
    'a NUL': [{ name: 'a\0b' }],
    'a control character in CP437': [{ name: Buffer.from('a\nb'), flags: 0 }],
    'bytes that are no UTF-8': [{ name: Buffer.from([0x61, 0xff]) }],
    'a .git folder': [{ name: '.git/hooks/post-checkout' }],
    'a symbolic link': [{ name: 'link', content: '/etc/passwd', attributes: unixMode(0o120777) }],
    'a symbolic link that claims to be from DOS': [
      { name: 'link', content: 'x', attributes: unixMode(0o120777), madeBy: 0 },
    ],
    'a symbolic link named as a folder': [{ name: 'link/', attributes: unixMode(0o120777) }],
    'a named pipe': [{ name: 'pipe', attributes: unixMode(0o010644) }],
    'a device': [{ name: 'device', attributes: unixMode(0o060644) }],
    'a socket': [{ name: 'socket', attributes: unixMode(0o140644) }],
    'a reparse point': [{ name: 'junction', attributes: 0x400, madeBy: 10 }],
    'one name twice': [{ name: 'a' }, { name: 'a' }],
    'one name in two cases': [{ name: 'A' }, { name: 'a' }],
    'one name in two normal forms': [{ name: 'u\u0308' }, { name: '\u00fc' }],
    'a file as a folder': [{ name: 'a' }, { name: 'a/b' }],
  };
  for (const [what, made] of Object.entries(entries)) {
    it(`refuses ${what}`, async () => expect(await codeOf(makeZip(made))).to.equal('invalid_path'));
  }
});

describe('unpackArchive: invalid_archive', () => {
  const good = makeZip([{ name: 'a', content: 'content of a' }]);
  const archives: Record<string, Buffer> = {
    'no bytes': Buffer.alloc(0),
    'no ZIP': Buffer.from('hello'.repeat(100)),
    'a gzip file': Buffer.from('1f8b080000000000', 'hex'),
    'a cut off end': good.subarray(0, good.length - 1),
    'a cut off start': good.subarray(8),
    'a wrong checksum': makeZip([{ name: 'a', content: 'x', crc: 1 }]),
    'a wrong checksum, stored': makeZip([{ name: 'a', content: 'x', crc: 1, method: 0 }]),
    encryption: makeZip([{ name: 'a', content: 'x', flags: UTF8 | 1 }]),
    'strong encryption': makeZip([{ name: 'a', content: 'x', flags: UTF8 | 0x41 }]),
    'a masked directory': makeZip([{ name: 'a', content: 'x', flags: UTF8 | 0x2000 }]),
    bzip2: makeZip([{ name: 'a', content: 'x', method: 12 }]),
    'content in a folder': makeZip([{ name: 'a/', content: 'x' }]),
    'less content than declared': makeZip([{ name: 'a', content: 'x', declaredSize: 2 }]),
    'more content than declared': makeZip([{ name: 'a', content: Buffer.alloc(90_000), declaredSize: 10 }]),
    'content where none is declared': makeZip([{ name: 'a', content: 'x', declaredSize: 0 }]),
    'more entries than counted': makeZip([{ name: 'a' }, { name: 'b' }], { count: 1 }),
    'fewer entries than counted': makeZip([{ name: 'a' }], { count: 2 }),
  };
  for (const [what, archive] of Object.entries(archives)) {
    it(`refuses ${what}`, async () => expect(await codeOf(archive)).to.equal('invalid_archive'));
  }

  it('answers any damage with an error of ours or the true content', async () => {
    const archive = makeZip([
      { name: 'dir/a', content: 'hello hello hello' },
      { name: 'b', content: 'stored', method: 0, descriptor: true },
      { name: 'c\\d', content: 'x'.repeat(300) },
    ]);
    const zip64 = await yazlZip(
      (zip) => zip.addBuffer(Buffer.from('one'), 'one', { forceZip64Format: true }),
      ZIP64,
    );
    const change = fc.tuple(fc.nat(), fc.oneof(fc.constantFrom(0, 1, 0xff), fc.nat(255)));
    const source = fc.constantFrom(archive, zip64);
    const changed = fc.array(change, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(source, changed, async (original, changes) => {
        const damaged = Buffer.from(original);
        for (const [at, value] of changes) damaged.writeUInt8(value, at % damaged.length);
        await codeOf(damaged);
      }),
      { numRuns: 4000 },
    );
  });
});

describe('unpackArchive: limits', () => {
  it('counts the inflated bytes of all files', async () => {
    const half = Buffer.alloc(50_000);
    const two = [
      { name: 'a', content: half },
      { name: 'b', content: half },
    ];
    expect(await codeOf(makeZip(two))).to.equal('unpacked');
    expect(await codeOf(makeZip([...two, { name: 'c', content: 'x' }]))).to.equal('payload_too_large');
  });

  it('stops a bomb that lies about its size, early', async () => {
    const bomb = makeZip([{ name: 'a', content: Buffer.alloc(50_000_000), declaredSize: 1000, crc: 0 }]);
    const before = process.memoryUsage().arrayBuffers;
    expect(await codeOf(bomb)).to.equal('invalid_archive');
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(5_000_000);
  });

  it('counts files, and not the folders among them', async () => {
    const files = Array.from({ length: 20 }, (_, index) => ({ name: `d${index}/f` }));
    const folders = Array.from({ length: 20 }, (_, index) => ({ name: `d${index}/` }));
    expect(await codeOf(makeZip([...folders, ...files]))).to.equal('unpacked');
    expect(await codeOf(makeZip([...files, { name: 'one more' }]))).to.equal('payload_too_large');
  });

  it('looks at the declared count before any work', async () => {
    expect(await codeOf(makeZip([{ name: 'a' }], { count: 60_000 }))).to.equal('payload_too_large');
  });
});
