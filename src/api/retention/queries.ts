/** Reads and writes of the history of cleanups. */

import type { Selectable } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { RetentionRunsTable } from '../../db/schema.ts';
import { type Page, type PageQuery, pageOf } from '../crud/rows.ts';

export type RetentionRunRow = Selectable<RetentionRunsTable>;
export type VersionType = RetentionRunRow['version_type'];

export async function insertRun(
  db: Db,
  run: Pick<RetentionRunRow, 'id' | 'started_at' | 'version_type' | 'is_scheduled' | 'is_dry_run'>,
): Promise<void> {
  const open = { completed_at: null, deleted_count: 0, kept_count: 0, error: null, was_interrupted: 0 };
  await db
    .insertInto('retention_runs')
    .values({ ...run, ...open })
    .execute();
}

export async function finishRun(
  db: Db,
  id: string,
  end: Pick<RetentionRunRow, 'completed_at' | 'deleted_count' | 'kept_count' | 'error' | 'was_interrupted'>,
): Promise<void> {
  await db.updateTable('retention_runs').set(end).where('id', '=', id).execute();
}

/**
 * Ends the records of interrupted runs, of all types or of one. No run of these types may be going on, so each record
 * without an end is of an interrupted run.
 */
export async function endInterruptedRuns(
  db: Db,
  end: { now: number; error: string; versionType?: VersionType },
): Promise<void> {
  const { now, error, versionType } = end;
  const open = db
    .updateTable('retention_runs')
    .set({ completed_at: now, error, was_interrupted: 1 })
    .where('completed_at', 'is', null);
  await (versionType ? open.where('version_type', '=', versionType) : open).execute();
}

/** When the schedule last began a run of this type that was not interrupted. Null means never. */
export async function lastScheduledStart(db: Db, versionType: VersionType): Promise<number | null> {
  const row = await db
    .selectFrom('retention_runs')
    .select('started_at')
    .where('version_type', '=', versionType)
    .where('is_scheduled', '=', 1)
    .where('was_interrupted', '=', 0)
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.started_at ?? null;
}

/** The runs that began in this span of time, the newest first. */
export function listRuns(
  db: Db,
  { from, to, ...query }: PageQuery & { from?: number | undefined; to?: number | undefined },
): Promise<Page<RetentionRunRow>> {
  let runs = db.selectFrom('retention_runs').selectAll();
  if (from !== undefined) runs = runs.where('started_at', '>=', from);
  if (to !== undefined) runs = runs.where('started_at', '<=', to);
  return pageOf(runs.orderBy('started_at', 'desc').orderBy('seq', 'desc'), query);
}
