/**
 * What the metrics say about the fleet. Small facts are read at each scrape. Counts that look at every row are made at
 * most once a minute, one slice of the table at a time.
 */

import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Database, Db } from '../../db/database.ts';
import { EVIDENCE } from '../../db/node-tables.ts';
import type { Schema } from '../../db/schema.ts';
import { DAY, MINUTE } from '../../lib/clock.ts';
import type {
  CertificateTerm,
  CleanupFacts,
  EvidenceCount,
  FleetFacts,
  NodeCount,
} from '../../lib/metrics/fleet-metrics.ts';
import { isStale, type StalenessRule } from '../nodes/queries.ts';
import { readServerSettings } from '../settings/queries.ts';

type Counts = Pick<FleetFacts, 'stale' | 'certificates' | 'countedAt'>;

/**
 * With 100,000 nodes one counting takes some 0.2 s of processor time, in slices of 1 ms between which polls are
 * answered. However often the metrics are read, a new counting begins only after this time.
 */
const COUNTS_LIFETIME = MINUTE;

/** Rows of one slice. Counting them takes some 1 ms, in which no poll is answered. */
const SLICE = 500;

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
    const { stalenessMultiplier } = await readServerSettings(read);
    let stale = 0;
    const rule = { now, stalenessMultiplier };
    for await (const found of slices((after) => countStaleIn(read, rule, after))) stale += found.stale;
    const certificates = { expired: 0, under_7: 0, under_30: 0, under_90: 0, more: 0 };
    for await (const found of slices((after) => countCertificatesIn(read, now, after)))
      for (const term of Object.keys(certificates) as CertificateTerm[]) certificates[term] += found[term];
    return { stale, certificates, countedAt: now };
  }
}

/** A slice of a table: the `rowid` of its last row, or null where no row was left. */
interface Slice {
  last: number | null;
}

/** Counts a table slice by slice, from its first row to its last. Requests are answered between two slices. */
async function* slices<T extends Slice>(countAfter: (rowid: number) => Promise<T>): AsyncGenerator<T> {
  for (let after = 0; ; ) {
    const slice = await countAfter(after);
    if (slice.last === null) return;
    yield slice;
    after = slice.last;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Reads the counts that triggers keep. */
async function countNodesByStatus(db: Db): Promise<NodeCount[]> {
  const rows = await db.selectFrom('node_counts').selectAll().execute();
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

/** Counts the stale nodes of the slice after a row. */
function countStaleIn(db: Db, rule: StalenessRule, after: number): Promise<Slice & { stale: number }> {
  const nodes = db.selectFrom('nodes').select(['id', 'configuration_mode_interval_ms']);
  return db
    .selectFrom(sliceAfter(after, nodes).as('nodes'))
    .select([lastRow.as('last'), total(isStale(rule)).as('stale')])
    .executeTakeFirstOrThrow();
}

/** Counts the current certificates of the slice after a row, by the time for which they are still valid. */
function countCertificatesIn(
  db: Db,
  now: number,
  after: number,
): Promise<Slice & Record<CertificateTerm, number>> {
  const certificates = db.selectFrom('node_certificates').select(['state', 'not_after']);
  const between = (from: number, to: number) =>
    total(sql<SqlBool>`state = 'current' and not_after > ${from} and not_after <= ${to}`);
  const [week, month, quarter] = [now + 7 * DAY, now + 30 * DAY, now + 90 * DAY];
  return db
    .selectFrom(sliceAfter(after, certificates).as('certificates'))
    .select([
      lastRow.as('last'),
      between(Number.MIN_SAFE_INTEGER, now).as('expired'),
      between(now, week).as('under_7'),
      between(week, month).as('under_30'),
      between(month, quarter).as('under_90'),
      between(quarter, Number.MAX_SAFE_INTEGER).as('more'),
    ])
    .executeTakeFirstOrThrow();
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

/** SQLite's number of a row in its table. */
const rowid = sql<number>`rowid`;
const lastRow = sql<number | null>`max(row_number)`;

function sliceAfter<T extends keyof Schema, O>(row: number, table: SelectQueryBuilder<Schema, T, O>) {
  return table.select(rowid.as('row_number')).where(rowid, '>', row).orderBy(rowid).limit(SLICE);
}

function total(condition: ReturnType<typeof isStale>) {
  return sql<number>`coalesce(sum(${condition}), 0)`;
}
