/** Locks inside one process: work on the same key runs one after the other, on different keys at once. */

export class KeyedMutex {
  private readonly tails = new Map<string, Promise<void>>();

  /** Whether work on the key runs or waits; if not, `run` called now would be the first. */
  isTaken(key: string): boolean {
    return this.tails.has(key);
  }

  /** Runs `work` once all earlier work on `key` has ended, however it ended. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.tails.get(key) ?? Promise.resolve();
    const running = before.then(work);
    const tail = running.then(
      () => undefined,
      () => undefined,
    );
    this.tails.set(key, tail);
    try {
      return await running;
    } finally {
      if (this.tails.get(key) === tail) this.tails.delete(key);
    }
  }
}

/** At most `limit` pieces of work at once; the others wait in order. */
export class Semaphore {
  private readonly limit: number;
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.limit) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.running += 1;
    try {
      return await work();
    } finally {
      // The place is handed on rather than freed, so that a newcomer cannot overtake the queue.
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }
}
