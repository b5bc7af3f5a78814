/** Locks as work sees them that runs while some of them are held already: to take one of those again is to have it. */

import { type LockMode, Locks, type Release } from './locks.ts';

export class HeldLocks extends Locks {
  private readonly locks: Locks;
  private readonly held: ReadonlySet<string>;

  /** @param held the keys of locks that the caller holds until all work is done */
  constructor(locks: Locks, held: Iterable<string>) {
    super();
    this.locks = locks;
    this.held = new Set(held);
  }

  async acquire(key: string, mode: LockMode): Promise<Release> {
    return this.held.has(key) ? () => undefined : this.locks.acquire(key, mode);
  }

  async acquireIfFree(key: string, onLost?: () => void): Promise<Release | null> {
    return this.held.has(key) ? null : this.locks.acquireIfFree(key, onLost);
  }

  override run<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.held.has(key) ? work() : this.locks.run(key, work);
  }

  override share<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.held.has(key) ? work() : this.locks.share(key, work);
  }
}
