/** Deletes events after 30 days, with their deliveries. The leader does it, and writes only when something is due. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Db } from '../db/database.ts';
import { type Clock, DAY, HOUR } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type RepeatedWork, repeat } from '../lib/repeated-work.ts';
import { newestPosition } from './feed.ts';
import { callNext } from './outbox.ts';

const KEPT = 30 * DAY;
const INTERVAL = HOUR;
/** Events per transaction. */
const BATCH = 100;
/** Milliseconds between two transactions, so that requests get most of the time. */
const PAUSE = 25;

interface Tools {
  database: Database;
  clock: Clock;
  log: Log;
}

/** Looks at once, for what fell due while the server was down, and then regularly. The next start carries on. */
export function startEventExpiry({ database, clock, log }: Tools): RepeatedWork {
  return repeat(
    INTERVAL,
    async (signal) => {
      while (!signal.aborted && (await removeOldEvents(database, clock.now()))) await sleep(PAUSE);
    },
    (error) => log.error({ err: error }, 'old events could not be deleted'),
  );
}

/** Deletes a batch of events that are old. @returns whether there may be more */
export async function removeOldEvents({ read, writeUnflushed }: Database, now: number): Promise<boolean> {
  if ((await findOld(read, now)).length === 0) return false;
  const deleted = await writeUnflushed.transaction().execute((trx) => removeWithin(trx, now));
  return deleted === BATCH;
}

/** The newest event stays, so that the number after it is never one that was given before. */
async function findOld(db: Db, now: number): Promise<number[]> {
  const newest = await newestPosition(db);
  const oldest = await db
    .selectFrom('events')
    .select(['position', 'time'])
    .where('position', '<', newest)
    .orderBy('position')
    .limit(BATCH)
    .execute();
  // The feed is cut at one place, even if the clock was set back between two events.
  const kept = oldest.findIndex(({ time }) => time > now - KEPT);
  return oldest.slice(0, kept === -1 ? undefined : kept).map(({ position }) => position as number);
}

async function removeWithin(trx: Db, now: number): Promise<number> {
  const positions = await findOld(trx, now);
  const last = positions.at(-1);
  if (last === undefined) return 0;
  const underWay = await trx
    .selectFrom('webhook_deliveries')
    .select(['webhook_id', 'subject'])
    .where('position', '<=', last)
    .where('due_at', 'is not', null)
    .execute();
  await trx.deleteFrom('events').where('position', '<=', last).execute();
  // What has waited for one of them would wait for ever.
  for (const delivery of underWay) await callNext(trx, delivery, now);
  return positions.length;
}
