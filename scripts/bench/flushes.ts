/** Counts what a publish must flush, and measures what the same number of flushes of the same sizes costs alone. */

import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import SqliteDatabase, { type Database as SqliteHandle } from 'better-sqlite3';
import { DISK, type Disk, type DiskFile } from '../../src/git/disk.ts';

/** What one operation flushed, in order. */
export interface Flushes {
  /** The bytes of each file; null for a folder. */
  files: (number | null)[];
  /** The number of database transactions. */
  commits: number;
}

/** A disk that records what is flushed. */
export class CountingDisk implements Disk {
  flushed: (number | null)[] = [];
  readonly appendFile = DISK.appendFile;
  readonly rename = DISK.rename;
  readonly unlink = DISK.unlink;
  readonly rm = DISK.rm;
  readonly mkdir = DISK.mkdir;
  readonly rmdir = DISK.rmdir;
  readonly link = DISK.link;
  readonly renameNow = DISK.renameNow;
  readonly unlinkNow = DISK.unlinkNow;

  async open(path: string, flags: string): Promise<DiskFile> {
    const file = await DISK.open(path, flags);
    // A file opened for reading may get a new time, but only a folder is flushed through such a handle.
    let bytes = flags === 'r' ? null : 0;
    return {
      writeFile: (data) => {
        bytes = Buffer.byteLength(data);
        return file.writeFile(data);
      },
      sync: () => {
        this.flushed.push(bytes);
        return file.sync();
      },
      utimes: (accessed, modified) => file.utimes(accessed, modified),
      close: () => file.close(),
    };
  }

  flushFolderNow(path: string): void {
    this.flushed.push(null);
    DISK.flushFolderNow(path);
  }
}

/** The number of flushes that Hawser has in progress at most. */
const AT_ONCE = 8;
const ROW_BYTES = 500;

/** Makes only flushes, in a folder on the measured disk. */
export class BareFlushes {
  private readonly folder: string;
  private readonly database: SqliteHandle;
  private files = 0;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder);
    this.database = new SqliteDatabase(join(folder, 'bare.db'));
    this.database.pragma('journal_mode = WAL');
    this.database.pragma('synchronous = FULL');
    this.database.exec('create table rows (content blob)');
  }

  /** @returns milliseconds: for one flush after the other, or for several at once if that takes less */
  async time(flushes: Flushes): Promise<number> {
    const start = performance.now();
    for (const bytes of flushes.files) this.flush(bytes);
    this.commit(flushes.commits);
    const inTurn = performance.now() - start;
    const second = performance.now();
    await this.flushAtOnce(flushes.files);
    this.commit(flushes.commits);
    return Math.min(inTurn, performance.now() - second);
  }

  close(): void {
    this.database.close();
    rmSync(this.folder, { recursive: true });
  }

  private flush(bytes: number | null): void {
    const handle = bytes === null ? openSync(this.folder, 'r') : openSync(this.nextFile(), 'wx');
    if (bytes !== null) writeSync(handle, randomBytes(bytes));
    fsyncSync(handle);
    closeSync(handle);
  }

  private async flushAtOnce(files: Flushes['files']): Promise<void> {
    const waiting = files.values();
    const lane = async () => {
      for (const bytes of waiting) {
        const handle = await (bytes === null ? open(this.folder, 'r') : open(this.nextFile(), 'wx'));
        if (bytes !== null) await handle.writeFile(randomBytes(bytes));
        await handle.sync();
        await handle.close();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  }

  private commit(times: number): void {
    const insert = this.database.prepare('insert into rows values (?)');
    for (let commit = 0; commit < times; commit += 1) insert.run(randomBytes(ROW_BYTES));
  }

  private nextFile(): string {
    this.files += 1;
    return join(this.folder, String(this.files));
  }
}
