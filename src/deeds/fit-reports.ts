/**
 * The limit of all reports in bytes (`HAWSER_REPORT_BYTES`): the oldest of the whole fleet go first, in the order in which
 * they were written, but never the newest report of a node.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import { reportBytes } from '../db/report-bytes.ts';
import type { CleanupRun } from '../versions/cleanup-run.ts';
import { deleteInTurns, moveToDeleted } from './delete-records.ts';

/** How many reports are read in one turn. */
const REPORTS_AT_ONCE = 500;
/** The keys that are collected before their reports are deleted. */
const KEYS_AT_ONCE = 100_000;

/** What a dry run would have deleted before by other rules. */
export interface Gone {
  /** The bytes of these reports, as `reportBytes` counts them. */
  bytes: number;
  /** The highest `seq` of them for each node. */
  lastByNode: ReadonlyMap<string, number>;
}

/**
 * Deletes reports until the others take at most `maxBytes`, or says in a dry run how many that would be. It reads no report
 * where the whole table is small enough. Otherwise it reads all of them once, in short turns.
 * @throws what ends the run: the signal's reason, or a fault of the database; what was deleted until then is gone
 */
export async function fitReports(
  database: Database,
  maxBytes: number,
  gone: Gone,
  run: CleanupRun,
): Promise<void> {
  const { read } = database;
  if ((await boundOf(read)) <= maxBytes) return;
  let excess = (await sumOf(read, run)) - gone.bytes - maxBytes;
  for (let after = 0; excess > 0; ) {
    const due: number[] = [];
    while (excess > 0 && due.length < KEYS_AT_ONCE) {
      const reports = await reportsAfter(read, after);
      if (reports.length === 0) break;
      for (const { seq, nodeId, bytes, hasNewer } of reports) {
        if (excess <= 0) break;
        after = seq;
        if (hasNewer === 0 || seq <= (gone.lastByNode.get(nodeId) ?? 0)) continue;
        due.push(seq);
        excess -= bytes;
      }
      await rest(run);
    }
    if (due.length === 0) return;
    await take(database, due, run);
  }
}

async function take(database: Database, due: readonly number[], run: CleanupRun): Promise<void> {
  const { outcome } = run;
  const before = outcome.deletedCount;
  if (run.isDryRun) moveToDeleted(run, due.length);
  else await deleteInTurns(database, 'reports', due, run.now, run);
  outcome.overSizeCount += outcome.deletedCount - before;
}

/** The bytes that reports take at most, without reading them. */
async function boundOf(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select ${engineOf(db).tableBytesAtMost('reports')} as bytes`.execute(db);
  return rows[0]?.bytes ?? 0;
}

async function sumOf(db: Db, run: CleanupRun): Promise<number> {
  let [sum, after] = [0, 0];
  for (;;) {
    const { rows } = await sql<{ last: number | null; bytes: number }>`
      select max(seq) as last, cast(coalesce(sum(bytes), 0) as bigint) as bytes
      from (select seq, ${reportBytes(db)} as bytes from reports
        where seq > ${after} order by seq limit ${REPORTS_AT_ONCE}) slice`.execute(db);
    const { last = null, bytes = 0 } = rows[0] ?? {};
    if (last === null) return sum;
    [sum, after] = [sum + bytes, last];
    await rest(run);
  }
}

interface SizedReport {
  seq: number;
  nodeId: string;
  bytes: number;
  /** 0 for the newest report of its node. */
  hasNewer: number;
}

async function reportsAfter(db: Db, after: number): Promise<SizedReport[]> {
  const { rows } = await sql<SizedReport>`
    select seq, node_id as "nodeId", ${reportBytes(db)} as bytes,
      case when exists (select 1 from reports newer where newer.node_id = reports.node_id
        and (newer.timestamp, newer.seq) > (reports.timestamp, reports.seq)) then 1 else 0 end as "hasNewer"
    from reports where seq > ${after} order by seq limit ${REPORTS_AT_ONCE}`.execute(db);
  return rows;
}

/** Lets others have their turn. */
async function rest({ signal }: CleanupRun): Promise<void> {
  await nextTurn();
  signal.throwIfAborted();
}
