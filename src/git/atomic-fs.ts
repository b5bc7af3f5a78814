/**
 * The only way from the store to the disk. A file appears whole and flushed or not at all: temporary file in
 * the same folder, fsync, rename, fsync of the folder. Every step is a method, so that tests can break it.
 */

import { randomUUID } from 'node:crypto';
import {
  type BigIntStats,
  createReadStream,
  type Dirent,
  lstatSync,
  readFileSync,
  type Stats,
} from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { diskFault } from '../lib/disk-faults.ts';
import { DISK, type Disk, type DiskFile } from './disk.ts';
import { errnoOf, isAbsence, unlessAbsent } from './disk-errors.ts';

/** Git takes such names for its own unfinished objects: fsck passes over them, gc removes old ones. */
export const TEMPORARY_PREFIX = 'tmp_obj_hawser_';

/** A `git gc` beside us passes each folder of objects several times, and removes it wherever it is empty. */
const WRITE_ATTEMPTS = 10;

/** A file's content, as a whole or in pieces. */
export type FileData = Uint8Array | string | readonly Uint8Array[];

/** Milliseconds after which a change that nobody flushed is on the disk by the system's own doing: minutes in fact. */
const WRITTEN_BACK = 3_600_000;

export class AtomicFs {
  /** What isomorphic-git uses. It takes the methods for asynchronous ones because this is an own property named so. */
  readonly promises = {
    // It probes with a call without arguments each time it is given a file system.
    readFile: async (path?: string) => (path === undefined ? null : this.readFile(path)),
    writeFile: (path: string, data: Uint8Array) => this.writeFile(path, data),
    // Called after a failed write, before it tries once more.
    mkdir: (path: string) => this.makeFolder(path),
    readdir: async (path: string) => (await this.readdir(path)).map((entry) => entry.name),
    // It asks for the repository's folder, of which it needs no answer, and for an object before it writes it. An object
    // that is there must be written again: it may be broken, and git gc drops an old one that no ref leads to.
    stat: () => Promise.reject(Object.assign(new Error('not looked for'), { code: 'ENOENT' })),
    lstat: (path: string) => this.lstat(path),
    unlink: refuse,
    rmdir: refuse,
    readlink: refuse,
    symlink: refuse,
  };
  private readonly disk: Disk;
  private readonly undiscarded = new Set<string>();
  /** The code of what the last write failed with, such as `insufficient_storage`; null when it did not. */
  writeFault: string | null = null;

  constructor(disk: Disk = DISK) {
    this.disk = disk;
  }

  readFile(path: string): Promise<Buffer> {
    return readFile(path);
  }

  /** A file's bytes as they are read; fails where it is absent. */
  readStream(path: string): Readable {
    return createReadStream(path);
  }

  readdir(path: string): Promise<Dirent[]> {
    return readdir(path, { withFileTypes: true });
  }

  lstat(path: string): Promise<Stats> {
    return lstat(path);
  }

  /**
   * A file's bytes, null if it is absent. Without a promise: for refs, a line each, whose reading takes a twentieth of the
   * time so.
   */
  readNow(path: string): Buffer | null {
    try {
      return readFileSync(path);
    } catch (error) {
      if (isAbsence(error)) return null;
      throw error;
    }
  }

  /** Without a promise: for the watch, whose four looks per repository cost less than one promise each. */
  lstatNow(path: string): BigIntStats | undefined {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  }

  /** Replaces the file as a whole, flushed; makes its folder, but no folder above that. */
  async writeFile(path: string, data: FileData): Promise<void> {
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
  writePlain(path: string, data: FileData, flags = 'w'): Promise<void> {
    return this.noting(async () => fill(await this.disk.open(path, flags), data));
  }

  /** Adds to the end of a file in one write, not flushed: for what may be lost. */
  append(path: string, text: string): Promise<void> {
    return this.disk.appendFile(path, text);
  }

  /** Makes an empty file that must not exist yet (EEXIST otherwise), to be filled or closed; not flushed. */
  createEmpty(path: string): Promise<DiskFile> {
    return this.noting(() => this.disk.open(path, 'wx'));
  }

  /** Gives what `createEmpty` made its content, flushed, and closes it. */
  fill(file: DiskFile, data: string): Promise<void> {
    return this.noting(() => fill(file, data));
  }

  /**
   * Moves a file or folder and flushes the folders on both sides.
   * @param onMoved called in between: what fails from then on has moved all the same
   */
  async rename(from: string, to: string, onMoved?: () => void): Promise<void> {
    await this.noting(() => this.disk.rename(from, to));
    onMoved?.();
    // Stock git may have packed the ref just now, and removed its folder.
    await this.flushNearest(dirname(to));
    if (dirname(from) !== dirname(to)) await this.flushFolder(dirname(from));
  }

  /** Removes a file, if there, and flushes its folder; where that too is gone, the nearest one that is left. */
  async unlink(path: string): Promise<void> {
    await unlessAbsent(this.disk.unlink(path), undefined);
    await this.flushNearest(dirname(path));
  }

  /**
   * Removes a file or a whole tree, if there, without flushing: for what is rubbish either way. What cannot be removed
   * is remembered.
   */
  async discard(path: string): Promise<void> {
    try {
      await this.disk.rm(path, { recursive: true, force: true });
    } catch (error) {
      this.undiscarded.add(path);
      throw error;
    }
  }

  /** As `discard`, of what is known to be a file. */
  async discardFile(path: string): Promise<void> {
    try {
      await unlessAbsent(this.disk.unlink(path), undefined);
    } catch (error) {
      this.undiscarded.add(path);
      throw error;
    }
  }

  /** Tries again to remove what could not be: left behind, a lock would be in everybody's way. */
  async discardAgain(): Promise<void> {
    for (const path of [...this.undiscarded]) {
      // Taken out first: once it is gone, the name may be that of another's file, which nobody is to remove.
      if (this.undiscarded.delete(path)) await this.discard(path).catch(() => undefined);
    }
  }

  /** Removes a folder if it is empty; false when it is not, or is gone. Not flushed: an empty folder says nothing. */
  async discardEmptyFolder(path: string): Promise<boolean> {
    try {
      await this.disk.rmdir(path);
      return true;
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errnoOf(error) ?? '')) return false;
      throw error;
    }
  }

  /** Makes one folder, unless there, and flushes its parent, which must exist. */
  async makeFolder(path: string, mode = 0o777): Promise<void> {
    try {
      await this.noting(() => this.disk.mkdir(path, { mode }));
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
    const handle = await this.disk.open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  /**
   * Flushes a folder that was changed of late, if there: perhaps by a process that was killed between the change and
   * its flush. Nothing may be built upon such a change, or told of it, before a power cut can no longer undo it.
   */
  async settleFolder(path: string): Promise<void> {
    const stats = this.lstatNow(path);
    if (!stats?.isDirectory() || Date.now() - Number(stats.ctimeMs) > WRITTEN_BACK) return;
    await unlessAbsent(this.flushFolder(path), undefined);
  }

  /** Makes a file look new, so that a gc beside us does not take it for long unused. Absent: false. */
  async freshen(path: string): Promise<boolean> {
    const handle = await unlessAbsent(this.disk.open(path, 'r'), null);
    if (handle === null) return false;
    try {
      const now = new Date();
      await handle.utimes(now, now);
      return true;
    } finally {
      await handle.close();
    }
  }

  private async flushNearest(folder: string): Promise<void> {
    const flushed = this.flushFolder(folder).then(() => true);
    if (!(await unlessAbsent(flushed, false))) await this.flushNearest(dirname(folder));
  }

  private async noting<T>(write: () => Promise<T>): Promise<T> {
    try {
      const result = await write();
      this.writeFault = null;
      return result;
    } catch (error) {
      this.writeFault = diskFault(errnoOf(error), error)?.code ?? this.writeFault;
      throw error;
    }
  }

  private async replace(path: string, data: FileData): Promise<void> {
    const temporary = join(dirname(path), TEMPORARY_PREFIX + randomUUID());
    try {
      await this.writePlain(temporary, data, 'wx');
      await this.rename(temporary, path);
    } catch (error) {
      // A failure to tidy must not hide the failure to write; what is left over is swept later.
      await this.discardFile(temporary).catch(() => undefined);
      throw error;
    }
  }
}

async function fill(file: DiskFile, data: FileData): Promise<void> {
  try {
    if (data instanceof Uint8Array || typeof data === 'string') await file.writeFile(data);
    else for (const piece of data) await file.writeFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('isomorphic-git must neither remove files nor follow links here'));
}
