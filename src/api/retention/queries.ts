/** Reads and writes of the history of cleanups, and of the configurations that they go through. */

import type { Selectable } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { RetentionRunsTable } from '../../db/schema.ts';
import type { OwnRetention } from '../../domain/retention-plan.ts';

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

/** Of all types, or of one, while nothing of the kind can be running: what has no end was cut off. */
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

/** When the schedule last began a run of this type that nobody cut off; null: never. */
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

/** Newest first. */
export async function listRuns(
  db: Db,
  {
    take,
    skip,
    from,
    to,
  }: { take: number; skip: number; from?: number | undefined; to?: number | undefined },
): Promise<{ rows: RetentionRunRow[]; total: number }> {
  let runs = db.selectFrom('retention_runs');
  if (from !== undefined) runs = runs.where('started_at', '>=', from);
  if (to !== undefined) runs = runs.where('started_at', '<=', to);
  const { total } = await runs.select((of) => of.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await runs
    .selectAll()
    .orderBy('started_at', 'desc')
    .orderBy('seq', 'desc')
    .limit(take)
    .offset(skip)
    .execute();
  return { rows, total };
}

export interface CleanedResource {
  id: string;
  name: string;
  /** Null of a composite, which has none. */
  own: OwnRetention | null;
  /** Of a configuration whether nodes get parameters from here. */
  isServerManaged: boolean;
}

export async function listConfigurations(db: Db): Promise<CleanedResource[]> {
  const rows = await db
    .selectFrom('configurations as c')
    .leftJoin('configuration_settings as s', 's.configuration_id', 'c.id')
    .select(['c.id', 'c.name', 'c.use_server_managed_parameters', 's.retention_enabled'])
    .select(['s.retention_keep_versions', 's.retention_keep_days', 's.retention_keep_release_versions'])
    .orderBy('c.name')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    own: {
      enabled: toFlag(row.retention_enabled),
      keepVersions: row.retention_keep_versions,
      keepDays: row.retention_keep_days,
      keepReleaseVersions: toFlag(row.retention_keep_release_versions),
    },
    isServerManaged: row.use_server_managed_parameters === 1,
  }));
}

export async function listComposites(db: Db): Promise<CleanedResource[]> {
  const rows = await db.selectFrom('composites').select(['id', 'name']).orderBy('name').execute();
  return rows.map((row) => ({ ...row, own: null, isServerManaged: false }));
}

export async function isThere(db: Db, kind: 'configurations' | 'composites', id: string): Promise<boolean> {
  const row = await db.selectFrom(kind).select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

function toFlag(value: number | null): boolean | null {
  return value === null ? null : value === 1;
}
