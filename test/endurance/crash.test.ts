/**
 * Kills the server with SIGKILL while it works, over and over on the same folders, at failpoints and at random
 * times, with and without a power cut, and looks after every start whether it kept its word. The same rounds, any
 * number of them: `npm run test:crash -- --rounds N --seed S`, with the seed that a failure names.
 */

import { expect } from 'chai';
import { playRounds } from '../support/crash/rounds.ts';

const ROUNDS = 40;

describe('a server that is killed', () => {
  it('has all that it acknowledged, whole, and nothing by halves', async function () {
    this.timeout(600_000);
    const tally = await playRounds({ rounds: ROUNDS, seed: Math.floor(Math.random() * 2 ** 31) });
    expect(tally.rounds).to.equal(ROUNDS);
    // Else the kills hit nothing.
    expect(tally.writes).to.be.greaterThan(ROUNDS);
    expect(tally.kills.size).to.be.greaterThan(ROUNDS / 4);
    expect(tally.atStake).to.be.greaterThan(ROUNDS);
  });
});
