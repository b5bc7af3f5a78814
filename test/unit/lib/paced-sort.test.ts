import { expect } from 'chai';
import fc from 'fast-check';
import { sortInSteps } from '../../../src/lib/paced-sort.ts';

const byKey = (a: { key: number }, b: { key: number }) => a.key - b.key;

describe('sortInSteps', () => {
  it('sorts as Array.sort does, equal items in their order, whatever their number', async () => {
    const keys = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 0, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(keys, fc.integer({ min: 1, max: 400 }), async (some, times) => {
        const all = Array.from({ length: times }, () => some).flat();
        const items = all.map((key, at) => ({ key, at }));
        expect(await sortInSteps(items, byKey)).to.deep.equal([...items].sort(byKey));
      }),
      { numRuns: 30 },
    );
  });
});
