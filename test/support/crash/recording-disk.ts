/**
 * A disk that passes every call on, with a failpoint before and after it. It keeps what is needed to undo what was
 * never flushed: a hard link to each file that loses its name, and whole trees that are removed.
 */

import { existsSync, linkSync, lstatSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { DISK, type Disk, type DiskFile } from '../../../src/git/disk.ts';
import { type Failpoints, kindOf } from './failpoints.ts';
import type { Before, Journal } from './journal.ts';

interface Options {
  journal: Journal;
  failpoints: Failpoints;
  /** The folder of all repositories. */
  root: string;
  /** A folder on the same file system, for what may have to be restored. */
  kept: string;
}

export class RecordingDisk implements Disk {
  private readonly options: Options;
  private ids = 0;

  constructor(options: Options) {
    this.options = options;
  }

  async open(path: string, flags: string): Promise<DiskFile> {
    if (flags === 'r') return new Opened(await DISK.open(path, flags), (work) => this.flush(path, work));
    const { journal } = this.options;
    const open = () => DISK.open(path, flags);
    const isThere = existsSync(path);
    // A lock that exists is not opened. After a power cut in a rename it may be a second name of the ref's own file.
    if (isThere && !flags.includes('x')) journal.write({ do: 'write', path });
    const file = isThere ? await open() : await this.changing('create', path, open);
    const write = (data: Uint8Array | string) => {
      journal.write({ do: 'write', path });
      return this.between('write', path, () => file.writeFile(data));
    };
    const sync = async (work: () => Promise<void>) => {
      await this.between('flush file of', path, async () => {
        await work();
        journal.write({ do: 'synced', path });
      });
    };
    return new Opened(file, sync, write);
  }

  async appendFile(path: string, text: string): Promise<void> {
    const append = () => this.between('append to', path, () => DISK.appendFile(path, text));
    const isThere = existsSync(path);
    const size = isThere ? lstatSync(path).size : 0;
    this.options.journal.write({ do: 'append', path, size });
    await (isThere ? append() : this.changing('append to', path, () => DISK.appendFile(path, text)));
  }

  async rename(from: string, to: string): Promise<void> {
    const { journal } = this.options;
    const id = this.next();
    if (lstatSync(from).isDirectory()) journal.write({ do: 'move', id, from, to });
    else journal.write({ do: 'rename', id, from, to, source: this.keep(from), target: this.keep(to) });
    await this.settling(id, () => this.between('rename to', to, () => DISK.rename(from, to)));
  }

  unlink(path: string): Promise<void> {
    return this.changing('unlink', path, () => DISK.unlink(path));
  }

  /** Moves the whole tree into the folder `kept`. The simulation of a power cut decides how much of it comes back. */
  async rm(path: string, options: { recursive: boolean; force: boolean }): Promise<void> {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats?.isDirectory()) return this.changing('discard', path, () => DISK.rm(path, options));
    const tree = this.newName();
    const id = this.next();
    this.options.journal.write({ do: 'change', id, path, before: { tree } });
    await this.settling(id, () =>
      this.between('discard', path, async () => renameSync(path, join(this.options.kept, tree))),
    );
  }

  async mkdir(path: string, options: { mode: number }): Promise<void> {
    await this.changing('make folder of', path, () => DISK.mkdir(path, options));
  }

  rmdir(path: string): Promise<void> {
    return this.changing('remove folder of', path, () => DISK.rmdir(path));
  }

  link(path: string, name: string): Promise<void> {
    return this.changing('link', name, () => DISK.link(path, name));
  }

  renameNow(from: string, to: string): void {
    const { journal } = this.options;
    const id = this.next();
    journal.write({ do: 'rename', id, from, to, source: this.keep(from), target: this.keep(to) });
    this.settlingNow(id, () => this.betweenNow('rename to', to, () => DISK.renameNow(from, to)));
  }

  unlinkNow(path: string): void {
    const id = this.next();
    this.options.journal.write({ do: 'change', id, path, before: this.keep(path) });
    this.settlingNow(id, () => this.betweenNow('unlink', path, () => DISK.unlinkNow(path)));
  }

  flushFolderNow(path: string): void {
    const { journal } = this.options;
    const id = this.next();
    this.betweenNow('flush folder of', path, () => {
      journal.write({ do: 'flush', id, path });
      DISK.flushFolderNow(path);
      journal.write({ do: 'flushed', id });
    });
  }

  private betweenNow(step: string, path: string, work: () => void): void {
    const { failpoints, root } = this.options;
    const what = `${step} ${kindOf(root, path)}`;
    failpoints.pass(`before ${what}`);
    work();
    failpoints.pass(`after ${what}`);
  }

  private settlingNow(id: number, work: () => void): void {
    const { journal } = this.options;
    try {
      work();
      journal.write({ do: 'done', id });
    } catch (error) {
      journal.write({ do: 'failed', id });
      throw error;
    }
  }

  private async changing<T>(step: string, path: string, work: () => Promise<T>): Promise<T> {
    const id = this.next();
    this.options.journal.write({ do: 'change', id, path, before: this.keep(path) });
    return this.settling(id, () => this.between(step, path, work));
  }

  private async flush(path: string, work: () => Promise<void>): Promise<void> {
    const { journal } = this.options;
    const id = this.next();
    await this.between('flush folder of', path, async () => {
      journal.write({ do: 'flush', id, path });
      await work();
      journal.write({ do: 'flushed', id });
    });
  }

  private async between<T>(step: string, path: string, work: () => Promise<T>): Promise<T> {
    const { failpoints, root } = this.options;
    const what = `${step} ${kindOf(root, path)}`;
    failpoints.pass(`before ${what}`);
    const result = await work();
    failpoints.pass(`after ${what}`);
    return result;
  }

  private async settling<T>(id: number, work: () => Promise<T>): Promise<T> {
    const { journal } = this.options;
    try {
      const result = await work();
      journal.write({ do: 'done', id });
      return result;
    } catch (error) {
      journal.write({ do: 'failed', id });
      throw error;
    }
  }

  private keep(path: string): Before {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return null;
    if (stats.isDirectory()) return { folder: true };
    const file = this.newName();
    try {
      linkSync(path, join(this.options.kept, file));
    } catch (error) {
      // Another process has just removed it.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    return { file };
  }

  private newName(): string {
    return `${process.pid}-${this.next()}`;
  }

  private next(): number {
    this.ids += 1;
    return this.ids;
  }
}

class Opened implements DiskFile {
  private readonly file: DiskFile;
  private readonly around: (sync: () => Promise<void>) => Promise<void>;
  readonly writeFile: DiskFile['writeFile'];

  constructor(
    file: DiskFile,
    around: (sync: () => Promise<void>) => Promise<void>,
    write: DiskFile['writeFile'] = (data) => file.writeFile(data),
  ) {
    this.file = file;
    this.around = around;
    this.writeFile = write;
  }

  sync(): Promise<void> {
    return this.around(() => this.file.sync());
  }

  utimes(accessed: Date, modified: Date): Promise<void> {
    return this.file.utimes(accessed, modified);
  }

  close(): Promise<void> {
    return this.file.close();
  }
}
