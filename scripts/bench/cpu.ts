/** CPU time of other processes, to the nanosecond, and which these are. */

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

/** The workers of a server; none of one that answers by itself. Programs that it runs for a moment are not among them. */
export function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const pids = children === '' ? [] : children.split(' ').map(Number);
  return pids.filter((child) => programOf(child) === 'node');
}

/** Null of one that has ended. */
function programOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return null;
  }
}
