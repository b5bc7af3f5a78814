/** CPU time of another process, to the nanosecond. */

import { readdirSync, readFileSync } from 'node:fs';

/**
 * Seconds on a CPU so far, user and system, all threads. From /proc/<pid>/task/<tid>/schedstat rather than
 * /proc/<pid>/stat, whose clock ticks of 10 ms are a percent of a round. A thread that ends takes its time with
 * it; Node's threads live as long as the process.
 */
export function cpuSecondsOf(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  const nanoseconds = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ', 1)[0]),
  );
  return nanoseconds.reduce((sum, value) => sum + value, 0) / 1e9;
}
