/** A real fault of the disk for this process alone, for root and everybody else: files may not grow beyond a size. */

import { execFileSync } from 'node:child_process';

/**
 * Writes beyond so many bytes of any file fail with EFBIG, which SQLite calls an I/O error; null: no limit. Linux only
 * (prlimit of util-linux). Only the soft limit is set, which anybody may lift again.
 */
export function limitFileSize(bytes: number | null, pid: number = process.pid): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:`]);
}
