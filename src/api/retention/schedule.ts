/** Runs the cleanups by themselves when they are due, as long as the server's settings say so. */

import type { Database } from '../../db/open.ts';
import { REPOSITORY_KINDS } from '../../git/types.ts';
import { HOUR, MINUTE } from '../../lib/clock.ts';
import { systemActor } from '../../security/audit.ts';
import { readRetentionSettings } from '../settings/queries.ts';
import { lastScheduledStart, type VersionType } from './queries.ts';
import type { CleanupTools, RetentionRuns } from './runs.ts';

/** How often it is asked whether something is due. */
const CHECK_INTERVAL = MINUTE;

/** Composites first: with one of their versions goes what pins others. */
const ORDER: readonly VersionType[] = ['Composite', 'Configuration', 'Parameter', 'Report', 'StatusEvent'];

export class RetentionSchedule {
  private readonly tools: CleanupTools;
  private readonly runs: RetentionRuns;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private closed = false;

  constructor(tools: CleanupTools, runs: RetentionRuns) {
    this.tools = tools;
    this.runs = runs;
  }

  /** From now on, and now as well: what fell due while the server was down is not forgotten. */
  start(): void {
    const look = () => void this.look();
    this.timer = setInterval(look, CHECK_INTERVAL).unref();
    look();
  }

  /** Waits for what is under way, which the runs themselves are told to end. */
  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    await this.looking;
  }

  /** Runs what is due, one after the other. */
  look(): Promise<void> {
    this.looking ??= this.runDue().finally(() => {
      this.looking = undefined;
    });
    return this.looking;
  }

  private async runDue(): Promise<void> {
    const { database, log } = this.tools;
    try {
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

  /** By the history of runs, so that a restart neither forgets one nor repeats it. */
  private async isDue({ read }: Database, versionType: VersionType): Promise<boolean> {
    const { enabled, scheduleIntervalHours } = await readRetentionSettings(read);
    if (!enabled) return false;
    const last = await lastScheduledStart(read, versionType);
    return last === null || this.tools.clock.now() - last >= scheduleIntervalHours * HOUR;
  }

  /** A failure is in the history and in the log; the others run all the same. */
  private async run(versionType: VersionType): Promise<void> {
    const actor = systemActor(this.tools.clock.now());
    const order = { versionType, isScheduled: true, isDryRun: false, actor, wish: {} };
    await this.runs.run(order).catch(() => undefined);
  }

  /** Objects that were too young to be dropped right after their versions go now. */
  private async maintainAll(): Promise<void> {
    const { store, maintenance } = this.tools;
    for (const kind of REPOSITORY_KINDS) {
      for (const name of await store.list(kind)) maintenance.request({ kind, name });
    }
  }
}
