/** A disk under the repositories that fails at a chosen system call, as a full, broken or read-only disk does. */

import { DISK, type Disk, type DiskFile } from '../../src/git/disk.ts';

export type Errno = 'ENOSPC' | 'EDQUOT' | 'EIO' | 'EROFS' | 'EMFILE';

type Call = 'open' | 'open to write' | 'write' | 'sync' | 'rename' | 'remove' | 'make folder';

const ALL: readonly Call[] = ['open', 'open to write', 'write', 'sync', 'rename', 'remove', 'make folder'];

/**
 * The calls that fail with each error, by the manual pages. On a full disk files can still be removed; on a broken
 * one every call fails.
 */
const FAILING: Record<Errno, readonly Call[]> = {
  ENOSPC: ['open to write', 'write', 'sync', 'rename', 'make folder'],
  EDQUOT: ['open to write', 'write', 'rename', 'make folder'],
  EIO: ALL,
  EROFS: ['open to write', 'rename', 'remove', 'make folder'],
  EMFILE: ['open', 'open to write'],
};

export class FailingDisk implements Disk {
  /** How many calls have failed since `fail`. */
  failures = 0;
  private errno: Errno = 'EIO';
  private left = Number.POSITIVE_INFINITY;
  private isLasting = true;

  /** Lets this many calls succeed that could fail with this error. Then all of them fail, or only the next one. */
  fail(errno: Errno, after: number, isLasting: boolean): void {
    Object.assign(this, { errno, left: after, isLasting, failures: 0 });
  }

  heal(): void {
    this.left = Number.POSITIVE_INFINITY;
  }

  async open(path: string, flags: string): Promise<DiskFile> {
    this.step(flags === 'r' ? 'open' : 'open to write', 'open', path);
    const file = await DISK.open(path, flags);
    return {
      writeFile: async (data) => {
        const part = this.isDue('write') ? data.slice(0, data.length / 2) : data;
        await file.writeFile(part);
        this.step('write', 'write', path);
      },
      sync: async () => {
        this.step('sync', 'fsync', path);
        await file.sync();
      },
      utimes: (accessed, modified) => file.utimes(accessed, modified),
      close: () => file.close(),
    };
  }

  async appendFile(path: string, text: string): Promise<void> {
    this.step('write', 'write', path);
    await DISK.appendFile(path, text);
  }

  async rename(from: string, to: string): Promise<void> {
    this.step('rename', 'rename', from);
    await DISK.rename(from, to);
  }

  async unlink(path: string): Promise<void> {
    this.step('remove', 'unlink', path);
    await DISK.unlink(path);
  }

  async rm(path: string, options: { recursive: boolean; force: boolean }): Promise<void> {
    this.step('remove', 'rm', path);
    await DISK.rm(path, options);
  }

  async mkdir(path: string, options: { mode: number }): Promise<unknown> {
    this.step('make folder', 'mkdir', path);
    return DISK.mkdir(path, options);
  }

  async rmdir(path: string): Promise<void> {
    this.step('remove', 'rmdir', path);
    await DISK.rmdir(path);
  }

  async link(path: string, name: string): Promise<void> {
    this.step('make folder', 'link', path);
    await DISK.link(path, name);
  }

  renameNow(from: string, to: string): void {
    this.step('rename', 'rename', from);
    DISK.renameNow(from, to);
  }

  unlinkNow(path: string): void {
    this.step('remove', 'unlink', path);
    DISK.unlinkNow(path);
  }

  flushFolderNow(path: string): void {
    this.step('sync', 'fsync', path);
    DISK.flushFolderNow(path);
  }

  private isDue(call: Call): boolean {
    if (!FAILING[this.errno].includes(call)) return false;
    return this.isLasting ? this.left <= 0 : this.left === 0;
  }

  private step(call: Call, syscall: string, path: string): void {
    if (!FAILING[this.errno].includes(call)) return;
    const fails = this.isDue(call);
    this.left -= 1;
    if (!fails) return;
    this.failures += 1;
    const code = this.errno;
    throw Object.assign(new Error(`${code}: made by a test, ${syscall} '${path}'`), { code, syscall, path });
  }
}
