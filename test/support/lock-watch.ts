/** Tells who waits for a lock of a server in this process, whatever its database is. */

import { expect } from 'chai';
import { DATABASE_WRITES } from '../../src/domain/lock-names.ts';
import { LocalLocks, type LockMode, type Release } from '../../src/lib/locks.ts';
import { eventually } from './eventually.ts';

export class LockWatch {
  private waiting = 0;
  private readonly acquire = LocalLocks.prototype.acquire;

  /** Watches until `stop`. */
  constructor() {
    const watch = this;
    LocalLocks.prototype.acquire = function (this: LocalLocks, key: string, mode: LockMode) {
      return watch.counting(key, watch.acquire.call(this, key, mode));
    };
  }

  /** Resolves once so many wait. Those who are about to write to the database are not counted. */
  async untilWaiting(count: number): Promise<void> {
    await eventually(async () => expect(this.waiting).to.equal(count));
  }

  stop(): void {
    LocalLocks.prototype.acquire = this.acquire;
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
