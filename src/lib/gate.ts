/** A lock with two sides inside one process: many share it, or one has it alone, all in the order of their coming. */

export class Gate {
  /** Ends when nobody has it alone any more, nor waits for that. */
  private lastAlone: Promise<unknown> = Promise.resolve();
  private readonly sharing = new Set<Promise<unknown>>();

  /** Runs `work` once all who came before to be alone have ended. */
  async share<T>(work: () => Promise<T>): Promise<T> {
    const running = this.lastAlone.then(work);
    this.sharing.add(running);
    try {
      return await running;
    } finally {
      this.sharing.delete(running);
    }
  }

  /** Runs `work` once all who came before have ended, however they ended. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const running = Promise.allSettled([this.lastAlone, ...this.sharing]).then(work);
    this.lastAlone = running.catch(() => undefined);
    return running;
  }
}
