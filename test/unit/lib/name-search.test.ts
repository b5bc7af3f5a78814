import { expect } from 'chai';
import { NameSearch } from '../../../src/lib/name-search.ts';
import { Random } from '../../support/crash/random.ts';

/** The indexes of the names from one to another that have the part. */
function find(names: readonly string[], part: string, from = 0, to = names.length): number[] {
  const starts = new Uint32Array(names.length + 1);
  for (const [at, name] of names.entries()) starts[at + 1] = (starts[at] as number) + name.length + 1;
  const found: number[] = [];
  const bytes = Buffer.from(names.map((name) => `${name}\n`).join(''));
  new NameSearch(Buffer.from(part)).forEach({ bytes, starts }, from, to, (index) => found.push(index));
  return found;
}

describe('a part of many names', () => {
  it('is found where it stands, and in no two names together', () => {
    const names = ['ab', 'ba', 'aab', 'b', 'abab', ''];
    expect(find(names, 'ab')).to.deep.equal([0, 2, 4]);
    expect(find(names, 'b')).to.deep.equal([0, 1, 2, 3, 4]);
    expect(find(names, 'abb')).to.deep.equal([]);
    expect(find(names, 'aab')).to.deep.equal([2]);
    expect(find(names, 'ababa')).to.deep.equal([]);
    expect(find([], 'a')).to.deep.equal([]);
  });

  it('is found as String.includes finds it, in dense and in rare names, and in a stretch of them', () => {
    const random = new Random(7);
    const word = (most: number, letters: string) =>
      Array.from({ length: 1 + random.below(most) }, () => letters[random.below(letters.length)]).join('');
    for (let round = 0; round < 300; round += 1) {
      const letters = round % 2 === 0 ? 'ab' : 'abcdefghij';
      const names = Array.from({ length: 100 }, () => word(12, letters));
      const part = word(4, letters);
      const [from, to] = [random.below(50), 50 + random.below(51)];
      const wanted = names.flatMap((name, at) => (at >= from && at < to && name.includes(part) ? [at] : []));
      expect(find(names, part, from, to), `${part} in ${names}`).to.deep.equal(wanted);
    }
  });
});
