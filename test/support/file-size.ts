/** A real fault of the disk for this process alone, even for root: files may not grow beyond a size. */

import { execFileSync } from 'node:child_process';

/**
 * Makes writes beyond this many bytes of any file fail with EFBIG, which SQLite calls an I/O error. Null removes the
 * limit. Works on Linux only (prlimit of util-linux). It sets only the soft limit, which any user may raise again.
 */
export function limitFileSize(bytes: number | null, pid: number = process.pid): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:`]);
}
