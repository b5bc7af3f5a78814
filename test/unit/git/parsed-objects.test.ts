import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { type ParsedTypes, parseObject } from '../../../src/git/parsed-objects.ts';
import { printCommit } from '../../../src/git/printed-objects.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const [ONE, TWO] = ['1'.repeat(40), '2'.repeat(40)];
const BY = 'Ada <ada@example.org> 1700000000 +0000';

interface Words {
  author?: string;
  encoding?: string | null;
  message?: string;
}

/** The bytes of a commit, of which `write` makes those of what people have written. */
function commitOf(
  { author = BY, encoding = null, message = 'x\n' }: Words,
  write = (text: string): Buffer => Buffer.from(text),
): Buffer {
  const header = encoding === null ? '' : `encoding ${encoding}\n`;
  const people = [Buffer.from('author '), write(author), Buffer.from('\ncommitter '), write(author)];
  return Buffer.concat([
    Buffer.from(`tree ${TREE}\n`),
    ...people,
    Buffer.from(`\n${header}\n`),
    write(message),
  ]);
}

function parse<T extends keyof ParsedTypes>(type: T, content: Buffer | string): ParsedTypes[T] {
  return parseObject({ type, content: Buffer.from(content) }, type) ?? expect.fail(`no ${type}`);
}

describe('a commit that is taken apart', () => {
  const gitdir = temporaryFolder('all tests');
  const git = (args: readonly string[], input: Buffer) =>
    execFileSync('git', ['--git-dir', gitdir(), ...args], { input })
      .toString()
      .trimEnd();
  before(() => execFileSync('git', ['init', '-q', '--bare', gitdir()]));

  /** What git shows of a commit, in UTF-8. */
  const shownByGit = (content: Buffer) => {
    const oid = git(['hash-object', '-w', '--literally', '-t', 'commit', '--stdin'], content);
    const format = '--format=%an|%ae|%ad|%cn|%B';
    return git(['show', '-s', '--encoding=UTF-8', '--date=unix', format, oid], Buffer.alloc(0));
  };
  const shown = (content: Buffer) => {
    const { author, committer, message } = parse('commit', content);
    return [author?.name, author?.email, author?.timestamp, committer?.name, message].join('|').trimEnd();
  };

  const people = [
    ['is plain', BY],
    ['has a zone that is none', 'Ada Author <ada@example.org> 1700000000 +051800'],
    ['has a date beyond all', 'Ada Author <ada@example.org> 18446744073709551616 +0000'],
    ['has no space before the date', 'Ada Author <ada@example.org>1700000000 +0000'],
    ['has no space before the address', 'Ada Author<ada@example.org> 1700000000 +0000'],
    ['has no name', ' <ada@example.org> 1700000000 -0330'],
    ['has a second address', 'Zoë <zoe@example.org> <other> 1700000000 +0000'],
  ] as const;
  for (const [what, author] of people) {
    it(`tells who made it as git does where the line ${what}`, () => {
      const content = commitOf({ author, message: 'subject\n\ntext ü\n' });
      expect(shown(content)).to.equal(shownByGit(content));
    });
  }

  it('has a zone where the line has one, and none otherwise', () => {
    const zoneOf = (zone: string) =>
      parse('commit', commitOf({ author: `Ada <a@x> 1700000000${zone}` })).author?.timezoneOffset;
    for (const [zone, offset] of [
      [' +0000', 0],
      [' -0000', -0],
      [' +0530', -330],
      [' -0330', 210],
      [' +051800', 0],
      [' +0599', 0],
      ['', 0],
    ] as const) {
      expect(zoneOf(zone), zone).to.equal(offset);
      expect(Object.is(zoneOf(zone), offset), zone).to.equal(true);
    }
  });

  it('counts from 1970 where a date cannot hold the moment', () => {
    const timeOf = (time: string) =>
      parse('commit', commitOf({ author: `Ada <a@x> ${time} +0000` })).author?.timestamp;
    for (const time of ['8640000000001', '9223372036854775808', '1'.repeat(400)])
      expect(timeOf(time)).to.equal(0);
    expect(timeOf('8640000000000')).to.equal(8_640_000_000_000);
  });

  it('says nobody where the line is none', () => {
    for (const author of ['Ada', 'Ada ada@x 1700000000 +0000', 'Ada <ada@x 1 +0000', 'Ada <ada@x> soon'])
      expect(parse('commit', commitOf({ author })).author, author).to.equal(null);
    expect(parse('commit', `tree ${TREE}\n\nnobody\n`)).to.include({ author: null, committer: null });
  });

  const encoded = (pairs: Record<string, readonly number[]>) => (text: string) =>
    Buffer.concat([...text].map((sign) => Buffer.from(pairs[sign] ?? [sign.charCodeAt(0)])));
  const shiftJis = encoded({ 日: [0x93, 0xfa], 本: [0x96, 0x7b] });
  const ENCODINGS: [label: string, words: string, write: (text: string) => Buffer][] = [
    ['ISO-8859-1', 'Jörg Größe', (text) => Buffer.from(text, 'latin1')],
    ['latin-1', 'Jörg Größe', (text) => Buffer.from(text, 'latin1')],
    ['ISO-8859-15', 'Preis €', encoded({ '€': [0xa4] })],
    ['windows-1252', 'Preis €', encoded({ '€': [0x80] })],
    ['windows-1251', 'Иван', encoded({ И: [0xc8], в: [0xe2], а: [0xe0], н: [0xed] })],
    ['Shift_JIS', '日本', shiftJis],
    ['SJIS', '日本', shiftJis],
    ['cp932', '日本', shiftJis],
    ['EUC-JP', '日本', encoded({ 日: [0xc6, 0xfc], 本: [0xcb, 0xdc] })],
    ['GB18030', '日本', encoded({ 日: [0xc8, 0xd5], 本: [0xb1, 0xbe] })],
    ['UTF-8', 'Jörg 日本', (text) => Buffer.from(text)],
  ];
  for (const [encoding, words, write] of ENCODINGS) {
    it(`is read in ${encoding} where its header says so`, () => {
      const author = `${words} <ada@example.org> 1700000000 +0100`;
      const message = `${words}\n\nEntry-Point: ${words}.yaml\n`;
      const read = parse('commit', commitOf({ author, encoding, message }, write));
      expect(read.author).to.include({ name: words, email: 'ada@example.org', timestamp: 1_700_000_000 });
      expect(read.committer).to.deep.equal(read.author);
      expect(read.message).to.equal(message);
    });
  }

  it('is decoded before it is taken apart, since bytes of names may look like signs', () => {
    // In ISO-2022-JP the sign is written with the bytes of `<R`.
    const name = Buffer.from('\x1b$B<R\x1b(B', 'latin1');
    const write = (text: string) =>
      Buffer.concat(text.split('社').flatMap((part, at) => [...(at ? [name] : []), Buffer.from(part)]));
    const author = '社 <ada@example.org> 1700000000 +0000';
    const content = commitOf({ author, encoding: 'ISO-2022-JP' }, write);
    expect(parse('commit', content).author).to.include({ name: '社', email: 'ada@example.org' });
  });

  it('is UTF-8 where nobody knows its encoding, and where the headers would be none in it', () => {
    for (const encoding of ['x-nothing-at-all', 'utf-16le', 'UTF-16', '', ' ', 'toString', '__proto__']) {
      const read = parse('commit', commitOf({ author: 'Jörg <j@x> 1 +0000', encoding, message: 'ü\n' }));
      expect([read.author?.name, read.message], encoding).to.deep.equal(['Jörg', 'ü\n']);
    }
    const broken = parse(
      'commit',
      commitOf({ message: 'J\xf6rg\n' }, (text) => Buffer.from(text, 'latin1')),
    );
    expect(broken.message).to.equal('J\ufffdrg\n');
  });

  it('believes no encoding that only its message or its signature names', () => {
    const signed = commitOf({ message: 'ü\n\nencoding Shift_JIS\n' })
      .toString()
      .replace('\n\n', '\ngpgsig -----BEGIN SSH SIGNATURE-----\n encoding Shift_JIS\n\n');
    const read = parse('commit', signed);
    expect(read.message).to.equal('ü\n\nencoding Shift_JIS\n');
    expect(read.gpgsig).to.equal('-----BEGIN SSH SIGNATURE-----\nencoding Shift_JIS');
  });

  it('names no encoding once this server writes it anew', () => {
    const [encoding, words, write] = ENCODINGS[5] ?? expect.fail();
    const read = parse('commit', commitOf({ author: `${words} <a@x> 1 +0000`, encoding }, write));
    const { author, committer } = read;
    if (author === null || committer === null) expect.fail('somebody made it');
    else {
      const text = printCommit({ ...read, author, committer });
      expect(text).to.not.include('encoding');
      expect(shownByGit(Buffer.from(text))).to.include(words);
    }
  });

  it('has the tree and the parents that stand where git looks for them', () => {
    const people = `author ${BY}\ncommitter ${BY}\n`;
    const parents = `parent ${ONE}\nparent ${TWO}\n`;
    expect(parse('commit', `tree ${TREE}\n${parents}${people}parent ${TREE}\n\nx\n`)).to.deep.include({
      tree: TREE,
      parent: [ONE, TWO],
    });
    for (const text of ['', 'x', people, `${people}tree ${TREE}\n`, `tree x\n${people}`, `\n\ntree ${TREE}`])
      expect(parseObject({ type: 'commit', content: Buffer.from(text) }, 'commit'), text).to.equal(null);
    expect(parseObject({ type: 'tag', content: commitOf({}) }, 'commit')).to.equal(null);
  });
});

describe('a tag that is taken apart', () => {
  const headers = `object ${ONE}\ntype commit\ntag v1.0.0\n`;

  it('says what it stands on, who made it, and why', () => {
    const tag = parse('tag', `${headers}tagger Jörg <j@x>1700000000 +051800\n\n\nWhy\r\n\n`);
    expect(tag).to.deep.equal({
      ...{ object: ONE, type: 'commit', tag: 'v1.0.0', message: 'Why\n' },
      tagger: { name: 'Jörg', email: 'j@x', timestamp: 1_700_000_000, timezoneOffset: 0 },
    });
  });

  it('may lack a tagger and a message', () => {
    expect(parse('tag', headers)).to.include({ tagger: null, message: '' });
    expect(parse('tag', `${headers}\nWhy\n`)).to.include({ tagger: null, message: 'Why\n' });
  });

  it('is none without an object, a type or a name', () => {
    for (const text of [
      '',
      `type commit\ntag v1.0.0\n`,
      `object ${ONE}\ntag v1\n`,
      `object ${ONE}\ntype x\ntag v\n`,
    ])
      expect(parseObject({ type: 'tag', content: Buffer.from(text) }, 'tag'), text).to.equal(null);
  });
});
