/** Retention of the audit trail: entries beyond an age that the operator has set are deleted, and that is recorded. */

import { setTimeout as sleep } from 'node:timers/promises';
import { countEntriesBefore, deleteEntriesBefore } from '../db/audit-trail.ts';
import type { Database } from '../db/database.ts';
import { type Clock, DAY, HOUR, toTimestamp } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type RepeatedWork, repeat } from '../lib/repeated-work.ts';
import { recordAudit, systemActor } from '../security/audit.ts';

const INTERVAL = 12 * HOUR;

export interface AuditRetentionOptions {
  database: Database;
  clock: Clock;
  log: Log;
  /** Null keeps all entries. */
  keepDays: number | null;
}

/** Deletes old entries in the background: once at the start, then every twelve hours. The next start carries on. */
export function startAuditRetention({ database, clock, log, keepDays }: AuditRetentionOptions): RepeatedWork {
  if (keepDays === null) return { close: async () => undefined };
  return repeat(
    INTERVAL,
    (signal) => pruneAudit(database, { now: clock.now(), keepDays, signal }),
    (error) => log.error({ err: error }, 'old entries of the audit trail could not be deleted'),
  );
}

/** Entries per transaction. The server answers nobody for some 20 ms; with a thousand entries it would be 80 ms. */
const BATCH = 200;
/** Milliseconds between two transactions, so that requests get most of the time. */
const PAUSE = 25;

/**
 * Deletes the entries older than `keepDays` in batches. The entry about it is written together with the first batch, so
 * that nothing is ever deleted without a trace. A run that is aborted has deleted fewer entries than its entry says; the
 * next run records what it still finds.
 */
async function pruneAudit(
  database: Database,
  { now, keepDays, signal }: { now: number; keepDays: number; signal: AbortSignal },
): Promise<void> {
  const before = now - keepDays * DAY;
  let due = await database.write.transaction().execute(async (trx) => {
    const deleted = await countEntriesBefore(trx, before);
    if (deleted === 0) return 0;
    const details = { deleted, olderThan: toTimestamp(before) };
    await recordAudit(trx, systemActor(now), { action: 'audit.pruned', resourceId: null, details });
    return deleted - (await deleteEntriesBefore(trx, before, BATCH));
  });
  while (due > 0 && !signal.aborted) {
    await sleep(PAUSE);
    const deleted = await database.write
      .transaction()
      .execute((trx) => deleteEntriesBefore(trx, before, BATCH));
    due = deleted === 0 ? 0 : due - deleted;
  }
}
