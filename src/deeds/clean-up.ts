/** Runs the cleanups, one of each type at a time, and writes their results to the history. */

import type { Database } from '../db/database.ts';
import {
  endInterruptedRuns,
  finishRun,
  insertRun,
  listOpenTypes,
  type VersionType,
} from '../db/retention-runs.ts';
import { readRetentionSettings } from '../db/settings.ts';
import { cleanupLock } from '../domain/lock-names.ts';
import type { RetentionRule } from '../domain/retention-plan.ts';
import type { RetentionSettings } from '../domain/server-settings.ts';
import type { Clock } from '../lib/clock.ts';
import { shuttingDown } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { CompositeReader } from '../resolve/composites.ts';
import { readInUse } from '../resolve/in-use.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import { type CleanupRun, type DeletedVersion, Outcome, safeMessage } from '../versions/cleanup-run.ts';
import { cleanVersions, type InUse, type VersionCleanupTools } from '../versions/retention.ts';
import { cleanPast } from './clean-past.ts';
import { cleanRecords, type RecordRule } from './clean-records.ts';
import { readProposedDrafts } from './set-drafts.ts';

export interface CleanupTools extends VersionCleanupTools {
  database: Database;
  composites: CompositeReader;
  clock: Clock;
  /** What all reports may take, in bytes; null where there is no limit. */
  maxReportBytes: number | null;
  /** Called with how many reports a cleanup deleted because all together were too large. */
  onOverSize(count: number): void;
}

/** What is kept instead. A member that is null or absent comes from the server's settings. */
export type KeptInstead = {
  [K in keyof (RetentionRule & RecordRule)]?: (RetentionRule & RecordRule)[K] | null | undefined;
};

/** A request for a cleanup. */
export interface CleanupRequest {
  versionType: VersionType;
  isScheduled: boolean;
  isDryRun: boolean;
  actor: Actor;
  overrides: KeptInstead;
}

export interface RunResult {
  runId: string;
  versionType: VersionType;
  isDryRun: boolean;
  deletedCount: number;
  keptCount: number;
  /** Null for records, which are too many to be listed. */
  deletedVersions: readonly DeletedVersion[] | null;
}

/** The kinds of repositories whose versions a cleanup deletes. Other types are of records. */
const KINDS = { Configuration: 'configurations', Composite: 'composites', Parameter: 'parameters' } as const;
const ofVersions = (type: VersionType): type is keyof typeof KINDS => type in KINDS;

const INTERRUPTED = 'The server ended while the cleanup ran; what was deleted until then is gone';
const NOT_RECORDED =
  'The database could not be written when the cleanup ended; what was deleted until then is gone';
const NOT_REPACKED =
  'Nothing was repacked, as this server has no git: the deleted versions still take up space';

/** What a node is offered and runs is as old as what it said of itself. */
const RECORD_TABLES = { Report: ['reports'], StatusEvent: ['status_events', 'node_events'] } as const;

export class RetentionRuns {
  private readonly tools: CleanupTools;
  private readonly running = new Set<Promise<unknown>>();
  private readonly ending = new AbortController();

  constructor(tools: CleanupTools) {
    this.tools = tools;
  }

  /** Ends the records of runs whose server has ended. A run that goes on at any server holds the lock of its type. */
  async endInterrupted(): Promise<void> {
    const { database, clock, locks } = this.tools;
    for (const versionType of await listOpenTypes(database.read)) {
      const end = { now: clock.now(), error: INTERRUPTED, versionType };
      await locks.runIfFree(cleanupLock(versionType), () => endInterruptedRuns(database.write, end));
    }
  }

  /** Makes each run end after its current step, and waits for all of them. */
  async close(): Promise<void> {
    this.ending.abort(shuttingDown());
    while (this.running.size > 0) await Promise.allSettled(this.running);
  }

  /** Waits for an earlier run of the same type, then runs. Throws what the run failed with, once that is recorded. */
  async run(request: CleanupRequest): Promise<RunResult> {
    const run = this.begin(request);
    this.running.add(run);
    try {
      return await run;
    } finally {
      this.running.delete(run);
    }
  }

  private async begin(request: CleanupRequest): Promise<RunResult> {
    const { database, locks } = this.tools;
    await database.requireWritable();
    return locks.run(cleanupLock(request.versionType), () => this.carryOut(request));
  }

  private async carryOut(request: CleanupRequest): Promise<RunResult> {
    const { database, clock } = this.tools;
    const { signal } = this.ending;
    signal.throwIfAborted();
    const { versionType, isScheduled, isDryRun } = request;
    const [runId, now, outcome] = [newId(), clock.now(), new Outcome()];
    await endInterruptedRuns(database.write, { now, error: NOT_RECORDED, versionType });
    await insertRun(database.write, {
      id: runId,
      started_at: now,
      version_type: versionType,
      is_scheduled: Number(isScheduled),
      is_dry_run: Number(isDryRun),
    });
    let failure: unknown;
    try {
      await this.clean(request, { now, isDryRun, runId, outcome, signal });
      failure = outcome.firstFailure?.error;
    } catch (error) {
      failure = error;
    }
    await this.finish(request, runId, outcome, failure);
    if (failure !== undefined) throw failure;
    const { deletedCount, keptCount } = outcome;
    const deletedVersions = ofVersions(versionType) ? outcome.deletedVersions : null;
    return { runId, versionType, isDryRun, deletedCount, keptCount, deletedVersions };
  }

  private async clean({ versionType, overrides, actor }: CleanupRequest, run: CleanupRun): Promise<void> {
    const { tools } = this;
    const settings = await readRetentionSettings(tools.database.read);
    if (!ofVersions(versionType)) {
      const rule = recordRule(versionType, overrides, settings);
      for (const table of RECORD_TABLES[versionType])
        await cleanRecords(tools.database, table, rule, run, tools.maxReportBytes);
      if (versionType === 'StatusEvent') await cleanPast(tools.database, settings.historyKeepDays, run);
      return;
    }
    const { keepVersions, keepDays, keepReleaseVersions } = overrides;
    const rule = {
      keepVersions: keepVersions ?? settings.keepVersions,
      keepDays: keepDays ?? settings.keepDays,
      keepReleaseVersions: keepReleaseVersions ?? settings.keepReleaseVersions,
    };
    const kind = KINDS[versionType];
    return cleanVersions(tools, { ...run, kind, actor, rule, readInUse: () => readAllInUse(tools) });
  }

  private async finish(
    request: CleanupRequest,
    runId: string,
    outcome: Outcome,
    failure: unknown,
  ): Promise<void> {
    const { database, clock, log } = this.tools;
    const { deletedCount, keptCount, overSizeCount } = outcome;
    const { versionType, isScheduled, isDryRun, actor } = request;
    // Only a limit of reports by size is worth a word.
    const ofSize = overSizeCount > 0 ? { overSizeCount } : {};
    const wasInterrupted = this.ending.signal.aborted && failure !== undefined;
    await database.write.transaction().execute(async (trx) => {
      await finishRun(trx, runId, {
        completed_at: clock.now(),
        deleted_count: deletedCount,
        kept_count: keptCount,
        error: wasInterrupted ? INTERRUPTED : this.errorOf(outcome, failure),
        was_interrupted: Number(wasInterrupted),
      });
      if (isDryRun || deletedCount === 0) return;
      const details = { versionType, isScheduled, deletedCount, keptCount, ...ofSize };
      await recordAudit(trx, actor, { action: 'retention.run', resourceId: runId, details });
    });
    if (!isDryRun && overSizeCount > 0) this.tools.onOverSize(overSizeCount);
    const facts = { runId, versionType, isScheduled, isDryRun, deletedCount, keptCount, ...ofSize };
    if (failure === undefined) log.info(facts, 'a cleanup has ended');
    else log.error({ ...facts, err: failure }, 'a cleanup has failed');
  }

  /** The error text in the history of a run that was not interrupted. */
  private errorOf({ failureText, leftObjects }: Outcome, failure: unknown): string | null {
    if (failure !== undefined) return failureText ?? safeMessage(failure);
    return leftObjects && !this.tools.maintenance.isAvailable ? NOT_REPACKED : null;
  }
}

function recordRule(
  versionType: 'Report' | 'StatusEvent',
  { keepCount, keepDays }: CleanupRequest['overrides'],
  settings: RetentionSettings,
): RecordRule {
  const isOfReports = versionType === 'Report';
  return {
    keepCount: keepCount ?? (isOfReports ? settings.reportKeepCount : settings.statusEventKeepCount),
    keepDays: keepDays ?? (isOfReports ? settings.reportKeepDays : settings.statusEventKeepDays),
  };
}

/** What nodes get, composites are pinned to, and change sets propose. */
async function readAllInUse(tools: CleanupTools): Promise<InUse> {
  const inUse = await readInUse(tools);
  return {
    versions: (repository) => inUse.versions(repository),
    deliveries: (configurationName) => inUse.deliveries(configurationName),
    drafts: await readProposedDrafts(tools.database.read),
  };
}
