/** Whether the disk has room for the reports that the settings of retention keep of this fleet, as it reports now. */

import { statfs } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Config } from '../../config.ts';
import type { Db } from '../../db/database.ts';
import { reportBytes } from '../../db/report-bytes.ts';
import { readRetentionSettings } from '../../db/settings.ts';
import type { RetentionSettings } from '../../domain/server-settings.ts';
import { DAY, HOUR } from '../../lib/clock.ts';
import { type Check, type Finding, several, warningOf } from './findings.ts';
import { formatSize } from './sizes.ts';

const NAME = 'room for reports';
/** The newest reports tell how large one is. */
const SAMPLE = 1_000;
/** Without retention, so many days ahead are looked at. */
const DAYS_AHEAD = 90;
/** How much of what is free reports may take, in what the doctor advises. */
const SHARE_OF_FREE = 0.7;
const LIMIT = 'HAWSER_REPORT_BYTES';

/** The reports of a fleet. */
interface Reports {
  nodes: number;
  count: number;
  /** How many of them came in the last 24 hours. */
  ofLastDay: number;
  /** The mean of the newest, with what its row takes. */
  bytesEach: number;
}

/** @param db null where there is no database to be read */
export async function checkReportSpace(config: Config, db: Db | null, now: number): Promise<Check> {
  if (db === null) return { name: NAME, summary: 'not looked at, for want of a database', findings: [] };
  const [reports, settings] = [await readReports(db, now), await readRetentionSettings(db)];
  const { maxReportBytes, databaseUrl, dataDir } = config;
  const present = reports.count * reports.bytesEach;
  const inTheEnd = needOf(reports, settings, maxReportBytes);
  const findings: Finding[] = [];
  if (maxReportBytes !== null && !settings.enabled)
    findings.push(
      warningOf(
        LIMIT,
        'it deletes nothing while retention is off',
        'PUT /api/v1/settings/retention {"enabled": true}',
      ),
    );
  // The disk of PostgreSQL may be in another machine.
  if (databaseUrl === null) {
    const { bavail, bsize } = await statfs(dataDir);
    findings.push(
      ...judge(reports, settings, inTheEnd - present, bavail * bsize).map((what) =>
        warningOf(dataDir, ...what),
      ),
    );
  }
  const day = `${reports.ofLastDay} in the last 24 hours`;
  const span = settings.enabled ? 'in the end' : `in ${DAYS_AHEAD} days, as retention is off`;
  const sizes = `some ${formatSize(present)} now, ${formatSize(Math.max(present, inTheEnd))} ${span}`;
  return { name: NAME, summary: `${reports.count} reports, ${day}: ${sizes}`, findings };
}

async function readReports(db: Db, now: number): Promise<Reports> {
  const { rows } = await sql<Reports>`select
    (select count(*) from nodes) as nodes,
    (select cast(coalesce(sum(count), 0) as bigint) from report_counts where span = 0) as count,
    (select cast(coalesce(sum(count), 0) as bigint) from report_counts
      where span = ${HOUR} and period > ${Math.floor((now - DAY) / HOUR)}) as "ofLastDay",
    (select cast(coalesce(avg(bytes), 0) as bigint)
      from (select ${reportBytes(db)} as bytes from reports order by seq desc limit ${SAMPLE}) newest) as "bytesEach"`.execute(
    db,
  );
  return rows[0] ?? { nodes: 0, count: 0, ofLastDay: 0, bytesEach: 0 };
}

/** The bytes that reports will take at most, if nothing changes. A limit is exceeded by what comes within a day. */
function needOf(reports: Reports, settings: RetentionSettings, limit: number | null): number {
  const { nodes, count, ofLastDay, bytesEach } = reports;
  const { enabled, reportKeepCount, reportKeepDays } = settings;
  if (!enabled) return (count + DAYS_AHEAD * ofLastDay) * bytesEach;
  // A node that reports seldom keeps its newest for longer than the days. Whoever reports nothing adds nothing.
  const kept = ofLastDay === 0 ? count : Math.max(nodes * reportKeepCount, ofLastDay * reportKeepDays);
  const most = (kept + ofLastDay) * bytesEach;
  return limit === null ? most : Math.min(most, limit + ofLastDay * bytesEach);
}

/** What is wrong where the reports to come, which take `more` bytes, have no room. */
function judge(
  { nodes, count, ofLastDay, bytesEach }: Reports,
  { enabled, reportKeepCount, reportKeepDays }: RetentionSettings,
  more: number,
  free: number,
): [what: string, remedy: string][] {
  if (more <= free) return [];
  const room = `reports will take ${formatSize(more)} more, and ${formatSize(free)} are free`;
  const rate = `${nodes} nodes sent ${ofLastDay} reports of some ${bytesEach} bytes in the last 24 hours`;
  const days = Math.floor(free / (ofLastDay * bytesEach));
  const kept = enabled
    ? `retention keeps the newest ${reportKeepCount} of each node, and all of ${reportKeepDays} days`
    : `retention is off, so the disk is full in ${several(days, 'day')}`;
  const settings = enabled ? '{"reportKeepCount": ..., "reportKeepDays": ...}' : '{"enabled": true}';
  // A part of what is free is left to everything else.
  const fitting = formatSize(count * bytesEach + free * SHARE_OF_FREE, 0).replace(' ', '');
  const remedy = `PUT /api/v1/settings/retention ${settings}, and ${LIMIT}=${fitting} keeps what fits; or let nodes report less often`;
  return [[`${room}: ${rate}; ${kept}`, remedy]];
}
