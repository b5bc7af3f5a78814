// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { checkPreviews } from '../support/checked-previews.ts';
import { startHawser } from '../support/hawser.ts';
import { started } from '../support/started.ts';

describe('previews of random changes to a random site', () => {
  const hawser = started(startHawser);

  it('say of each node what its next poll is answered with, or refuse what the deed refuses', async () => {
    const tally = await checkPreviews(hawser, 20, 19);
    expect(tally.made, 'previews that were made').to.be.above(3);
    expect(tally.changed, 'nodes that changed').to.be.above(0);
    expect(tally.applied, 'change sets that were applied').to.be.above(1);
  });
});
