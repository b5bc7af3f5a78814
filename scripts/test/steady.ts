/**
 * Runs files of tests again and again beside a load, to find tests that pass only on a quiet machine:
 * `npm run test:steady -- FILE --times 20 --load 8`. Options: `--at-once 4`, `--engine postgres`, `--grep TEXT`.
 *
 * The load is as many processes that compute all the time; runs at once are a load for each other. Prints how often the
 * files passed, and what failed; exits with 1 if anything did.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { atExit, exitOnSignals } from '../support/cleanup.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '20' },
    load: { type: 'string', default: '8' },
    'at-once': { type: 'string', default: '1' },
    engine: { type: 'string', default: 'sqlite' },
    grep: { type: 'string' },
  },
});
const [times, load, atOnce] = [Number(values.times), Number(values.load), Number(values['at-once'])];
if (positionals.length === 0 || !(times >= 1) || !(load >= 0) || !(atOnce >= 1)) {
  console.error(
    'usage: npm run test:steady -- FILE... [--times 20] [--load 8] [--at-once 1] [--engine postgres] [--grep TEXT]',
  );
  process.exit(2);
}

const busy = Array.from({ length: load }, () =>
  spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
);
// Left behind by an end with Ctrl-C, the load would slow down everything that comes after.
exitOnSignals();
const endLoad = atExit(() => {
  for (const child of busy) child.kill('SIGKILL');
});

const program = join(import.meta.dirname, '../test.js');
const words = [...positionals, '--jobs', '1', '--engine', values.engine];
if (values.grep !== undefined) words.push('--grep', values.grep);
let [begun, ended, passed] = [0, 0, 0];

// Each time is a process of its own, because what a module keeps from the time before could hide a fault.
async function runOnce(time: number): Promise<void> {
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  ended += 1;
  if (status === 0) passed += 1;
  else console.log(`run ${time} failed:\n${output}${errors}`);
  console.log(`${passed} of ${ended} runs passed`);
}

async function runOneByOne(): Promise<void> {
  while (begun < times) {
    begun += 1;
    await runOnce(begun);
  }
}

await Promise.all(Array.from({ length: atOnce }, runOneByOne));
endLoad();
process.exitCode = passed === times ? 0 : 1;
