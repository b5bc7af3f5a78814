/** What every cleanup is given: its tools, what it is to do, and how it is carried out. */

import type { Database } from '../../db/open.ts';
import type { RetentionRule } from '../../domain/retention-plan.ts';
import type { Maintenance } from '../../git/maintenance.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Locks } from '../../lib/locks.ts';
import type { Log } from '../../lib/log.ts';
import type { CompositeReader } from '../../resolve/composites.ts';
import type { Actor } from '../../security/audit.ts';
import type { GitStore } from '../../versions/store.ts';
import type { Outcome } from './outcome.ts';
import type { VersionType } from './queries.ts';

export interface CleanupTools {
  database: Database;
  store: GitStore;
  composites: CompositeReader;
  maintenance: Maintenance;
  locks: Locks;
  clock: Clock;
  log: Log;
}

/** What is kept of a node's records: the newest, and all that are younger than so many days. */
export interface RecordRule {
  keepCount: number;
  keepDays: number;
}

type Wish<T> = { [K in keyof T]?: T[K] | null | undefined };

export interface Order {
  versionType: VersionType;
  isScheduled: boolean;
  isDryRun: boolean;
  actor: Actor;
  /** What is null or absent comes from the server's settings. */
  wish: Wish<RetentionRule & RecordRule>;
}

/** An order for versions, with the rule that came of it. */
export type VersionOrder = Order & { rule: RetentionRule };

export interface CleanupCircumstances {
  /** When the run began. */
  now: number;
  isDryRun: boolean;
  runId: string;
  outcome: Outcome;
  /** Aborted when the server is to end. */
  signal: AbortSignal;
}
