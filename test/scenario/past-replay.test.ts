// everyday: SQLite
import { expect } from 'chai';
import { startHawser } from '../support/hawser.ts';
import { PastMonth } from '../support/past-month.ts';
import { started } from '../support/started.ts';

describe('what twelve nodes ran in a month', () => {
  const hawser = started(startHawser);

  it('is answered for each moment as our own record has it', async () => {
    const month = new PastMonth(hawser, 7);
    await month.play({ nodes: 12, days: 30, deedsPerDay: 4 });
    expect(await month.compare(hawser.admin, 3)).to.be.greaterThan(200);
  });
});
