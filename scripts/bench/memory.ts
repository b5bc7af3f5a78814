/** Memory of another process, as the kernel counts it. */

import { readFileSync, writeFileSync } from 'node:fs';

/** Both resident, in bytes. */
export interface Memory {
  now: number;
  peak: number;
}

/** From `/proc/<pid>/status`: VmRSS, and the most that it ever was (VmHWM). */
export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}

/** Makes what is resident now the peak; what comes later may raise it (proc_pid_clear_refs(5)). */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
