/** Interrupts long work now and then, so that other requests do not have to wait for its end. */

import { setImmediate as immediate } from 'node:timers/promises';

/** The number of milliseconds that work may usually take without an interruption. */
const SLICE = 8;
/** Hashing or copying this many bytes takes less than `SLICE`. */
const BLOCK = 2 * 1024 * 1024;

export class Pace {
  private readonly slice: number;
  private begun = performance.now();

  /** @param slice is the number of milliseconds that the work may take without an interruption */
  constructor(slice = SLICE) {
    this.slice = slice;
  }

  /** Whether it is time to rest. A loop checks this first, because it costs far less than an `await`. */
  get isDue(): boolean {
    return performance.now() - this.begun > this.slice;
  }

  /** Lets other work of the event loop go first. */
  async rest(): Promise<void> {
    await immediate();
    this.begun = performance.now();
  }
}

/**
 * The items of a list one after the other, for work that is short for each. Between them other work of the event loop goes first now
 * and then. What SQLite answers comes without a turn of the loop, so even work that awaits each item would hold up all others.
 */
export async function* paced<T>(items: Iterable<T>): AsyncGenerator<T, void, undefined> {
  const pace = new Pace();
  for (const item of items) {
    if (pace.isDue) await pace.rest();
    yield item;
  }
}

/** Passes the bytes on in blocks, and lets other work go first between them. */
export async function inBlocks(bytes: Uint8Array, work: (block: Uint8Array) => void): Promise<void> {
  const pace = new Pace();
  for (let at = 0; at < bytes.length; at += BLOCK) {
    work(bytes.subarray(at, at + BLOCK));
    if (pace.isDue) await pace.rest();
  }
}

/** Measures the time that a kind of work has taken in this turn of the event loop, for many callers together. */
export class TurnBudget {
  private readonly limit: number;
  private spent = 0;

  /** @param limit is the number of milliseconds in one turn */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Whether further work should wait for the next turn. */
  get isSpent(): boolean {
    return this.spent > this.limit;
  }

  spend(milliseconds: number): void {
    if (this.spent === 0)
      setImmediate(() => {
        this.spent = 0;
      });
    this.spent += milliseconds;
  }
}
