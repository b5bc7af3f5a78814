/** Tells who waits for a lock of a server in this process, whatever its database is, and holds up who has got one. */

import { expect } from 'chai';
import { Sections } from '../../src/db/postgres/sections.ts';
import { DATABASE_WRITES, repositoryLock } from '../../src/domain/lock-names.ts';
import { LocalLocks, type LockMode, type Locks, type Release } from '../../src/lib/locks.ts';
import { eventually } from './eventually.ts';
import type { HeldWrites } from './held-writes.ts';

const REPOSITORY = repositoryLock({ kind: 'configurations', name: '' });

export class LockWatch {
  private waiting = 0;
  private hold: { reached(): void; isOver: Promise<void> } | null = null;
  private readonly acquire = LocalLocks.prototype.acquire;
  private readonly runs = [Sections.prototype, LocalLocks.prototype].map(
    (locks) => [locks, locks.run] as const,
  );

  /** Watches until `stop`. */
  constructor() {
    const watch = this;
    LocalLocks.prototype.acquire = function (this: LocalLocks, key: string, mode: LockMode) {
      return watch.counting(key, watch.acquire.call(this, key, mode));
    };
    for (const [locks, run] of this.runs)
      locks.run = function <T>(this: Locks, key: string, work: () => Promise<T>): Promise<T> {
        return run.call(this, key, watch.holding(key, work)) as Promise<T>;
      };
  }

  /** Holds up the next who gets the lock of a repository, until it is let go. */
  holdRepository(): HeldWrites {
    let letGo = () => {};
    const isOver = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const isHeld = new Promise<void>((resolve) => {
      this.hold = { reached: resolve, isOver };
    });
    return { isHeld, letGo };
  }

  /** Resolves once so many wait. Those who are about to write to the database are not counted. */
  async untilWaiting(count: number): Promise<void> {
    await eventually(async () => expect(this.waiting).to.equal(count));
  }

  stop(): void {
    LocalLocks.prototype.acquire = this.acquire;
    for (const [locks, run] of this.runs) locks.run = run;
  }

  /** The work of whoever is to be held up; that of all others as it is. */
  private holding<T>(key: string, work: () => Promise<T>): () => Promise<T> {
    const { hold } = this;
    if (hold === null || !key.startsWith(REPOSITORY)) return work;
    this.hold = null;
    return async () => {
      hold.reached();
      await hold.isOver;
      return work();
    };
  }

  private async counting(key: string, acquired: Promise<Release>): Promise<Release> {
    if (key === DATABASE_WRITES) return acquired;
    this.waiting += 1;
    try {
      return await acquired;
    } finally {
      this.waiting -= 1;
    }
  }
}
