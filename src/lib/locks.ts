/**
 * Locks by name, held alone or shared, and granted in the order of the requests. A single process keeps them in a table of
 * its own. Several processes share one table (workers/), so taking a lock is asynchronous.
 */

/** With `alone` nobody else holds the lock. With `shared` nobody holds it alone. */
export type LockMode = 'alone' | 'shared';

/** Gives a lock back. It must be called once. */
export type Release = () => void;

export abstract class Locks {
  /** Resolves when the lock is held. */
  abstract acquire(key: string, mode: LockMode): Promise<Release>;

  /**
   * Takes the lock alone. Gives null at once if somebody holds it or waits for it.
   * @param onLost is called if the lock is lost before it is given back, as it may be on PostgreSQL. Without this function
   *   a lost lock is taken again, and nobody is told.
   */
  abstract acquireIfFree(key: string, onLost?: () => void): Promise<Release | null>;

  /** Runs `work` alone among all work on `key`, once all earlier work has ended or failed. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    return holding(await this.acquire(key, 'alone'), work);
  }

  /** Runs `work` beside other sharing work, but not while somebody holds `key` alone. */
  async share<T>(key: string, work: () => Promise<T>): Promise<T> {
    return holding(await this.acquire(key, 'shared'), work);
  }

  /** Runs `work` alone like `run`, or does nothing if the lock is not free. */
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
  /** The number of holders: one that holds it alone, or any number that share. */
  holders: number;
  heldAlone: boolean;
  readonly queue: Waiting[];
}

/** The holders of each lock and the queue of those who wait. It knows nothing of promises or processes. */
export class LockTable {
  private readonly entries = new Map<string, Entry>();

  /** Whether nobody holds the lock or waits for it. */
  isFree(key: string): boolean {
    return !this.entries.has(key);
  }

  /**
   * Requests a lock.
   * @param granted is called once the lock is held, perhaps before this function returns
   * @returns a function that gives the lock back, or leaves the queue
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
    this.grantNext(key, entry);
    return () => {
      if (state === 'held') entry.holders -= 1;
      else if (state === 'waiting') entry.queue.splice(entry.queue.indexOf(waiting), 1);
      state = 'over';
      this.grantNext(key, entry);
    };
  }

  /** Grants the lock to the first ones in the queue, as far as possible, and forgets it if it is free. */
  private grantNext(key: string, entry: Entry): void {
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
