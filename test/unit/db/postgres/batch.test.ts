import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { BatchedRows } from '../../../../src/db/postgres/batch.ts';

describe('look-ups of one turn', () => {
  let asked: string[][];
  let answer: (keys: string[]) => unknown[][];
  let batch: BatchedRows<[text: string]>;

  beforeEach(() => {
    asked = [];
    answer = (keys) => keys.filter((key) => key !== 'nobody').map((key) => [`row of ${key}`, key]);
    batch = new BatchedRows(async (_sql, [keys]) => {
      asked.push(keys as string[]);
      return answer(keys as string[]);
    }, 'select');
  });

  it('share a query, and each gets its own rows', async () => {
    const found = await Promise.all(['a', 'b', 'nobody', 'a'].map((key) => batch.firstOf(key)));
    expect(found).to.deep.equal([['row of a'], ['row of b'], undefined, ['row of a']]);
    expect(asked).to.deep.equal([['a', 'b', 'nobody']]);
  });

  it('get all rows of a key in the order of the query', async () => {
    answer = () => [
      ['first', 'a'],
      ['of another', 'b'],
      ['second', 'a'],
    ];
    expect(await batch.of('a')).to.deep.equal([['first'], ['second']]);
  });

  it('are asked anew in the next turn, because something may have been committed between', async () => {
    const first = batch.of('a');
    await nextTurn();
    const second = batch.of('a');
    await Promise.all([first, second]);
    expect(asked).to.deep.equal([['a'], ['a']]);
  });

  it('take several queries where they are very many', async () => {
    const keys = Array.from({ length: 600 }, (_, at) => `key ${at}`);
    const found = await Promise.all(keys.map((key) => batch.firstOf(key)));
    expect(found.map((row) => row?.[0])).to.deep.equal(keys.map((key) => `row of ${key}`));
    expect(asked.map((each) => each.length)).to.deep.equal([250, 250, 100]);
  });

  it('never ask for a text that PostgreSQL cannot hold, which would fail the others', async () => {
    expect(await Promise.all([batch.of('a\0'), batch.of('b')])).to.deep.equal([[], [['row of b']]]);
    expect(asked).to.deep.equal([['b']]);
  });

  it('share an error, and the next turn asks again', async () => {
    answer = () => {
      throw new Error('away');
    };
    const outcomes = await Promise.allSettled([batch.of('a'), batch.of('b')]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    answer = () => [['back', 'a']];
    expect(await batch.of('a')).to.deep.equal([['back']]);
  });
});
