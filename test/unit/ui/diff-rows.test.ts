import { expect } from 'chai';
import { changedParts, visiblePieces } from '../../../src/ui/components/diff/rows.ts';

const marked = (before: string, after: string) =>
  changedParts(before, after).map((parts) =>
    parts.map(({ text, isMarked }) => (isMarked ? `[${text}]` : text)).join(''),
  );

describe('the changed parts of two lines', () => {
  it('are what lies between the common beginning and the common end', () => {
    expect(marked('port: 80', 'port: 8080')).to.deep.equal(['port: 80', 'port: 80[80]']);
    expect(marked('a: one # x', 'a: two # x')).to.deep.equal(['a: [one] # x', 'a: [two] # x']);
    expect(marked('aa', 'aaa')).to.deep.equal(['aa', 'aa[a]']);
  });

  it('are not marked where the lines share only blanks', () => {
    expect(marked('  one', '  two')).to.deep.equal(['  one', '  two']);
  });

  it('do not split a character that takes two units', () => {
    expect(marked('a \u{1f600}', 'a \u{1f601}')).to.deep.equal(['a [\u{1f600}]', 'a [\u{1f601}]']);
  });
});

describe('characters that cannot be seen', () => {
  it('are shown by their names', () => {
    expect(visiblePieces('a\u202eb\r')).to.deep.equal([
      { text: 'a', name: null },
      { text: 'U+202E', name: 'character U+202E' },
      { text: 'b', name: null },
      { text: 'CR', name: 'carriage return' },
    ]);
    expect(visiblePieces('tab\tand ä')).to.deep.equal([{ text: 'tab\tand ä', name: null }]);
  });
});

describe('encrypted texts', () => {
  const [one, other] = ['ENC[996d7ee07bc7b673,AAAA]', 'ENC[996d7ee07bc7b673,AABA]'];

  it('are shown by dots that say what they are', () => {
    expect(visiblePieces(`pw: "${one}" # x`)).to.deep.equal([
      { text: 'pw: "', name: null },
      { text: '••••••••', name: 'A secret, encrypted by the key 996d7ee07bc7b673' },
      { text: '" # x', name: null },
    ]);
    expect(visiblePieces('ENC[short,AAAA]')).to.deep.equal([{ text: 'ENC[short,AAAA]', name: null }]);
  });

  it('change as a whole', () => {
    expect(marked(`pw: "${one}"`, `pw: "${other}"`)).to.deep.equal([`pw: "[${one}]"`, `pw: "[${other}]"`]);
  });
});
