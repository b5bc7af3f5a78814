/**
 * Locks by name, held alone or shared, each granted in the order of asking. One process keeps them in a table of its
 * own; several keep one table between them (workers/), which is why to take a lock is a promise.
 */

/** `alone`: nobody else holds it. `shared`: nobody holds it alone. */
export type LockMode = 'alone' | 'shared';

/** Gives a lock back; to be called once. */
export type Release = () => void;

export abstract class Locks {
  /** Resolves when the lock is held. */
  abstract acquire(key: string, mode: LockMode): Promise<Release>;

  /** Holds the lock alone, or null at once when somebody holds it or waits for it. */
  abstract acquireIfFree(key: string): Promise<Release | null>;

  /** Runs `work` alone among all work on `key`, once all earlier work has ended, however it ended. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    return holding(await this.acquire(key, 'alone'), work);
  }

  /** Runs `work` beside others that share, but not while somebody has `key` alone. */
  async share<T>(key: string, work: () => Promise<T>): Promise<T> {
    return holding(await this.acquire(key, 'shared'), work);
  }

  /** As `run`, but never waits: does nothing when the lock is not free. */
  async runIfFree(key: string, work: () => Promise<void>): Promise<void> {
    const release = await this.acquireIfFree(key);
    if (release !== null) await holding(release, work);
  }
}

async function holding<T>(release: Release, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    release();
  }
}

interface Waiting {
  mode: LockMode;
  grant(): void;
}

interface Entry {
  /** How many hold it: any number that share, or one alone. */
  holders: number;
  heldAlone: boolean;
  readonly queue: Waiting[];
}

/** Who holds what, and who waits, in order. Knows nothing of promises or processes. */
export class LockTable {
  private readonly entries = new Map<string, Entry>();

  /** Whether nobody holds the lock or waits for it. */
  isFree(key: string): boolean {
    return !this.entries.has(key);
  }

  /**
   * Asks for a lock.
   * @param granted called once it is held, which may be before this returns
   * @returns gives the lock back, or the place in the queue
   */
  request(key: string, mode: LockMode, granted: () => void): Release {
    const entry = this.entries.get(key) ?? { holders: 0, heldAlone: false, queue: [] };
    this.entries.set(key, entry);
    let state: 'waiting' | 'held' | 'over' = 'waiting';
    const waiting: Waiting = {
      mode,
      grant: () => {
        state = 'held';
        entry.holders += 1;
        entry.heldAlone = mode === 'alone';
        granted();
      },
    };
    entry.queue.push(waiting);
    this.settle(key, entry);
    return () => {
      if (state === 'held') entry.holders -= 1;
      else if (state === 'waiting') entry.queue.splice(entry.queue.indexOf(waiting), 1);
      state = 'over';
      this.settle(key, entry);
    };
  }

  private settle(key: string, entry: Entry): void {
    for (let next = entry.queue[0]; next !== undefined; next = entry.queue[0]) {
      const fits = entry.holders === 0 || (next.mode === 'shared' && !entry.heldAlone);
      if (!fits) break;
      entry.queue.shift();
      next.grant();
    }
    if (entry.holders === 0 && entry.queue.length === 0 && this.entries.get(key) === entry)
      this.entries.delete(key);
  }
}

/** The locks of a process that has the stores to itself. */
export class LocalLocks extends Locks {
  private readonly table = new LockTable();

  acquire(key: string, mode: LockMode): Promise<Release> {
    return new Promise((resolve) => {
      const release = this.table.request(key, mode, () => queueMicrotask(() => resolve(release)));
    });
  }

  async acquireIfFree(key: string): Promise<Release | null> {
    return this.table.isFree(key) ? this.acquire(key, 'alone') : null;
  }
}
