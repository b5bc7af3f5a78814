/**
 * Measures the processor time of each file of tests: that of the process that runs it, and of the programs that it started
 * and that have ended. Loading the file is in it. PostgreSQL, which all files share, is not.
 */

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Names the file to which each process of the tests appends what its files took. */
export const CPU_TIMES = 'TESTS_CPU_TIMES';

/** Of the clock in /proc, which Linux shows in this unit on all usual processors. */
const TICKS_PER_SECOND = 100;

let before = 0;

/** @returns in seconds; 0 where there is no /proc */
function usedSoFar(): number {
  if (!existsSync('/proc/self/stat')) return 0;
  // The name of the program, which comes before, may contain blanks.
  const [, fields = ''] = readFileSync('/proc/self/stat', 'utf8').split(/\) (?!.*\) )/s);
  // The times in user and system mode, of this process and of its children (proc(5), fields 14 to 17).
  const ticks = fields.split(' ').slice(11, 15).map(Number);
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND;
}

/** What Mocha runs around each file, where several processes run the files. */
export const mochaHooks = {
  afterAll(this: Mocha.Context): void {
    const target = process.env[CPU_TIMES];
    const file = this.test?.parent?.suites[0]?.file;
    if (target === undefined || file === undefined) return;
    const now = usedSoFar();
    const path = relative(`${import.meta.dirname}/../..`, file).replace(/\.js$/, '.ts');
    appendFileSync(target, `${JSON.stringify({ path, seconds: now - before })}\n`);
    before = now;
  },
};

/** What has been measured so far. */
export function readCpuTimes(): { path: string; seconds: number }[] {
  const target = process.env[CPU_TIMES];
  if (target === undefined || !existsSync(target)) return [];
  return readFileSync(target, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
