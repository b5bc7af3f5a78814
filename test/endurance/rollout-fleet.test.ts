/** Whole fleets of the simulator get new versions ring by ring, from the program as users start it. */

import { expect } from 'chai';
import { readOptions } from '../../scripts/fleet/options.ts';
import type { RolloutReport } from '../../scripts/fleet/rollout.ts';
import { type FleetReport, runFleet } from '../../scripts/fleet/run.ts';
import { openServer } from '../../scripts/fleet/server.ts';

async function simulate(...args: string[]): Promise<FleetReport> {
  const options = readOptions(['--rollout', ...args]);
  const server = await openServer(options);
  try {
    const report = await runFleet(options, server, () => undefined);
    expect(report.measurements.faults).to.deep.equal([]);
    return report;
  } finally {
    await server.close();
  }
}

const statesOf = ({ state, rings }: RolloutReport) => [state, ...rings.map((ring) => ring.state)];

describe('a rollout to a fleet', function () {
  this.timeout(600_000);

  it('halts in the first ring where one in ten of 2,000 breaks, and completes with the version after it', async () => {
    const size = ['--nodes', '2000', '--poll-every', '10', '--rings', '0.05,0.25'];
    const { registered, rollouts } = await simulate(...size, '--breaking', '0.1', '--bake', '2');
    expect(registered).to.equal(2_000);
    const [first, second] = rollouts;
    if (!first || !second) return expect.fail('a version was not rolled out');
    expect(statesOf(first)).to.deep.equal(['Halted', 'Open', 'Waiting', 'Waiting']);
    expect(first.reason).to.match(/^Regressions: \d+, of which the gate of step 1 allows 0\.$/);
    // Only nodes of the first ring have ever had it, and none has it any more.
    expect(first.rings.map(({ broken }) => broken > 0)).to.deep.equal([true, false, false]);
    expect(first.rings.map(({ run }) => run)).to.deep.equal([0, 0, 0]);
    expect(statesOf(second)).to.deep.equal(['Completed', 'Done', 'Done', 'Done']);
    expect(second.rings.map(({ run }) => run)).to.deep.equal([100, 500, 1_400]);
    expect(second.rings.map(({ counts }) => counts.offered)).to.deep.equal([100, 500, 1_400]);
    expect(second.rings.map(({ counts }) => counts.regression)).to.deep.equal([0, 0, 0]);
  });

  it('pauses at its deadline where too many nodes do not come, and where too many report nothing', async () => {
    const size = ['--nodes', '30', '--poll-every', '1', '--rings', '0.5', '--deadline', '15'];
    const absent = await simulate(...size, '--absent', '0.7');
    expect(absent.rollouts.map(statesOf)).to.deep.equal([['Paused', 'Open', 'Waiting']]);
    expect(absent.rollouts[0]?.reason).to.include('had no verdict within 00:00:15: nodes judged: ');
    expect(absent.rollouts[0]?.rings[0]?.counts.absent).to.be.greaterThan(0);
    const silent = await simulate(...size, '--silent', '0.3');
    expect(silent.rollouts.map(statesOf)).to.deep.equal([['Paused', 'Open', 'Waiting']]);
    expect(silent.rollouts[0]?.reason).to.include('share of successes: ');
    expect(silent.rollouts[0]?.rings[0]?.counts.silent).to.be.greaterThan(0);
  });

  it('leaves those that have it with it where it halts with Keep, and counts none that was bad before', async () => {
    const size = ['--nodes', '40', '--poll-every', '1', '--rings', '0.5', '--bake', '2', '--on-halt', 'Keep'];
    const { rollouts } = await simulate(...size, '--bad', '0.2', '--breaking', '0.1');
    const [first, second] = rollouts;
    if (!first || !second) return expect.fail('a version was not rolled out');
    expect(statesOf(first)).to.deep.equal(['Halted', 'Open', 'Waiting']);
    expect(first.rings[0]?.run).to.be.greaterThan(0);
    expect(first.rings[1]?.run).to.equal(0);
    // The first regression halts it, which may be before any node that was bad has come.
    expect(first.rings[0]?.counts.regression).to.be.within(1, first.rings[0]?.broken ?? 0);
    expect(statesOf(second)).to.deep.equal(['Completed', 'Done', 'Done']);
    expect(second.rings.map(({ counts }) => counts.regression)).to.deep.equal([0, 0]);
    expect(second.rings.map(({ counts }) => counts.alreadyBad > 0)).to.include(true);
  });
});
