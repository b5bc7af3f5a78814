/** Reads the memory of another process, as the kernel counts it. */

import { readFileSync, writeFileSync } from 'node:fs';

/** Both are resident memory, in bytes. */
export interface Memory {
  now: number;
  peak: number;
}

/** Reads `/proc/<pid>/status`: VmRSS, and its highest value so far (VmHWM). */
export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}

/** Resets the peak to what is resident now. It may rise again later (proc_pid_clear_refs(5)). */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
