/** A real disk that is small enough to fill: a tmpfs, which only users who may mount can have. */

import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Condition } from './optional-tools.ts';

/** Options of `mount`: bytes, and `nr_inodes` for the number of files. */
const SIZE = 'size=24m';

export interface SmallDisk {
  folder: string;
  /** Uses all space that is left, but for so many bytes. */
  fill(room?: number): void;
  /** Frees this space. */
  free(): void;
  remove(): void;
}

/** @throws Error if this user may not mount */
export function mountSmallDisk(size = SIZE): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-disk-'));
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'pipe' });
  try {
    run('mount', '-t', 'tmpfs', '-o', size, 'hawser-test', folder);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  const filling = join(folder, 'filling');
  return {
    folder,
    fill(room = 0) {
      fillUp(filling);
      truncateSync(filling, Math.max(0, statSync(filling).size - room));
    },
    free: () => rmSync(filling, { force: true }),
    remove() {
      run('umount', folder);
      rmSync(folder, { recursive: true });
    },
  };
}

/** For tests that use a small disk. It tries whether this user may mount one. */
export function mounting(): Condition {
  return { isMet: mayMount(), otherwise: 'this user may not mount a disk' };
}

function mayMount(): boolean {
  try {
    mountSmallDisk().remove();
    return true;
  } catch {
    return false;
  }
}

function fillUp(path: string): void {
  const fd = openSync(path, 'a');
  try {
    for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 16)) fillBy(fd, Buffer.alloc(size));
  } finally {
    closeSync(fd);
  }
}

function fillBy(fd: number, chunk: Buffer): void {
  try {
    for (;;) writeSync(fd, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
