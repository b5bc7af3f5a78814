/** Reads the CPU time of other processes, in nanoseconds. */

import { readdirSync, readFileSync } from 'node:fs';

/**
 * @returns the seconds that the process has spent on a CPU so far: user and system time of all threads. They are read
 *   from /proc/<pid>/task/<tid>/schedstat and not from /proc/<pid>/stat, whose clock ticks of 10 ms are a percent of
 *   a round. The time of a thread is lost when it ends; Node's threads live as long as the process.
 */
export function cpuSecondsOf(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  const nanoseconds = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ', 1)[0]),
  );
  return nanoseconds.reduce((sum, value) => sum + value, 0) / 1e9;
}
