/** The system calls by which the store changes the disk; tests put others in their place. */

import { appendFile, mkdir, open, rename, rm, rmdir, unlink } from 'node:fs/promises';

/** A file opened for writing, or a folder opened to be flushed. */
export interface DiskFile {
  /** Behind what was written before. */
  writeFile(data: Uint8Array | string): Promise<void>;
  sync(): Promise<void>;
  utimes(accessed: Date, modified: Date): Promise<void>;
  close(): Promise<void>;
}

/** As `node:fs/promises`, errors included. */
export interface Disk {
  open(path: string, flags: string): Promise<DiskFile>;
  appendFile(path: string, text: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  rm(path: string, options: { recursive: boolean; force: boolean }): Promise<void>;
  mkdir(path: string, options: { mode: number }): Promise<unknown>;
  rmdir(path: string): Promise<void>;
}

export const DISK: Disk = { open, appendFile, rename, unlink, rm, mkdir, rmdir };
