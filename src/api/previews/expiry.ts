/** Deletes previews whose hour is over. The leader does it, and writes only when something is due. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';
import { type Clock, MINUTE } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { deleteSlice, findExpired } from './queries.ts';

const INTERVAL = MINUTE;
/** Pieces per transaction. One is some 200 kB, whose deletion takes less than a millisecond. */
const SLICE = 4;
/** Milliseconds between two transactions, so that requests get most of the time. */
const PAUSE = 10;

export class PreviewExpiry {
  private readonly tools: { database: Database; clock: Clock; log: Log };
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private running: Promise<void> = Promise.resolve();

  constructor(tools: { database: Database; clock: Clock; log: Log }) {
    this.tools = tools;
  }

  /** Looks at once, for what fell due while the server was down, and then regularly. */
  start(): void {
    const check = () => {
      this.running = this.running.then(() => this.check());
    };
    this.timer = setInterval(check, INTERVAL).unref();
    check();
  }

  /** Stops after the slice in progress; the next start carries on. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    await this.running;
  }

  private async check(): Promise<void> {
    const { database, clock, log } = this.tools;
    try {
      while (!this.isClosed) {
        const id = await findExpired(database.read, clock.now());
        if (id === undefined) return;
        await this.remove(id);
      }
    } catch (error) {
      log.error({ err: error }, 'old previews could not be deleted');
    }
  }

  private async remove(id: string): Promise<void> {
    // What a power cut brings back is deleted by the next start.
    const { writeUnflushed } = this.tools.database;
    for (let isGone = false; !isGone && !this.isClosed; ) {
      isGone = await writeUnflushed.transaction().execute((trx) => deleteSlice(trx, id, SLICE));
      await sleep(PAUSE);
    }
  }
}
