/**
 * The only way from the store to the disk. A file appears whole and flushed or not at all: it is written as a temporary
 * file in the same folder, flushed, renamed, and the folder is flushed. Every step is a method, so that tests can break it.
 */

import { randomUUID } from 'node:crypto';
import {
  type BigIntStats,
  createReadStream,
  type Dirent,
  lstatSync,
  readdirSync,
  readFileSync,
  type Stats,
} from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { diskFault } from '../lib/disk-faults.ts';
import { DISK, type Disk, type DiskFile } from './disk.ts';
import { errnoOf, isAbsence, unlessAbsent } from './disk-errors.ts';

/** Git takes files of such names for its own unfinished objects: fsck ignores them, and gc removes old ones. */
export const TEMPORARY_PREFIX = 'tmp_obj_hawser_';

/** A `git gc` passes over each folder of objects several times, and removes it whenever it is empty. */
const WRITE_ATTEMPTS = 10;

/** Milliseconds after which the system has written a change to the disk by itself. In fact it takes minutes. */
const WRITTEN_BACK = 3_600_000;

/** A file's content, as a whole, in pieces, or in pieces that come one after the other and only once. */
export type FileData = Uint8Array | string | readonly Uint8Array[] | AsyncIterable<Uint8Array>;

export class AtomicFs {
  private readonly disk: Disk;
  private readonly undiscarded = new Set<string>();
  /** The code of the error of the last write, such as `insufficient_storage`; null when it succeeded. */
  writeFault: string | null = null;

  constructor(disk: Disk = DISK) {
    this.disk = disk;
  }

  readFile(path: string): Promise<Buffer> {
    return readFile(path);
  }

  /** The bytes of a file as a stream, which fails where the file is absent. */
  readStream(path: string): Readable {
    return createReadStream(path);
  }

  readdir(path: string): Promise<Dirent[]> {
    return readdir(path, { withFileTypes: true });
  }

  lstat(path: string): Promise<Stats> {
    return lstat(path);
  }

  /** The bytes of a file; null when it is absent. For refs, a line each: with a promise it takes twenty times as long. */
  readNow(path: string): Buffer | null {
    try {
      return readFileSync(path);
    } catch (error) {
      if (isAbsence(error)) return null;
      throw error;
    }
  }

  /** What is in a folder; nothing when it is absent. For folders of refs, which are small. */
  readdirNow(path: string): Dirent[] {
    try {
      return readdirSync(path, { withFileTypes: true });
    } catch (error) {
      if (isAbsence(error)) return [];
      throw error;
    }
  }

  /** The facts about a file or folder; undefined when it is absent. Four such calls cost the watch less than a promise. */
  lstatNow(path: string): BigIntStats | undefined {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  }

  /** Replaces a file as a whole and flushes it. Makes its folder, but no folder above that. */
  async writeFile(path: string, data: Exclude<FileData, AsyncIterable<Uint8Array>>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.replace(path, data);
      } catch (error) {
        // git gc removes empty folders meanwhile, and with --prune=now temporary files too.
        if (errnoOf(error) !== 'ENOENT' || attempt === WRITE_ATTEMPTS) throw error;
        await this.makeFolder(dirname(path));
      }
    }
  }

  /** Does the same with bytes that come only once, so it tries again only while none were taken. */
  async writeStream(path: string, data: AsyncIterable<Uint8Array>): Promise<void> {
    let isBegun = false;
    async function* once() {
      isBegun = true;
      yield* data;
    }
    for (let attempt = 1; ; attempt += 1) {
      await this.makeFolder(dirname(path));
      try {
        return await this.replace(path, once());
      } catch (error) {
        if (isBegun || errnoOf(error) !== 'ENOENT' || attempt === WRITE_ATTEMPTS) throw error;
      }
    }
  }

  /** Writes and flushes a file in place. It is for files that nobody reads before they are renamed. */
  writePlain(path: string, data: FileData, flags = 'w'): Promise<void> {
    return this.recordingFault(async () => fill(await this.disk.open(path, flags), data));
  }

  /** Adds to the end of a file in one write. It is not flushed: the text may be lost. */
  append(path: string, text: string): Promise<void> {
    return this.disk.appendFile(path, text);
  }

  /** Makes an empty file, which the caller fills or closes. Fails with EEXIST when it exists. It is not flushed. */
  createEmpty(path: string): Promise<DiskFile> {
    return this.recordingFault(() => this.disk.open(path, 'wx'));
  }

  /** Writes the content of a file that `createEmpty` made, flushes and closes it. */
  fill(file: DiskFile, data: string): Promise<void> {
    return this.recordingFault(() => fill(file, data));
  }

  /**
   * Moves a file or folder, then flushes the folder that it is in now and the one that it was in.
   * @param onMoved called after the move: it is not undone when a flush fails
   */
  async rename(from: string, to: string, onMoved?: () => void): Promise<void> {
    await this.recordingFault(() => this.disk.rename(from, to));
    onMoved?.();
    // Stock git may have packed the ref and removed its folder meanwhile.
    await this.flushNearest(dirname(to));
    if (dirname(from) !== dirname(to)) await this.flushFolder(dirname(from));
  }

  /** Moves a file in its folder at once, while nothing else runs in this process. It is not flushed. */
  renameNow(from: string, to: string): void {
    try {
      this.disk.renameNow(from, to);
      this.writeFault = null;
    } catch (error) {
      this.noteFault(error);
      throw error;
    }
  }

  /** Removes a file as `renameNow` moves one. */
  unlinkNow(path: string): void {
    this.disk.unlinkNow(path);
  }

  /** Flushes a folder while nothing else runs in this process. */
  flushFolderNow(path: string): void {
    if (process.platform !== 'win32') this.disk.flushFolderNow(path);
  }

  /** Gives a file a second name, which is not flushed. */
  link(path: string, name: string): Promise<void> {
    return this.recordingFault(() => this.disk.link(path, name));
  }

  /** Removes a file, if it exists, and flushes its folder, or the nearest folder above it that exists. */
  async unlink(path: string): Promise<void> {
    await unlessAbsent(this.disk.unlink(path), undefined);
    await this.flushNearest(dirname(path));
  }

  /**
   * Removes a file or a whole tree, if it exists. This is not flushed, since it may come back without harm. What cannot be
   * removed is remembered for `discardAgain`.
   */
  discard(path: string): Promise<void> {
    return this.remembering(path, this.disk.rm(path, { recursive: true, force: true }));
  }

  /** Does the same as `discard` with what is known to be a file. */
  discardFile(path: string): Promise<void> {
    return this.remembering(path, unlessAbsent(this.disk.unlink(path), undefined));
  }

  /** Tries again to remove what could not be removed. A lock that is left behind would block everybody. */
  async discardAgain(): Promise<void> {
    for (const path of [...this.undiscarded]) {
      // Forgotten first: once the file is gone, the name may become that of a file that must stay.
      if (this.undiscarded.delete(path)) await this.discard(path).catch(() => undefined);
    }
  }

  /** Removes an empty folder. Returns false when it is not empty or is absent. This is not flushed. */
  async discardEmptyFolder(path: string): Promise<boolean> {
    try {
      await this.disk.rmdir(path);
      return true;
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errnoOf(error) ?? '')) return false;
      throw error;
    }
  }

  /** Makes one folder, unless it exists, and flushes its parent, which must exist. */
  async makeFolder(path: string, mode = 0o777): Promise<void> {
    try {
      await this.recordingFault(() => this.disk.mkdir(path, { mode }));
    } catch (error) {
      if (errnoOf(error) === 'EEXIST') return;
      throw error;
    }
    await this.flushFolder(dirname(path));
  }

  /** Makes the folders below `base`, which must exist, down to `path`, as far as they are absent. */
  async makeFoldersBelow(base: string, path: string, mode?: number): Promise<void> {
    let folder = base;
    for (const segment of relative(base, path).split(sep)) {
      folder = join(folder, segment);
      await this.makeFolder(folder, mode);
    }
  }

  /** Does the same as `makeFoldersBelow` for what does not last: nothing is flushed. Mostly the last folder alone is absent. */
  async makePassingFoldersBelow(base: string, path: string): Promise<void> {
    if (path === base) return;
    const make = async (isAgain: boolean): Promise<void> => {
      try {
        await this.recordingFault(() => this.disk.mkdir(path, { mode: 0o777 }));
      } catch (error) {
        if (errnoOf(error) === 'EEXIST') return;
        if (errnoOf(error) !== 'ENOENT' || isAgain) throw error;
        await this.makePassingFoldersBelow(base, dirname(path));
        await make(true);
      }
    };
    await make(false);
  }

  async flushFolder(path: string): Promise<void> {
    // Windows has no way to flush a folder.
    if (process.platform === 'win32') return;
    await this.withHandle(path, (handle) => handle.sync());
  }

  /**
   * Flushes a folder that was changed recently, if it exists. A process may have been killed between the change and its
   * flush. A power cut could undo such a change, so it is flushed before anything is built upon it or told about it.
   */
  async flushIfRecent(path: string): Promise<void> {
    const stats = this.lstatNow(path);
    if (!stats?.isDirectory() || Date.now() - Number(stats.ctimeMs) > WRITTEN_BACK) return;
    await unlessAbsent(this.flushFolder(path), undefined);
  }

  /** Makes a file look new, so that `git gc` does not take it for long unused. Returns false when it is absent. */
  async freshen(path: string): Promise<boolean> {
    const now = new Date();
    return unlessAbsent(
      this.withHandle(path, (handle) => handle.utimes(now, now)),
      false,
    );
  }

  private async withHandle(path: string, work: (handle: DiskFile) => Promise<void>): Promise<true> {
    const handle = await this.disk.open(path, 'r');
    try {
      await work(handle);
      return true;
    } finally {
      await handle.close();
    }
  }

  private async flushNearest(folder: string): Promise<void> {
    const flushed = this.flushFolder(folder).then(() => true);
    if (!(await unlessAbsent(flushed, false))) await this.flushNearest(dirname(folder));
  }

  private async remembering(path: string, removal: Promise<void>): Promise<void> {
    try {
      await removal;
    } catch (error) {
      this.undiscarded.add(path);
      throw error;
    }
  }

  private async recordingFault<T>(write: () => Promise<T>): Promise<T> {
    try {
      const result = await write();
      this.writeFault = null;
      return result;
    } catch (error) {
      this.noteFault(error);
      throw error;
    }
  }

  private noteFault(error: unknown): void {
    this.writeFault = diskFault(errnoOf(error), error)?.code ?? this.writeFault;
  }

  private async replace(path: string, data: FileData): Promise<void> {
    const temporary = join(dirname(path), TEMPORARY_PREFIX + randomUUID());
    try {
      await this.writePlain(temporary, data, 'wx');
      await this.rename(temporary, path);
    } catch (error) {
      // A failure to tidy must not hide the failure to write. The sweep removes what is left.
      await this.discardFile(temporary).catch(() => undefined);
      throw error;
    }
  }
}

async function fill(file: DiskFile, data: FileData): Promise<void> {
  try {
    if (data instanceof Uint8Array || typeof data === 'string') await file.writeFile(data);
    else for await (const piece of data) await file.writeFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
}
