import { expect } from 'chai';
import fc from 'fast-check';
import {
  checkGitAttributes,
  checkPathSet,
  foldPath,
  normalizePath,
  showText,
} from '../../../src/domain/safe-path.ts';
import { HawserError } from '../../../src/lib/errors.ts';
import { refusalBy } from '../../support/failures.ts';
import { words } from '../../support/words.ts';

function faultOf(work: () => unknown): string | null {
  const refusal = refusalBy(work);
  if (refusal !== null) expect(refusal).to.include({ kind: 'invalid', code: 'invalid_path' });
  return refusal?.message ?? null;
}

const LONGEST = `${`${'x'.repeat(255)}/`.repeat(3)}${'x'.repeat(254)}/y`;

const KEPT: [string, string][] = [
  ['main.dsc.yaml', 'main.dsc.yaml'],
  ['modules/iis.dsc.yaml', 'modules/iis.dsc.yaml'],
  ['modules\\win\\iis.yaml', 'modules/win/iis.yaml'],
  ['m\u0075\u0308ll.yaml', 'm\u00fcll.yaml'],
  ['\u212a.yaml', 'K.yaml'],
  ['.gitignore', '.gitignore'],
  ['.gitattributes', '.gitattributes'],
  ['.github/workflows/x.yml', '.github/workflows/x.yml'],
  ['a.git/b', 'a.git/b'],
  ['git~2', 'git~2'],
  ['...a', '...a'],
  ['a..b', 'a..b'],
  [' leading', ' leading'],
  ['console.txt', 'console.txt'],
  ['com10.txt', 'com10.txt'],
  ['null', 'null'],
  ['a%2fb%22.yaml', 'a%2fb%22.yaml'],
  ['日本語/設定.yaml', '日本語/設定.yaml'],
  ['👩‍💻.txt', '👩‍💻.txt'],
  ['x'.repeat(255), 'x'.repeat(255)],
  [LONGEST, LONGEST],
];

const REFUSED: [string, RegExp][] = [
  ['', /is empty/],
  ['a//b', /empty segment/],
  ['a/', /empty segment/],
  ['a\\', /empty segment/],
  ['/etc/passwd', /absolute/],
  ['\\\\server\\share', /absolute/],
  ['C:\\x', /drive letter/],
  ['c:x', /drive letter/],
  ['a/b:c', /colon/],
  ['.git::$INDEX_ALLOCATION/x', /colon/],
  ['.', /"\." or "\.\."/],
  ['..', /"\." or "\.\."/],
  ['a/./b', /"\." or "\.\."/],
  ['a/../b', /"\." or "\.\."/],
  ['..\\evil', /"\." or "\.\."/],
  ['.\u200c.\u200c', /invisible/],
  ['a/\u200d/b', /invisible/],
  ['a\nb', /control character/],
  ['a\u0000b', /control character/],
  ['a\u007f', /control character/],
  ['a\u0085', /control character/],
  ['.git', /"\.git" segment/],
  ['a/.GiT/config', /"\.git" segment/],
  ['GIT~1/x', /"\.git" segment/],
  ['.g\u200cit/x', /"\.git" segment/],
  ['\ufeff.git', /"\.git" segment/],
  ['.git./x', /dot or a space/],
  ['.git /x', /dot or a space/],
  ['.gitmodules', /\.gitmodules/],
  ['sub/.GITMODULES', /\.gitmodules/],
  ['.gitmodul\u200ces', /\.gitmodules/],
  ['gitmod~1', /\.gitmodules/],
  ['GI7EBA~1', /\.gitmodules/],
  ['gi7eb~10', /\.gitmodules/],
  ['~1234567', /\.gitmodules/],
  ['gitatt~1', /\.gitattributes/],
  ['gi7d29~9', /\.gitattributes/],
  ['.gitattribu\u200ctes', /\.gitattributes/],
  ['CON', /device name/],
  ['dir/nul.txt', /device name/],
  ['Aux.tar.gz', /device name/],
  ['prn', /device name/],
  ['nul .txt', /device name/],
  ['com0', /device name/],
  ['COM9.log', /device name/],
  ['lpt1/x', /device name/],
  ['com\u00b9', /device name/],
  ['LPT\u00b3.x', /device name/],
  ['CONIN$', /device name/],
  ['conout$.txt', /device name/],
  ['a./b', /dot or a space/],
  ['a /b', /dot or a space/],
  ['a.', /dot or a space/],
  ['a\ufffd', /not valid UTF-8/],
  ['a\ud800', /not valid UTF-8/],
  ['x'.repeat(256), /segment longer than 255/],
  ['ü'.repeat(128), /segment longer than 255/],
  [`${LONGEST}y`, /longer than 1024/],
];

describe('normalizePath', () => {
  for (const [raw, stored] of KEPT) {
    it(`keeps ${showText(raw)}`, () => expect(normalizePath(raw)).to.equal(stored));
  }

  for (const [raw, fault] of REFUSED) {
    it(`refuses "${showText(raw)}"`, () => expect(faultOf(() => normalizePath(raw))).to.match(fault));
  }

  it('shows the path escaped and cut', () => {
    expect(faultOf(() => normalizePath('a\n\u001b[31m'))).to.include('"a\\u{a}\\u{1b}[31m"');
    expect(faultOf(() => normalizePath(`\u0000${'y'.repeat(5000)}`))?.length).to.be.below(160);
  });

  it('is idempotent, and its results are safe by every rule that can be stated otherwise', () => {
    const piece = fc.constantFrom('', ' ', ...words('a b.c .. . con .git \\ / : \u0308 u \u200c'));
    const anyPath = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece).map((pieces) => pieces.join('')),
      fc.array(piece).map((pieces) => pieces.join('/')),
    );
    fc.assert(
      fc.property(anyPath, (raw) => {
        if (faultOf(() => normalizePath(raw)) !== null) return true;
        const path = normalizePath(raw);
        const segments = path.split('/');
        return (
          normalizePath(path) === path &&
          !/[\\:]/.test(path) &&
          segments.every((segment) => segment.trimEnd() !== '' && !/^\.{1,2}$|^\.git$/i.test(segment))
        );
      }),
      { numRuns: 3000 },
    );
  });
});

describe('checkPathSet', () => {
  const clashing: [string, string[]][] = [
    ['equal paths', ['a', 'a']],
    ['another case', ['Main.yaml', 'main.YAML']],
    ['another case of a folder', ['Dir/a', 'dir/A']],
    ['sharp s', ['straße', 'STRASSE']],
    ['capital sharp s', ['\u1e9e', 'ß']],
    ['long s', ['\u017f', 's']],
    ['final sigma', ['ΟΔΟΣ', 'οδος']],
    ['both sigmas', ['ας', 'ασ']],
    ['a ligature', ['\ufb01x', 'fix']],
    ['dotted capital I', ['\u0130', 'i\u0307']],
    ['a file as a folder', ['a', 'a/b']],
    ['a file as a folder, later', ['a/b/c', 'x', 'a/b']],
    ['a file as a folder, another case', ['Modules', 'modules/x.yaml']],
  ];
  for (const [what, paths] of clashing) {
    it(`refuses ${what}`, () => expect(faultOf(() => checkPathSet(paths))).to.be.a('string'));
  }

  it('lets apart what is apart', () => {
    expect(faultOf(() => checkPathSet([]))).to.equal(null);
    const apart = ['a', 'b', 'a.b/c', 'a-b', 'Dir/a', 'dir/b', 'ab/c', 'é', 'e'];
    expect(faultOf(() => checkPathSet(apart))).to.equal(null);
  });

  it('folds to a fixed point', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        return foldPath(foldPath(text)) === foldPath(text) && foldPath(text.toUpperCase()) === foldPath(text);
      }),
    );
  });
});

describe('checkGitAttributes', () => {
  const line = (length: number) => Buffer.from(`* text\n${'x'.repeat(length)}\n* text\n`);

  it('refuses a line that git fsck refuses', () => {
    expect(() => checkGitAttributes('sub/.GitAttributes', line(2048))).to.throw(HawserError, /2048/);
    expect(() => checkGitAttributes('.gitattributes', Buffer.alloc(2048, 'x'))).to.throw(HawserError);
  });

  it('takes shorter lines and other files', () => {
    for (const [path, bytes] of [
      ['.gitattributes', line(2047)],
      ['.gitattributes', Buffer.alloc(0)],
      ['x.gitattributes', line(9999)],
    ] as const)
      expect(() => checkGitAttributes(path, bytes), path).to.not.throw();
  });
});
