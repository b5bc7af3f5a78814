/** Runs the cleanups that are due, as long as the server's settings switch the schedule on. */

import type { Database } from '../db/database.ts';
import { lastScheduledStart, type VersionType } from '../db/retention-runs.ts';
import { readRetentionSettings } from '../db/settings.ts';
import { STORED_KINDS } from '../git/types.ts';
import { HOUR, MINUTE } from '../lib/clock.ts';
import { systemActor } from '../security/audit.ts';
import type { CleanupTools, RetentionRuns } from './clean-up.ts';

/** The time between two checks for cleanups that are due. */
const CHECK_INTERVAL = MINUTE;

/** Composites come first, because their versions pin versions of configurations. */
const ORDER: readonly VersionType[] = ['Composite', 'Configuration', 'Parameter', 'Report', 'StatusEvent'];

export class RetentionSchedule {
  private readonly tools: CleanupTools;
  private readonly runs: RetentionRuns;
  private timer: NodeJS.Timeout | undefined;
  private checking: Promise<void> | undefined;
  private closed = false;

  constructor(tools: CleanupTools, runs: RetentionRuns) {
    this.tools = tools;
    this.runs = runs;
  }

  /** Checks at once, for what fell due while the server was down, and then regularly. */
  start(): void {
    const check = () => void this.check();
    this.timer = setInterval(check, CHECK_INTERVAL).unref();
    check();
  }

  /** Waits for the check that is under way. `RetentionRuns.close` ends its runs. */
  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    await this.checking;
  }

  /** Runs what is due, one after the other. */
  check(): Promise<void> {
    this.checking ??= this.runDue().finally(() => {
      this.checking = undefined;
    });
    return this.checking;
  }

  private async runDue(): Promise<void> {
    const { database, log } = this.tools;
    try {
      await this.runs.endInterrupted();
      let ran = false;
      for (const versionType of ORDER) {
        if (this.closed || !(await this.isDue(database, versionType))) continue;
        await this.run(versionType);
        ran = true;
      }
      if (ran && !this.closed) await this.maintainAll();
    } catch (error) {
      log.error({ err: error }, 'the schedule of cleanups cannot be kept');
    }
  }

  /** Asks the history of runs, so that a restart neither forgets a run nor repeats it. */
  private async isDue({ read }: Database, versionType: VersionType): Promise<boolean> {
    const { enabled, scheduleIntervalHours } = await readRetentionSettings(read);
    if (!enabled) return false;
    const last = await lastScheduledStart(read, versionType);
    return last === null || this.tools.clock.now() - last >= scheduleIntervalHours * HOUR;
  }

  /** Ignores a failure, which the history and the log tell of. The other types run all the same. */
  private async run(versionType: VersionType): Promise<void> {
    const actor = systemActor(this.tools.clock.now());
    const request = { versionType, isScheduled: true, isDryRun: false, actor, overrides: {} };
    await this.runs.run(request).catch(() => undefined);
  }

  /** Drops objects that were too young to be dropped right after their versions were deleted. */
  private async maintainAll(): Promise<void> {
    const { store, maintenance } = this.tools;
    for (const kind of STORED_KINDS) {
      for (const name of await store.list(kind)) maintenance.request({ kind, name });
    }
  }
}
