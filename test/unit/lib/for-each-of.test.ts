import { expect } from 'chai';
import { forEachOf } from '../../../src/lib/for-each-of.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('work on many things', () => {
  it('is done with each of them, and with few at a time', async () => {
    let [underWay, most] = [0, 0];
    const done: number[] = [];
    const items = Array.from({ length: 50 }, (_, at) => at);
    await forEachOf(items, 8, async (item) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await turn();
      underWay -= 1;
      done.push(item);
    });
    expect(most).to.equal(8);
    expect(done.sort((a, b) => a - b)).to.deep.equal(items);
    await forEachOf([], 8, () => expect.fail('there is nothing to do'));
  });

  it('ends with the first failure, once nothing is under way any more', async () => {
    const begun: number[] = [];
    let underWay = 0;
    const failing = forEachOf([0, 1, 2, 3, 4, 5], 2, async (item) => {
      begun.push(item);
      underWay += 1;
      for (let turns = 0; turns < (item === 0 ? 5 : 1); turns += 1) await turn();
      underWay -= 1;
      if (item === 1) throw new Error('no more');
    });
    expect(await failing.catch((error) => error.message)).to.equal('no more');
    expect(begun).to.deep.equal([0, 1]);
    expect(underWay).to.equal(0);
  });
});
