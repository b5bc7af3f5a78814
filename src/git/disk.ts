/**
 * The system calls that change the disk, behind an interface that tests replace. What may wait for the disk or for the
 * journal of the file system goes to another thread. The other calls take microseconds, where each trip to another thread
 * takes a tenth of a millisecond.
 */

import {
  appendFileSync,
  closeSync,
  fsync,
  fsyncSync,
  futimesSync,
  link,
  mkdir,
  open,
  openSync,
  rename,
  renameSync,
  rmdir,
  unlink,
  unlinkSync,
  write,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { addPart } from '../lib/request-parts.ts';

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
  /** Gives a file a second name. */
  link(path: string, name: string): Promise<void>;
  /** The same as above, for what must be one step with something else in this process: nothing else runs meanwhile. */
  renameNow(from: string, to: string): void;
  unlinkNow(path: string): void;
  flushFolderNow(path: string): void;
}

/** Up to so many bytes, copying them to the system's cache takes less time than handing the work to another thread. */
const SMALL = 64 * 1024;

const aside = { flush: promisify(fsync), open: promisify(open), write: promisify(write) };

export const DISK: Disk = {
  open: async (path, flags) =>
    new OpenFile(flags === 'r' ? openSync(path, flags) : await aside.open(path, flags)),
  appendFile: async (path, text) => appendFileSync(path, text),
  rename: promisify(rename),
  unlink: promisify(unlink),
  rm,
  mkdir: promisify<string, { mode: number }>(mkdir),
  rmdir: promisify<string>(rmdir),
  link: promisify(link),
  renameNow: renameSync,
  unlinkNow: unlinkSync,
  flushFolderNow(path) {
    const descriptor = openSync(path, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  },
};

/** For a cache, which a power cut may spoil: nothing is flushed. */
export const UNFLUSHED_DISK: Disk = {
  ...DISK,
  async open(path, flags) {
    const file = await DISK.open(path, flags);
    return {
      writeFile: (data) => file.writeFile(data),
      sync: async () => undefined,
      utimes: (accessed, modified) => file.utimes(accessed, modified),
      close: () => file.close(),
    };
  },
  flushFolderNow: () => undefined,
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
      at += (await aside.write(this.descriptor, bytes, at, bytes.length - at)).bytesWritten;
    }
  }

  async sync(): Promise<void> {
    const start = performance.now();
    await aside.flush(this.descriptor);
    addPart('disk', performance.now() - start);
  }

  async utimes(accessed: Date, modified: Date): Promise<void> {
    futimesSync(this.descriptor, accessed, modified);
  }

  async close(): Promise<void> {
    closeSync(this.descriptor);
  }
}
