/**
 * Runs files of tests again and again beside a load, to find tests that pass only on a quiet machine:
 * `npm run test:steady -- FILE --times 20 --load 8`. Options: `--engine postgres`, `--grep TEXT`.
 *
 * The load is as many processes that compute all the time. Prints how often the files passed, and what failed; exits with
 * 1 if anything did.
 */

import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { atExit } from '../support/cleanup.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '20' },
    load: { type: 'string', default: '8' },
    engine: { type: 'string', default: 'sqlite' },
    grep: { type: 'string' },
  },
});
const [times, load] = [Number(values.times), Number(values.load)];
if (positionals.length === 0 || !(times >= 1) || !(load >= 0)) {
  console.error(
    'usage: npm run test:steady -- FILE... [--times 20] [--load 8] [--engine postgres] [--grep TEXT]',
  );
  process.exit(2);
}

const busy = Array.from({ length: load }, () =>
  spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
);
const endLoad = atExit(() => {
  for (const child of busy) child.kill('SIGKILL');
});

// Each time is a process of its own, because what a module keeps from the time before could hide a fault.
const program = join(import.meta.dirname, '../test.js');
const words = [...positionals, '--jobs', '1', '--engine', values.engine];
if (values.grep !== undefined) words.push('--grep', values.grep);
let passed = 0;
for (let time = 1; time <= times; time += 1) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], { encoding: 'utf8' });
  if (status === 0) passed += 1;
  else console.log(`run ${time} failed:\n${stdout}${stderr}`);
  console.log(`${passed} of ${time} runs passed`);
}
endLoad();
process.exitCode = passed === times ? 0 : 1;
