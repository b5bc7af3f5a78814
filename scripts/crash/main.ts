/**
 * `npm run test:crash -- --rounds N [--seed S] [--minutes M]` plays the rounds of test/endurance/crash.test.ts: N of
 * them, or as many as fit into the time. Exits with 1 at the first loss.
 */

import { parseArgs } from 'node:util';
import { playRounds } from '../../test/support/crash/rounds.ts';
import type { Tally } from '../../test/support/crash/tally.ts';
import { toCount, toTable } from '../support/command-line.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { rounds: text, seed: text, minutes: text } });
const rounds = toCount(values.rounds) ?? 100;
const seed = toCount(values.seed) ?? Math.floor(Math.random() * 2 ** 31);
const minutes = toCount(values.minutes);

function format(tally: Tally, seconds: number): string {
  const kills = [...tally.kills].sort(([, a], [, b]) => b - a);
  const atFailpoints = kills.reduce((sum, [, times]) => sum + times, 0);
  const rows = [
    ['rounds', tally.rounds],
    ['kills at failpoints', atFailpoints],
    ['kills at random times', tally.outside],
    ['failpoints hit, of those seen', `${kills.length} of ${tally.points}`],
    ['deaths that were power cuts', tally.cuts],
    ['changes not flushed at them', tally.atStake],
    ['writes acknowledged', tally.writes],
    ['states compared', tally.checks],
    ['acknowledged writes lost, or visible by halves', 0],
    ['seconds', Math.round(seconds)],
    ['seed', seed],
  ];
  const points = kills.map(([point, times]) => [`\`${point}\``, times]);
  return [...toTable(['', ''], rows), '', ...toTable(['killed', 'times'], points)].join('\n');
}

const start = performance.now();
const elapsed = () => (performance.now() - start) / 1_000;
try {
  const tally = await playRounds({
    rounds,
    seed,
    ...(minutes === null ? {} : { minutes }),
    onProgress: ({ rounds: played }) => process.stderr.write(`${played} rounds, ${elapsed().toFixed(0)} s\n`),
  });
  process.stdout.write(`${format(tally, elapsed())}\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n`);
  process.exit(1);
}
