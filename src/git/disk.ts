/**
 * The system calls that change the disk, behind an interface that tests replace. Only what waits for the disk goes to
 * another thread: flushing, and writing or removing what may be large. The other calls take microseconds, and a trip to
 * another thread takes a tenth of a millisecond, which was most of the time of a publishing.
 */

import {
  appendFileSync,
  closeSync,
  fsync,
  futimesSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  write,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';

/** A file opened for writing, or a folder opened to be flushed. */
export interface DiskFile {
  /** Writes behind what was written before. */
  writeFile(data: Uint8Array | string): Promise<void>;
  sync(): Promise<void>;
  utimes(accessed: Date, modified: Date): Promise<void>;
  close(): Promise<void>;
}

/** Each call fails with the error that Node gives for the system call. */
export interface Disk {
  open(path: string, flags: string): Promise<DiskFile>;
  appendFile(path: string, text: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  rm(path: string, options: { recursive: boolean; force: boolean }): Promise<void>;
  mkdir(path: string, options: { mode: number }): Promise<unknown>;
  rmdir(path: string): Promise<void>;
}

/** Up to so many bytes, copying them to the system's cache takes less time than handing the work to another thread. */
const SMALL = 64 * 1024;

const flush = promisify(fsync);
const writeAside = promisify(write);

export const DISK: Disk = {
  open: async (path, flags) => new OpenFile(openSync(path, flags)),
  appendFile: async (path, text) => appendFileSync(path, text),
  rename: async (from, to) => renameSync(from, to),
  unlink: async (path) => unlinkSync(path),
  rm,
  mkdir: async (path, options) => mkdirSync(path, options),
  rmdir: async (path) => rmdirSync(path),
};

class OpenFile implements DiskFile {
  private readonly descriptor: number;

  constructor(descriptor: number) {
    this.descriptor = descriptor;
  }

  async writeFile(data: Uint8Array | string): Promise<void> {
    if (data.length <= SMALL) {
      writeFileSync(this.descriptor, data);
      return;
    }
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    for (let at = 0; at < bytes.length; ) {
      at += (await writeAside(this.descriptor, bytes, at, bytes.length - at)).bytesWritten;
    }
  }

  sync(): Promise<void> {
    return flush(this.descriptor);
  }

  async utimes(accessed: Date, modified: Date): Promise<void> {
    futimesSync(this.descriptor, accessed, modified);
  }

  async close(): Promise<void> {
    closeSync(this.descriptor);
  }
}
