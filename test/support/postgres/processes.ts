/** Finds, stops and kills the processes of a PostgreSQL cluster. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE = 10;

/** The postmaster and the processes that it has started; empty where no server runs on the folder. */
export function processesOf(folder: string): number[] {
  const postmaster = postmasterOf(folder);
  if (postmaster === null) return [];
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statusOf(pid)?.parent === postmaster);
  return [postmaster, ...children];
}

/** Kills the server of the folder at once, so that nothing is written or answered any more. */
export async function killProcesses(folder: string): Promise<void> {
  const [postmaster] = processesOf(folder);
  if (postmaster === undefined) return;
  // It must not start another process between the look and the kill.
  send(postmaster, 'SIGSTOP');
  const pids = processesOf(folder);
  for (const pid of pids) send(pid, 'SIGKILL');
  while (pids.some(isRunning)) await sleep(PAUSE);
  // A new server takes the old one for running until this process has asked for its exit code.
  while (statusOf(postmaster)?.parent === process.pid) await sleep(PAUSE);
}

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A process that has ended counts as gone even if nobody has asked for its exit code yet. */
export function isRunning(pid: number): boolean {
  const status = statusOf(pid);
  return status !== null && status.state !== 'Z' && status.state !== 'X';
}

/** The number of a process, with the time of its start, because numbers are used again. */
export function nameOfProcess(pid: number): string {
  return `${pid}-${statusOf(pid)?.startedAt ?? 'gone'}`;
}

/** A killed server leaves its file, so the number in it may be that of another program by now. */
function postmasterOf(folder: string): number | null {
  const file = join(folder, 'postmaster.pid');
  if (!existsSync(file)) return null;
  const pid = Number(readFileSync(file, 'utf8').split('\n', 1)[0]);
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(folder) ? pid : null;
  } catch {
    return null;
  }
}

function statusOf(pid: number): { state: string; parent: number; startedAt: string } | null {
  try {
    // The second field is the program's name in parentheses. It may hold blanks.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return { state: fields[0] ?? '', parent: Number(fields[1]), startedAt: fields[19] ?? '' };
  } catch {
    return null;
  }
}
