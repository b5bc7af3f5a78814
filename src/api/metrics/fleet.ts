/**
 * What the metrics say about the fleet. Small facts are read at each scrape. Counts that look at every node are made at
 * most once a minute.
 */

import type { Database, Db } from '../../db/database.ts';
import { TimeCounts } from '../../db/node-conditions.ts';
import { EVIDENCE } from '../../db/node-tables.ts';
import { stalenessRule } from '../../db/staleness.ts';
import { DAY, MINUTE } from '../../lib/clock.ts';
import type {
  CertificateTerm,
  CleanupFacts,
  EvidenceCount,
  FleetFacts,
  NodeCount,
} from '../../lib/metrics/fleet-metrics.ts';
import { countAwaiting } from '../../security/awaiting-certificates.ts';

type Counts = Pick<FleetFacts, 'stale' | 'certificates' | 'countedAt'>;

/**
 * With 100,000 nodes one counting takes some 20 ms of processor time, in parts of 1 ms between which polls are answered.
 * However often the metrics are read, a new counting begins only after this time.
 */
const COUNTS_LIFETIME = MINUTE;

export class FleetReader {
  private readonly database: Database;
  private counts: { begunAt: number; made: Promise<Counts> } | undefined;

  constructor(database: Database) {
    this.database = database;
  }

  async read(now: number): Promise<FleetFacts> {
    const { read } = this.database;
    return {
      nodes: await countNodesByStatus(read),
      running: await countByEvidence(read),
      awaiting: await countAwaiting(read),
      generation: await readGeneration(read),
      cleanups: await listLastCleanups(read),
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
    const { read } = this.database;
    const counts = new TimeCounts(read, await stalenessRule(this.database, now));
    const stale = await counts.stale();
    const certificates = await countCertificates(counts, now);
    return { stale, certificates, countedAt: now };
  }
}

/** Reads the counts that triggers keep. */
async function countNodesByStatus(db: Db): Promise<NodeCount[]> {
  const rows = await db
    .selectFrom('node_counts')
    .selectAll()
    .orderBy('status')
    .orderBy('lcm_status')
    .execute();
  return rows.map(({ status, lcm_status: lcmStatus, count }) => ({ status, lcmStatus, count }));
}

/** Reads the counts that triggers keep. All three are told, so that a dashboard knows a zero from nothing. */
async function countByEvidence(db: Db): Promise<EvidenceCount[]> {
  const rows = await db.selectFrom('evidence_counts').selectAll().execute();
  return EVIDENCE.map((evidence) => ({
    evidence,
    count: rows.find((row) => row.evidence === evidence)?.count ?? 0,
  }));
}

/** Counts the nodes by the time for which their certificates are still valid. */
async function countCertificates(counts: TimeCounts, now: number): Promise<Record<CertificateTerm, number>> {
  const [week, month, quarter] = [now + 7 * DAY, now + 30 * DAY, now + 90 * DAY];
  return {
    expired: await counts.certificatesEnding(Number.MIN_SAFE_INTEGER, now),
    under_7: await counts.certificatesEnding(now, week),
    under_30: await counts.certificatesEnding(week, month),
    under_90: await counts.certificatesEnding(month, quarter),
    more: await counts.certificatesEnding(quarter, Number.MAX_SAFE_INTEGER),
  };
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
