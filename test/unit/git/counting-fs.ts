import { AtomicFs } from '../../../src/git/atomic-fs.ts';

/** Counts what is read of the disk. */
export class CountingFs extends AtomicFs {
  reads = 0;
  looks = 0;

  override readFile(path: string) {
    this.reads += 1;
    return super.readFile(path);
  }
  override readNow(path: string) {
    this.reads += 1;
    return super.readNow(path);
  }
  override readdir(path: string) {
    this.reads += 1;
    return super.readdir(path);
  }
  override lstatNow(path: string) {
    this.looks += 1;
    return super.lstatNow(path);
  }
}
