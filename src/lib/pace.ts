/** Gives the event loop back now and then within long work, so that nobody else's request has to wait for it. */

import { setImmediate as immediate } from 'node:timers/promises';

/** Milliseconds that one piece of work may take. */
const SLICE = 8;
/** Bytes that take less than that to be hashed or copied. */
const BLOCK = 2 * 1024 * 1024;

export class Pace {
  private begun = performance.now();

  /** Whether it is time to rest. To be asked in a loop: it costs far less than to await. */
  get isDue(): boolean {
    return performance.now() - this.begun > SLICE;
  }

  /** Lets others go first. */
  async rest(): Promise<void> {
    await immediate();
    this.begun = performance.now();
  }
}

/** Hands out bytes in blocks, and the event loop back between them. */
export async function inBlocks(bytes: Uint8Array, work: (block: Uint8Array) => void): Promise<void> {
  const pace = new Pace();
  for (let at = 0; at < bytes.length; at += BLOCK) {
    work(bytes.subarray(at, at + BLOCK));
    if (pace.isDue) await pace.rest();
  }
}

/** Time that some kind of work has taken in this turn of the event loop, for which many callers ask at once. */
export class TurnTime {
  private readonly limit: number;
  private spent = 0;

  /** @param limit milliseconds of one turn */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Whether what comes now should wait for the next turn. */
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
