/**
 * The only way from the store to the disk. A file appears whole and flushed or not at all: temporary file in
 * the same folder, fsync, rename, fsync of the folder. Every step is a method, so that tests can break it.
 */

import { randomUUID } from 'node:crypto';
import { type BigIntStats, type Dirent, lstatSync, type Stats } from 'node:fs';
import {
  appendFile,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
} from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { errnoOf, unlessAbsent } from './disk-errors.ts';

/** Git takes such names for its own unfinished objects: fsck passes over them, gc removes old ones. */
export const TEMPORARY_PREFIX = 'tmp_obj_hawser_';

const WRITE_ATTEMPTS = 3;

export class AtomicFs {
  /** The face that isomorphic-git sees: an own property of this name tells it that the methods are async. */
  readonly promises = {
    // It probes with a call without arguments every time it is handed a file system.
    readFile: async (path?: string) => (path === undefined ? null : this.readFile(path)),
    writeFile: (path: string, data: Uint8Array) => this.writeFile(path, data),
    // After any failed write it makes all parent folders and writes again: that would bring back the folder
    // of a removed repository. writeFile makes the one folder that may rightly be absent.
    mkdir: async () => undefined,
    readdir: async (path: string) => (await this.readdir(path)).map((entry) => entry.name),
    stat: (path: string) => this.stat(path),
    lstat: (path: string) => this.lstat(path),
    unlink: () => refuse('unlink'),
    rmdir: () => refuse('rmdir'),
    readlink: () => refuse('readlink'),
    symlink: () => refuse('symlink'),
  };

  readFile(path: string): Promise<Buffer> {
    return readFile(path);
  }

  readdir(path: string): Promise<Dirent[]> {
    return readdir(path, { withFileTypes: true });
  }

  stat(path: string): Promise<Stats> {
    return stat(path);
  }

  lstat(path: string): Promise<Stats> {
    return lstat(path);
  }

  /** Without a promise: for the watch, whose four looks per repository cost less than one promise each. */
  lstatNow(path: string): BigIntStats | undefined {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  }

  /** Replaces the file as a whole, flushed; makes its folder, but no folder above that. */
  async writeFile(path: string, data: Uint8Array | string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.replace(path, data);
      } catch (error) {
        // git gc removes empty folders, and with --prune=now temporary files too, under our hands.
        if (errnoOf(error) !== 'ENOENT' || attempt === WRITE_ATTEMPTS) throw error;
        await this.makeFolder(dirname(path));
      }
    }
  }

  /** Writes and flushes a file in place: for files that nobody looks at before they are renamed. */
  async writePlain(path: string, data: Uint8Array | string, flags = 'w'): Promise<void> {
    const handle = await open(path, flags);
    try {
      await handle.writeFile(data);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  /** Adds to the end of a file in one write, not flushed: for what may be lost. */
  append(path: string, text: string): Promise<void> {
    return appendFile(path, text);
  }

  /** Makes an empty file that must not exist yet (EEXIST otherwise); not flushed. */
  async createEmpty(path: string): Promise<void> {
    await (await open(path, 'wx')).close();
  }

  /** Moves a file or folder and flushes the folders on both sides. */
  async rename(from: string, to: string): Promise<void> {
    await rename(from, to);
    await this.flushFolder(dirname(to));
    if (dirname(from) !== dirname(to)) await this.flushFolder(dirname(from));
  }

  /** Removes a file, if there, and flushes its folder. */
  async unlink(path: string): Promise<void> {
    await unlessAbsent(unlink(path), undefined);
    await unlessAbsent(this.flushFolder(dirname(path)), undefined);
  }

  /** Removes a file or a whole tree, if there, without flushing: for what is rubbish either way. */
  async discard(path: string): Promise<void> {
    await rm(path, { recursive: true, force: true });
  }

  /** Removes a folder if it is empty; false when it is not, or is gone. Not flushed: an empty folder says nothing. */
  async discardEmptyFolder(path: string): Promise<boolean> {
    try {
      await rmdir(path);
      return true;
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errnoOf(error) ?? '')) return false;
      throw error;
    }
  }

  /** Makes one folder, unless there, and flushes its parent, which must exist. */
  async makeFolder(path: string, mode = 0o777): Promise<void> {
    try {
      await mkdir(path, { mode });
    } catch (error) {
      if (errnoOf(error) === 'EEXIST') return;
      throw error;
    }
    await this.flushFolder(dirname(path));
  }

  /** Makes every folder that is absent from below `base`, which must exist, down to `path`. */
  async makeFoldersBelow(base: string, path: string, mode?: number): Promise<void> {
    let folder = base;
    for (const segment of relative(base, path).split(sep)) {
      folder = join(folder, segment);
      await this.makeFolder(folder, mode);
    }
  }

  async flushFolder(path: string): Promise<void> {
    // Windows has no way to flush a folder.
    if (process.platform === 'win32') return;
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  /** Makes a file look new, so that a gc beside us does not take it for long unused. Absent: false. */
  async freshen(path: string): Promise<boolean> {
    const handle = await unlessAbsent(open(path, 'r'), null);
    if (handle === null) return false;
    try {
      const now = new Date();
      await handle.utimes(now, now);
      return true;
    } finally {
      await handle.close();
    }
  }

  private async replace(path: string, data: Uint8Array | string): Promise<void> {
    const temporary = join(dirname(path), TEMPORARY_PREFIX + randomUUID());
    try {
      await this.writePlain(temporary, data, 'wx');
      await this.rename(temporary, path);
    } catch (error) {
      // A failure to tidy must not hide the failure to write; what is left over is swept later.
      await this.discard(temporary).catch(() => undefined);
      throw error;
    }
  }
}

function refuse(call: string): Promise<never> {
  return Promise.reject(new Error(`isomorphic-git must not call ${call} here`));
}
