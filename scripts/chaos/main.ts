/**
 * `npm run test:chaos -- --rounds N [--seed S] [--servers N]` plays the rounds of test/scenario/chaos.test.ts, N of them,
 * on PostgreSQL, HAProxy and several servers. Exits with 1 at the first fault, with the seed.
 */

import { parseArgs } from 'node:util';
import { SECOND } from '../../src/lib/clock.ts';
import { playChaos } from '../../test/support/chaos/rounds.ts';
import type { ChaosTally } from '../../test/support/chaos/tally.ts';
import { toCount, toTable } from '../support/command-line.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { rounds: text, seed: text, servers: text } });
const rounds = toCount(values.rounds) ?? 20;
const seed = toCount(values.seed) ?? Math.floor(Math.random() * 2 ** 31);
const servers = toCount(values.servers) ?? 3;

function format(tally: ChaosTally, seconds: number): string {
  const rows = [
    ['rounds', tally.rounds],
    ...[...tally.kinds]
      .sort(([, one], [, other]) => other - one)
      .map(([kind, times]) => [`hit: ${kind}`, times]),
    ['servers', servers],
    ['writes acknowledged', tally.writes],
    ['states compared, at each server', tally.checks],
    ['clones checked', tally.clones],
    ['acknowledged writes lost, or visible by halves', 0],
    ['seconds', Math.round(seconds)],
    ['seed', seed],
  ];
  return toTable(['', ''], rows).join('\n');
}

const start = performance.now();
try {
  const tally = await playChaos({
    ...{ rounds, seed, servers, longestFreeze: 60 * SECOND },
    onRound: ({ round, kind, seconds, tally: { writes, checks, clones } }) =>
      console.log(
        `round ${round}, ${kind} hit, ${seconds.toFixed(1)} s: so far ${writes} writes acknowledged, ` +
          `${checks} states compared, ${clones} clones checked`,
      ),
  });
  console.log(`\n${format(tally, (performance.now() - start) / 1_000)}`);
} catch (error) {
  console.error((error as Error).stack);
  process.exitCode = 1;
}
