/** Deletes previews whose hour is over. The leader does it, and writes only when something is due. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import { type Clock, MINUTE } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type RepeatedWork, repeat } from '../lib/repeated-work.ts';
import { deletePreview, findExpired } from './preview-rows.ts';

const INTERVAL = MINUTE;
/** Milliseconds between two transactions, so that requests get most of the time. */
const PAUSE = 10;

interface Tools {
  database: Database;
  clock: Clock;
  log: Log;
}

/** Looks at once, for what fell due while the server was down, and then regularly. The next start carries on. */
export function startPreviewExpiry({ database, clock, log }: Tools): RepeatedWork {
  return repeat(
    INTERVAL,
    async (signal) => {
      while (!signal.aborted) {
        const id = await findExpired(database.read, clock.now());
        if (id === undefined) return;
        // What a power cut brings back is deleted by the next start.
        await database.writeUnflushed.transaction().execute((trx) => deletePreview(trx, id));
        await sleep(PAUSE);
      }
    },
    (error) => log.error({ err: error }, 'old previews could not be deleted'),
  );
}
