/** Spreads new connections over time. A real fleet does not connect in one instant, and the simulator has one core. */

import { setTimeout as sleep } from 'node:timers/promises';

export class Pacer {
  private readonly interval: number;
  private next = 0;

  constructor(perSecond: number) {
    this.interval = 1_000 / perSecond;
  }

  /** Resolves when it is the caller's turn. */
  async turn(): Promise<void> {
    const now = performance.now();
    const at = Math.max(this.next, now);
    this.next = at + this.interval;
    if (at > now) await sleep(at - now);
  }
}
