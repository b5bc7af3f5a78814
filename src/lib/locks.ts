/**
 * Locks by name, held alone or shared, and granted in the order of the requests. A server on SQLite has them to itself.
 * Servers on PostgreSQL share theirs (db/postgres/sections.ts), so taking a lock is asynchronous.
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

/** The locks of a process that has the stores to itself: the holders of each, and the queue of those who wait. */
export class LocalLocks extends Locks {
  private readonly entries = new Map<string, Entry>();

  acquire(key: string, mode: LockMode): Promise<Release> {
    const entry = this.entries.get(key) ?? { holders: 0, heldAlone: false, queue: [] };
    this.entries.set(key, entry);
    const release = (): void => {
      entry.holders -= 1;
      this.grantNext(key, entry);
    };
    return new Promise((resolve) => {
      const grant = (): void => {
        entry.holders += 1;
        entry.heldAlone = mode === 'alone';
        queueMicrotask(() => resolve(release));
      };
      entry.queue.push({ mode, grant });
      this.grantNext(key, entry);
    });
  }

  async acquireIfFree(key: string): Promise<Release | null> {
    return this.entries.has(key) ? null : this.acquire(key, 'alone');
  }

  /** Grants the lock to the first ones in the queue, as far as possible, and forgets it if it is free. */
  private grantNext(key: string, entry: Entry): void {
    for (let next = entry.queue[0]; next !== undefined; next = entry.queue[0]) {
      const fits = entry.holders === 0 || (next.mode === 'shared' && !entry.heldAlone);
      if (!fits) break;
      entry.queue.shift();
      next.grant();
    }
    if (entry.holders === 0 && entry.queue.length === 0) this.entries.delete(key);
  }
}
