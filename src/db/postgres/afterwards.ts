/** Ends what was left open while PostgreSQL was away, once it is back. */

import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../lib/clock.ts';
import { HawserError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';

/** Milliseconds between two attempts. */
const PAUSE = 1 * SECOND;

export class Afterwards {
  private readonly log: Log | null;
  private isClosed = false;

  constructor(log: Log | null) {
    this.log = log;
  }

  /** Tries until `work` is done, until it fails for another reason than PostgreSQL, or until the end of the server. */
  async run(work: () => Promise<void>): Promise<void> {
    while (!this.isClosed) {
      await sleep(PAUSE, undefined, { ref: false });
      try {
        return await work();
      } catch (error) {
        const kind = error instanceof HawserError ? error.kind : null;
        if (kind === 'unavailable') continue;
        // Whatever was left open is gone meanwhile.
        if (kind !== 'not_found')
          this.log?.error({ err: error }, 'could not end what a lost connection has left open');
        return;
      }
    }
  }

  close(): void {
    this.isClosed = true;
  }
}
