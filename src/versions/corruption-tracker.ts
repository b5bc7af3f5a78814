/** Keeps in mind what could not be read in a repository, until it can be read again. */

import type { RepositoryRef } from '../git/types.ts';
import type { Log } from '../lib/log.ts';

/** Milliseconds between two attempts to read again what could not be read. */
const ROUND = 5_000;

export class CorruptionTracker {
  /** The full names of refs, and `blob <oid>`. */
  readonly names = new Set<string>();
  private readonly log: Log;
  private readonly repository: RepositoryRef;
  private attemptedAt = 0;

  constructor(log: Log, repository: RepositoryRef) {
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

  /** Notes that an attempt begins. */
  attemptStarted(): void {
    this.attemptedAt = performance.now();
  }

  found(name: string, error: unknown): void {
    if (this.names.has(name)) return;
    if (this.names.size === 0) this.attemptStarted();
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
