/** Reads of what the metrics tell of the fleet; what has to look at each node does so a slice at a time. */

import { type SqlBool, sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import { DAY } from '../../lib/clock.ts';
import type { CertificateTerm, CleanupFacts, NodeCount } from '../../lib/metrics/fleet-metrics.ts';
import { isStale, type StalenessRule } from '../nodes/queries.ts';

/** Part of a table: where it ends (null: that was all), and what was counted in it. */
export interface Slice<T> {
  last: number | null;
  counted: T;
}

/** Rows of a slice: some 1 ms, in which no poll is answered. */
const SLICE = 500;

/** From the counts that triggers keep. */
export async function countNodesByStatus(db: Db): Promise<NodeCount[]> {
  const rows = await db.selectFrom('node_counts').selectAll().execute();
  return rows.map(({ status, lcm_status: lcmStatus, count }) => ({ status, lcmStatus, count }));
}

/** Stale nodes among the next ones in the table. */
export async function countStaleIn(db: Db, rule: StalenessRule, after: number): Promise<Slice<number>> {
  const slice = db
    .selectFrom('nodes')
    .select([rowid.as('place'), 'id', 'configuration_mode_interval_ms'])
    .where(rowid, '>', after)
    .orderBy(rowid)
    .limit(SLICE)
    .as('nodes');
  const { last, stale } = await db
    .selectFrom(slice)
    .select((of) => of.fn.max<number | null>('nodes.place').as('last'))
    .select(total(isStale(rule)).as('stale'))
    .executeTakeFirstOrThrow();
  return { last, counted: stale };
}

/** Of the next certificates in the table, those in use, by how long they are still good. */
export async function countCertificatesIn(
  db: Db,
  now: number,
  after: number,
): Promise<Slice<Record<CertificateTerm, number>>> {
  const slice = db
    .selectFrom('node_certificates')
    .select([rowid.as('place'), 'state', 'not_after'])
    .where(rowid, '>', after)
    .orderBy(rowid)
    .limit(SLICE)
    .as('certificates');
  const between = (from: number, to: number) =>
    total(sql<SqlBool>`state = 'current' and not_after > ${from} and not_after <= ${to}`);
  const [week, month, quarter] = [now + 7 * DAY, now + 30 * DAY, now + 90 * DAY];
  const { last, ...counted } = await db
    .selectFrom(slice)
    .select((of) => of.fn.max<number | null>('certificates.place').as('last'))
    .select([
      between(Number.MIN_SAFE_INTEGER, now).as('expired'),
      between(now, week).as('under_7'),
      between(week, month).as('under_30'),
      between(month, quarter).as('under_90'),
      between(quarter, Number.MAX_SAFE_INTEGER).as('more'),
    ])
    .executeTakeFirstOrThrow();
  return { last, counted };
}

export async function readGeneration(db: Db): Promise<number> {
  return (await db.selectFrom('generation').select('value').executeTakeFirstOrThrow()).value;
}

/** Of each type the last run that ended and was no trial. */
export async function listLastCleanups(db: Db): Promise<CleanupFacts[]> {
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

/** Where a row stands in its table. */
const rowid = sql<number>`rowid`;

function total(condition: ReturnType<typeof isStale>) {
  return sql<number>`coalesce(sum(${condition}), 0)`;
}
