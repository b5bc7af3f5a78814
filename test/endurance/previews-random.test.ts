import { expect } from 'chai';
import { checkPreviews } from '../support/checked-previews.ts';
import { type Hawser, startHawser } from '../support/hawser.ts';

const SEEDS = process.env['SEED'] ? [Number(process.env['SEED'])] : [1, 2, 3, 4];

for (const seed of SEEDS)
  describe(`many previews of random changes, seed ${seed}`, function () {
    this.timeout(1_200_000);
    let hawser: Hawser;
    before(async () => {
      hawser = await startHawser();
    });
    after(() => hawser.close());

    it('say of each node what its next poll is answered with, or refuse what the deed refuses', async () => {
      const tally = await checkPreviews(hawser, 60, seed);
      expect(tally.made, 'previews that were made').to.be.above(10);
      expect(tally.changed, 'nodes that changed').to.be.above(0);
      expect(tally.refused, 'previews that were refused').to.be.above(0);
      expect(tally.takenBack, 'change sets that were taken back').to.be.above(0);
    });
  });

describe('previews of random changes for 300 nodes', function () {
  this.timeout(1_200_000);
  let hawser: Hawser;
  before(async () => {
    hawser = await startHawser();
  });
  after(() => hawser.close());

  it('say of each what its next poll is answered with, and change sets that are taken back leave each as it was', async () => {
    const tally = await checkPreviews(hawser, 30, 7, 300);
    expect(tally.applied, 'change sets that were applied').to.be.above(3);
    expect(tally.takenBack, 'of these taken back').to.be.above(1);
  });
});
