import { expect } from 'chai';
import { MinimumRate } from '../../../src/lib/minimum-rate.ts';

/** After which tick it was too little, of what came before each; null: it never was. */
function endOf(bytes: readonly number[]): number | null {
  const rate = new MinimumRate({ window: 30, bytes: 30 * 1024 });
  for (const [at, count] of bytes.entries()) {
    rate.count(count);
    if (rate.tick()) return at + 1;
  }
  return null;
}

const seconds = (count: number, bytes: number) => Array<number>(count).fill(bytes);

describe('a minimum rate', () => {
  it('lets pass what comes just fast enough, for as long as it likes', () => {
    expect(endOf(seconds(300, 1024))).to.equal(null);
    expect(endOf(Array.from({ length: 300 }, (_, at) => (at % 30 === 0 ? 30 * 1024 : 0)))).to.equal(null);
  });

  it('ends what comes a little slower once the first window is over', () => {
    expect(endOf(seconds(300, 1023))).to.equal(30);
    expect(endOf(seconds(300, 0))).to.equal(30);
  });

  it('looks at any window: what came fast before does not count for ever', () => {
    expect(endOf([50_000_000, ...seconds(300, 0)])).to.equal(31);
    expect(endOf([...seconds(100, 2048), ...seconds(300, 10)])).to.equal(116);
  });
});
