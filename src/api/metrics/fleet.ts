/**
 * What the metrics say about the fleet. A thread counts nodes, their times at most once a minute; all else is read at each
 * scrape.
 */

import type { Db } from '../../db/database.ts';
import { EVIDENCE } from '../../db/node-tables.ts';
import { stalenessRule } from '../../db/staleness.ts';
import { DAY, MINUTE } from '../../lib/clock.ts';
import { CERTIFICATE_TERMS, type CleanupFacts, type FleetFacts } from '../../lib/metrics/fleet-metrics.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import { countAwaiting } from '../../security/awaiting-certificates.ts';

type Counts = Pick<FleetFacts, 'stale' | 'certificates' | 'countedAt'>;

/**
 * With 100,000 nodes one counting takes some 50 ms of processor time beside the event loop. However often the metrics are read,
 * a new one begins only after this time.
 */
const COUNTS_LIFETIME = MINUTE;

/** In whose turn the nodes are counted. */
const CALLER = 'server metrics';

export class FleetReader {
  private readonly tools: Pick<FleetTools, 'database' | 'questions'>;
  private counts: { begunAt: number; made: Promise<Counts> } | undefined;

  constructor(tools: FleetReader['tools']) {
    this.tools = tools;
  }

  async read(now: number): Promise<FleetFacts> {
    const { database, questions } = this.tools;
    const { nodes, running } = await questions.run(CALLER, 'fleetKinds', undefined);
    return {
      nodes,
      // All three are told, so that a dashboard knows a zero from nothing.
      running: EVIDENCE.map((evidence) => ({ evidence, count: running[evidence] })),
      awaiting: await countAwaiting(database.read),
      generation: await readGeneration(database.read),
      cleanups: await listLastCleanups(database.read),
      ...(await this.currentCounts(now)),
    };
  }

  /** Callers that come while a counting is in progress wait for that one. A failed counting is not kept. */
  private currentCounts(now: number): Promise<Counts> {
    if (this.counts && now - this.counts.begunAt < COUNTS_LIFETIME) return this.counts.made;
    const counts = { begunAt: now, made: this.count(now) };
    this.counts = counts;
    counts.made.catch(() => {
      if (this.counts === counts) this.counts = undefined;
    });
    return counts.made;
  }

  private async count(now: number): Promise<Counts> {
    const { database, questions } = this.tools;
    const rule = await stalenessRule(database, now);
    const until = [now, now + 7 * DAY, now + 30 * DAY, now + 90 * DAY, Number.MAX_SAFE_INTEGER];
    const { stale, ending } = await questions.run(CALLER, 'fleetTimes', { rule, until });
    const terms = CERTIFICATE_TERMS.map((term, at) => [term, ending[at] ?? 0]);
    return { stale, certificates: Object.fromEntries(terms) as Counts['certificates'], countedAt: now };
  }
}

async function readGeneration(db: Db): Promise<number> {
  return (await db.selectFrom('generation').select('value').executeTakeFirstOrThrow()).value;
}

/** Reads for each type of version the last run that has ended and was no dry run. */
async function listLastCleanups(db: Db): Promise<CleanupFacts[]> {
  const last = db
    .selectFrom('retention_runs')
    .select((of) => of.fn.max('seq').as('seq'))
    .where('completed_at', 'is not', null)
    .where('is_dry_run', '=', 0)
    .groupBy('version_type');
  const rows = await db
    .selectFrom('retention_runs')
    .select(['version_type', 'completed_at', 'error'])
    .where('seq', 'in', last)
    .execute();
  return rows.map(({ version_type: versionType, completed_at, error }) => {
    return { versionType, completedAt: completed_at ?? 0, hasFailed: error !== null };
  });
}
