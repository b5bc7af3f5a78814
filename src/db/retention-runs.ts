/** Reads and writes of the history of cleanups. */

import type { Selectable } from 'kysely';
import type { Db } from './database.ts';
import { type Page, type PageQuery, pageOf } from './rows.ts';
import type { RetentionRunsTable } from './schema.ts';

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

/** The types of which a run is going on, or was interrupted. */
export async function listOpenTypes(db: Db): Promise<VersionType[]> {
  const rows = await db
    .selectFrom('retention_runs')
    .select('version_type')
    .distinct()
    .where('completed_at', 'is', null)
    .execute();
  return rows.map((row) => row.version_type);
}

/**
 * Ends the records of interrupted runs of a type. The caller holds the lock of its cleanups, so none is going on, and each
 * record without an end is of an interrupted run.
 */
export async function endInterruptedRuns(
  db: Db,
  { now, error, versionType }: { now: number; error: string; versionType: VersionType },
): Promise<void> {
  await db
    .updateTable('retention_runs')
    .set({ completed_at: now, error, was_interrupted: 1 })
    .where('completed_at', 'is', null)
    .where('version_type', '=', versionType)
    .execute();
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
