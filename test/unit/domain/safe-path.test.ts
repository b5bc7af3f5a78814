import { expect } from 'chai';
import fc from 'fast-check';
import {
  checkGitAttributes,
  checkPathSet,
  foldPath,
  normalizePath,
  showText,
} from '../../../src/domain/safe-path.ts';
import { normalizeNewPath } from '../../../src/domain/upload-tree.ts';
import { HawserError } from '../../../src/lib/errors.ts';
import { refusalBy } from '../../support/failures.ts';
import { words } from '../../support/words.ts';

function faultOf(work: () => unknown): string | null {
  const refusal = refusalBy(work);
  if (refusal !== null) expect(refusal).to.include({ kind: 'invalid', code: 'invalid_path' });
  return refusal?.message ?? null;
}

const LONGEST = `${`${'x'.repeat(255)}/`.repeat(3)}${'x'.repeat(254)}/y`;

const KEPT: string[] = [
  ...words(
    'main.dsc.yaml modules/iis.dsc.yaml .gitignore .gitattributes .github/workflows/x.yml a.git/b git~2',
  ),
  ...words('...a a..b console.txt com10.txt null a%2fb%22.yaml 日本語/設定.yaml 👩‍💻.txt'),
  ...[' leading', 'x'.repeat(255), LONGEST],
];

const CHANGED: [string, string][] = [
  ['modules\\win\\iis.yaml', 'modules/win/iis.yaml'],
  ['m\u0075\u0308ll.yaml', 'm\u00fcll.yaml'],
  ['\u212a.yaml', 'K.yaml'],
];

const REFUSED: [fault: RegExp, paths: string[]][] = [
  [/is empty/, ['']],
  [/empty segment/, words('a//b a/ a\\')],
  [/absolute/, words('/etc/passwd \\\\server\\share')],
  [/drive letter/, words('C:\\x c:x')],
  [/colon/, words('a/b:c .git::$INDEX_ALLOCATION/x')],
  [/"\." or "\.\."/, words('. .. a/./b a/../b ..\\evil')],
  [/invisible/, words('.\u200c.\u200c a/\u200d/b')],
  [/control character/, ['a\nb', 'a\u0000b', 'a\u007f', 'a\u0085']],
  [/"\.git" segment/, ['.git', 'a/.GiT/config', 'GIT~1/x', '.g\u200cit/x', '\ufeff.git']],
  [/dot or a space/, ['.git./x', '.git /x', 'a./b', 'a /b', 'a.']],
  [
    /\.gitmodules/,
    words('.gitmodules sub/.GITMODULES .gitmodul\u200ces gitmod~1 GI7EBA~1 gi7eb~10 ~1234567'),
  ],
  [/\.gitattributes/, words('gitatt~1 gi7d29~9 .gitattribu\u200ctes')],
  [/device name/, ['nul .txt', ...words('CON dir/nul.txt Aux.tar.gz prn com0 COM9.log lpt1/x')]],
  [/device name/, words('com\u00b9 LPT\u00b3.x CONIN$ conout$.txt')],
  [/not valid UTF-8/, ['a\ufffd', 'a\ud800']],
  [/segment longer than 255/, ['x'.repeat(256), 'ü'.repeat(128)]],
  [/longer than 1024/, [`${LONGEST}y`]],
];

describe('normalizePath', () => {
  for (const path of KEPT) {
    it(`keeps ${showText(path)}`, () => expect(normalizePath(path)).to.equal(path));
  }

  for (const [raw, stored] of CHANGED) {
    it(`makes ${stored} of ${showText(raw)}`, () => expect(normalizePath(raw)).to.equal(stored));
  }

  for (const [fault, paths] of REFUSED)
    for (const path of paths) {
      it(`refuses "${showText(path)}"`, () => expect(faultOf(() => normalizePath(path))).to.match(fault));
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

describe('normalizeNewPath', () => {
  for (const sign of [...'<>"|?*', '\u202a', '\u202e', '\u2066', '\u2069'])
    it(`refuses ${JSON.stringify(sign)}, which Windows cannot check out or which hides a name`, () => {
      for (const path of [`a${sign}b.txt`, `fo${sign}lder/x.txt`]) {
        expect(() => normalizeNewPath(path)).to.throw('which Windows refuses');
        // What was stored before stays.
        expect(normalizePath(path)).to.equal(path);
      }
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
