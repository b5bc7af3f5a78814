// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { startHawser } from '../support/hawser.ts';
import { PastMonth } from '../support/past-month.ts';
import { started } from '../support/started.ts';

describe('what 300 nodes ran in a month', () => {
  const hawser = started(startHawser);

  it('is answered for each moment as our own record has it', async () => {
    const month = new PastMonth(hawser, 20_261_201);
    await month.play({ nodes: 300, days: 30, deedsPerDay: 30 });
    expect(await month.compare(hawser.admin, 20)).to.be.greaterThan(5_000);
  }).timeout(300_000);
});
