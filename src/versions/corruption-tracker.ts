/** Keeps in mind what could not be read in a repository, until it can be read again. */

import { isCorruption } from '../git/disk-errors.ts';
import type { RepositoryRef } from '../git/types.ts';
import type { Log } from '../lib/log.ts';

/** The beginning of the name of a blob. The rest is its id. */
export const BLOB = 'blob ';

/** How to try again what could not be read. */
export interface Retry {
  readBlob(oid: string): Promise<unknown>;
  /** Reads what these refs lead to. Where a ref could not be read, this decides whether it is a version. */
  readRefs(names: ReadonlySet<string>): Promise<void>;
}

/** Milliseconds between two attempts to read again what could not be read. */
const ROUND = 5_000;

export class CorruptionTracker {
  /** The full names of refs, and `blob <oid>`. */
  readonly names = new Set<string>();
  private readonly log: Log;
  private readonly repository: RepositoryRef;
  private readonly retry: Retry;
  private attemptedAt = 0;

  constructor(log: Log, repository: RepositoryRef, retry: Retry) {
    this.retry = retry;
    this.log = log;
    this.repository = repository;
  }

  /** What is told of each of them. */
  get faults(): { ref: string; reason: string }[] {
    return [...this.names].map((ref) => ({ ref, reason: 'repository_damaged' }));
  }

  /** Whether it is time for another attempt. */
  get isDue(): boolean {
    return this.names.size > 0 && performance.now() - this.attemptedAt > ROUND;
  }

  /** Does `work`, which reads something, and tracks under this name whether it can be read. */
  async tracking<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      const read = await work();
      if (this.names.has(name)) await this.tryAgain();
      return read;
    } catch (error) {
      if (isCorruption(error)) this.found(name, error);
      throw error;
    }
  }

  /** Tries again what could not be read. */
  async tryAgain(): Promise<void> {
    const names = new Set(this.names);
    this.attemptedAt = performance.now();
    for (const name of names) {
      if (!name.startsWith(BLOB)) continue;
      const blob = await this.retry.readBlob(name.slice(BLOB.length)).catch(() => null);
      if (blob !== null) this.repaired(name);
    }
    await this.retry.readRefs(names);
  }

  found(name: string, error: unknown): void {
    if (this.names.has(name)) return;
    if (this.names.size === 0) this.attemptedAt = performance.now();
    this.names.add(name);
    const about = { err: error, repository: this.repository, ref: name };
    this.log.error(about, 'a repository is damaged: an object is missing or broken');
  }

  repaired(name: string): void {
    if (this.names.delete(name)) {
      this.log.info({ repository: this.repository, ref: name }, 'what was damaged can be read again');
    }
  }

  /** As `repaired`, for every name that begins so. */
  repairedAll(start: string): void {
    for (const name of this.names) if (name.startsWith(start)) this.repaired(name);
  }
}
