/**
 * A server works on a PostgreSQL that is killed and started again, frozen and thawed, or ends all connections, and must
 * go on without a start of its own. Then the server is killed in its turn. Whatever was acknowledged is there afterwards,
 * whole, with its audit entry, its refs, and the counts that tell of it.
 */

import { expect } from 'chai';
import { type Outage, OutageLane } from '../support/crash/outages.ts';
import { buildProgram, removePrograms } from '../support/crash/programs.ts';
import { Random } from '../support/crash/random.ts';
import { playRounds } from '../support/crash/rounds.ts';
import { Tally } from '../support/crash/tally.ts';
import { type OwnCluster, ownCluster } from '../support/postgres.ts';

/** Rounds in which the server is killed. */
const ROUNDS = 16;

/** A caller whose commit got no answer waits 5 s for its outcome, so one of two outages is longer. */
const SHORT = 700;
const LONG = 6_500;

const killed = (away: number): Outage => ({
  what: `killed for ${away} ms`,
  away,
  take: ({ cluster }) => cluster.kill(),
  bring: ({ cluster }) => cluster.start(),
});
const frozen = (away: number): Outage => ({
  what: `frozen for ${away} ms`,
  away,
  take: async ({ cluster }) => cluster.freeze(),
  bring: async ({ cluster }) => cluster.thaw(),
});
const disconnected: Outage = {
  what: 'all connections ended',
  away: 0,
  async take({ cluster }) {
    await cluster.query(
      "select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'hawser'",
    );
  },
  bring: async () => undefined,
};

describe('PostgreSQL', function () {
  this.timeout(300_000);
  let own: OwnCluster;

  before(async () => {
    // Nothing here takes away what is in the memory of the machine, so a commit need not wait for the disk.
    own = await ownCluster({ fsync: false });
  });
  after(() => own?.cluster.remove());

  async function play(outages: readonly Outage[]): Promise<void> {
    await buildProgram('server');
    const seed = Math.floor(Math.random() * 2 ** 31);
    const tally = new Tally();
    const lane = new OutageLane(new Random(seed), tally, own, outages);
    let played = 0;
    try {
      await lane.live(outages.length, (round) => {
        played = round;
      });
    } catch (error) {
      const where = `seed ${seed}, ${outages[played - 1]?.what}, left in ${lane.folder}`;
      throw new Error(`${where}: ${(error as Error).message}`, { cause: error });
    } finally {
      removePrograms();
    }
    expect(tally.rounds).to.equal(outages.length);
  }

  it('may be killed and started again under a server, which loses nothing and goes on', () =>
    play([0, SHORT, LONG, 0, SHORT, LONG].map(killed)));

  it('may stand still under a server, which loses nothing and goes on', () =>
    play([SHORT, LONG, LONG, LONG, LONG, LONG].map(frozen)));

  it('may end all connections of a server, which loses nothing and goes on', () =>
    play(Array.from({ length: 6 }, () => disconnected)));

  it('keeps all that a server acknowledged before that was killed, and nothing by halves', async () => {
    const tally = await playRounds({
      rounds: ROUNDS,
      seed: Math.floor(Math.random() * 2 ** 31),
      newDatabase: own.newDatabase,
    });
    expect(tally.rounds).to.equal(ROUNDS);
    // Else the kills hit nothing.
    expect(tally.writes).to.be.at.least(ROUNDS);
    expect(tally.kills.size).to.be.greaterThan(ROUNDS / 4);
  });
});
