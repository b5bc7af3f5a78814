/**
 * Rollouts go on although their server is killed around each of their transitions, and come to the same end as if nothing
 * had happened. `ROLLOUT_KILLS=200` kills it more often.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { MINUTE } from '../../src/lib/clock.ts';
import { ServerCluster } from '../support/cluster/cluster.ts';
import { buildProgram, removePrograms } from '../support/crash/programs.ts';
import { Random } from '../support/crash/random.ts';
import { COURSES, type Keeper, play } from '../support/crash/rollouts/courses.ts';
import { RolloutLane } from '../support/crash/rollouts/lane.ts';
import { RingedSite } from '../support/crash/rollouts/site.ts';
import { Tally } from '../support/crash/tally.ts';
import { eventually } from '../support/eventually.ts';
import { startHawser } from '../support/hawser.ts';
import { countEvaluations, WITH_METRICS } from '../support/metric-values.ts';
import { newDatabase } from '../support/postgres.ts';

const KILLS = Number(process.env['ROLLOUT_KILLS'] ?? 10);
/** A clock that is set back further makes the server refuse reports, as too many of a node. */
const BACK = MINUTE / 2;
/** Each lane has a server of its own, which waits for the next look of its leader most of the time. */
const LANES = 2;

/** For courses during which nothing is killed. */
const UNHURT: Keeper = {
  isAuditComplete: true,
  onStep: async () => undefined,
  async onDeath() {
    throw new Error('the server is gone');
  },
};

describe('a rollout', () => {
  it(`survives ${KILLS} kills at its transitions with the same end`, async function () {
    this.timeout(300_000 + KILLS * 20_000);
    await buildProgram('server');
    const seed = Math.floor(Math.random() * 2 ** 31);
    const tally = new Tally();
    const lanes = Array.from(
      { length: LANES },
      (_, at) => new RolloutLane(new Random(seed + at), KILLS, tally),
    );
    const outcomes = await Promise.allSettled(lanes.map((lane) => lane.live()));
    removePrograms();
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') throw new Error(`seed ${seed}: ${outcome.reason.message}`);
    expect([...tally.kills.values()].reduce((sum, each) => sum + each, 0)).to.be.at.least(KILLS);
    expect(tally.checks).to.be.at.least(LANES * COURSES.length);
  });

  it('comes to the same end with two servers on PostgreSQL that are killed in turn', async function () {
    this.timeout(1_200_000);
    const cluster = await ServerCluster.make(await newDatabase(), { servers: 2, settings: WITH_METRICS });
    const keeper = new TurnKeeper(cluster);
    let site: RingedSite | undefined;
    let isOver = false;
    try {
      await cluster.start();
      site = await RingedSite.prepare(cluster.server(1).target);
      keeper.site = site;
      for (const [at, course] of COURSES.entries()) await play(site, `1.${at + 1}.0`, course, keeper);
      expect(keeper.kills).to.be.greaterThan(2);
      isOver = true;
    } finally {
      site?.close();
      await keeper.settled();
      await cluster.close(!isOver);
    }
  });

  it('never opens a step sooner because the clock was set back, and goes on once it is right', async function () {
    this.timeout(120_000);
    const hawser = await startHawser(WITH_METRICS);
    const site = await RingedSite.prepare(hawser.target());
    try {
      await site.start('1.1.0', { onHalt: 'Keep' });
      hawser.clock.advance(-BACK);
      for (let look = 0; look < 3; look += 1) {
        await site.visit();
        const before = await countEvaluations(hawser.target());
        await site.poke();
        await eventually(async () => expect(await countEvaluations(hawser.target())).to.be.above(before));
      }
      const set = await site.read('1.1.0');
      expect(set?.state).to.equal('Running');
      expect(set?.steps.map(({ state }) => state)).to.deep.equal(['Open', 'Waiting', 'Waiting']);
      hawser.clock.advance(BACK);
      // What nodes said meanwhile seems older than what they said before, so it counts once they say it again.
      site.reportAgain();
      const rest = COURSES.find(({ history }) => history.at(-1) === 'Hawser Completed');
      await play(site, '1.1.0', rest ?? expect.fail(), UNHURT);
    } finally {
      site.close();
      await hawser.close();
    }
  });

  it('goes through a ring without nodes at once, whatever its gate asks for', async function () {
    this.timeout(120_000);
    const hawser = await startHawser();
    const site = await RingedSite.prepare(hawser.target());
    const into = (gate: object) => ({ onHalt: 'Keep', steps: [{ ring: 'empty', gate }] });
    const endOf = (version: string) =>
      eventually(async () => {
        await site.poke();
        const view = await site.read(version);
        expect(view?.state).to.not.equal('Running');
        return view ?? expect.fail();
      }, 30_000);
    try {
      await site.addRing('empty');
      await site.start('1.1.0', into({ deadline: '00:00:01' }));
      const { state, history } = await endOf('1.1.0');
      expect(state).to.equal('Completed');
      expect(history.some(({ reason }) => reason?.includes('adds no node'))).to.equal(true);
      await site.start('1.2.0', into({ minNodes: 0, bakeTime: '00:00:00.001' }));
      expect((await endOf('1.2.0')).state).to.equal('Completed');
      await site.visit();
      expect(site.nodes.map(({ held }) => held?.version)).to.deep.equal(['1.2.0', '1.2.0', '1.2.0']);
    } finally {
      site.close();
      await hawser.close();
    }
  });
});

/** Kills one of two servers after the other, each at some moment of the work, and works at the other one meanwhile. */
class TurnKeeper implements Keeper {
  /** What a server had in its memory only is lost, but nothing of the audit trail. */
  readonly isAuditComplete = true;
  site: RingedSite | null = null;
  kills = 0;
  private steps = 0;
  private turn: Promise<void> = Promise.resolve();
  private readonly cluster: ServerCluster;

  constructor(cluster: ServerCluster) {
    this.cluster = cluster;
  }

  async onStep(): Promise<void> {
    this.steps += 1;
    if (this.steps % 10 > 0) return;
    await this.turn;
    this.turn = this.takeTurn();
  }

  async onDeath(): Promise<void> {
    const [living] = this.cluster.living;
    if (living === undefined) throw new Error('no server is left');
    this.site?.use(living.target);
  }

  settled(): Promise<void> {
    return this.turn;
  }

  /** The site works at the server that is killed, so it is cut off in the middle of what it does. */
  private async takeTurn(): Promise<void> {
    const server = this.cluster.server(1 + (this.kills % 2));
    this.kills += 1;
    this.site?.use(server.target);
    await sleep(Math.random() * 1_500);
    await server.kill();
    const before = await this.countEvaluations();
    await server.start();
    // A new leader lets the bake time begin anew, so it must look twice. On a slow machine the next kill would come before.
    await eventually(async () => {
      const isOver = (await this.site?.isUnderWay()) === false;
      expect(isOver || (await this.countEvaluations()) > before + 1).to.equal(true);
    });
  }

  private async countEvaluations(): Promise<number> {
    const counts = await Promise.all(this.cluster.living.map(({ target }) => countEvaluations(target)));
    return counts.reduce((sum, each) => sum + each, 0);
  }
}
