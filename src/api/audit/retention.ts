/** Retention of the audit trail: entries beyond an age that the operator has set are deleted, and that is recorded. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/open.ts';
import { type Clock, DAY, HOUR, toTimestamp } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { recordAudit, systemActor } from '../../security/audit.ts';
import { countEntriesBefore, deleteEntriesBefore } from './queries.ts';

const INTERVAL = 12 * HOUR;
/** Entries per transaction: some 20 ms in which nobody is answered; a thousand would be 80. */
const BATCH = 200;
/** Milliseconds between two of them, so that requests get the larger part of the time. */
const PAUSE = 25;

export interface AuditRetentionOptions {
  database: Database;
  clock: Clock;
  log: Log;
  /** Null keeps entries for ever. */
  keepDays: number | null;
}

/** Prunes now and then every twelve hours, in the background. */
export class AuditRetention {
  private readonly options: AuditRetentionOptions;
  private readonly timer: NodeJS.Timeout | undefined;
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(options: AuditRetentionOptions) {
    this.options = options;
    if (options.keepDays === null) return;
    const keepDays = options.keepDays;
    this.timer = setInterval(() => this.run(keepDays), INTERVAL).unref();
    this.run(keepDays);
  }

  /** Stops after the batch in progress; the next start carries on. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await this.running;
  }

  private run(keepDays: number): void {
    this.running = this.running.then(() => this.prune(keepDays));
  }

  private async prune(keepDays: number): Promise<void> {
    const { database, clock, log } = this.options;
    try {
      await pruneAudit(database, { now: clock.now(), keepDays, signal: this.stopping.signal });
    } catch (error) {
      log.error({ err: error }, 'old entries of the audit trail could not be deleted');
    }
  }
}

/**
 * Deletes the entries older than `keepDays` in batches. The entry about it is written with the first batch, so that
 * nothing is ever gone without a trace; a run that is broken off has said more than it did, and the next run says again
 * what it finds left.
 */
export async function pruneAudit(
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
