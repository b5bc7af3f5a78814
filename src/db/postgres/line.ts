/**
 * The line in which the transactions of one process wait for their turn. Only the first of them waits in PostgreSQL, so of
 * a process that is frozen one connection at most gets the turn and holds up the others until PostgreSQL ends it. Those
 * behind it get nothing before the process wakes.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { LocalLocks, type Release } from '../../lib/locks.ts';
import { SIGN_OF_LIFE } from './time-limits.ts';

const KEY = 'turn';

export class Line {
  private readonly locks = new LocalLocks();

  /**
   * Resolves once all who came earlier have left.
   * @param giveSign is called now and then meanwhile, because PostgreSQL ends a section that is silent
   * @returns leaves the line
   * @throws what `giveSign` throws; the place in the line is given up then
   */
  async enter(giveSign: () => Promise<unknown>): Promise<Release> {
    const first = await this.locks.acquireIfFree(KEY);
    if (first !== null) return first;
    const granted = this.locks.acquire(KEY, 'alone');
    try {
      for (;;) {
        const release = await Promise.race([granted, sleep(SIGN_OF_LIFE, null, { ref: false })]);
        if (release !== null) return release;
        await giveSign();
      }
    } catch (error) {
      void granted.then((release) => release());
      throw error;
    }
  }
}
