// full: PostgreSQL
/**
 * Kills servers, PostgreSQL, or all of them with SIGKILL while clients work, and checks at each server that nothing is lost.
 * The same rounds, any number of them: `npm run test:chaos -- --rounds N --seed S`, with the seed that a failure names.
 */

import { expect } from 'chai';
import { playChaos } from '../support/chaos/rounds.ts';
import { describeOnPostgres } from '../support/engine.ts';

const ROUNDS = 9;
/** Milliseconds. `npm run test:chaos` freezes for up to a minute. */
const LONGEST_FREEZE = 10_000;

describeOnPostgres('three servers and PostgreSQL that are killed', () => {
  it('have all that they acknowledged, whole, and nothing by halves', async function () {
    this.timeout(1_800_000);
    const seed = Math.floor(Math.random() * 2 ** 31);
    const tally = await playChaos({ rounds: ROUNDS, seed, servers: 3, longestFreeze: LONGEST_FREEZE });
    expect(tally.rounds).to.equal(ROUNDS);
    // Else the kills hit nothing.
    expect(tally.writes).to.be.greaterThan(3 * ROUNDS);
    expect(tally.clones).to.be.greaterThan(ROUNDS);
    expect(tally.kinds.size).to.be.greaterThan(1);
  });
});
