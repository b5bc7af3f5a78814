/** `/api/v1/retention`: cleanups of old versions and records, and the history of those that ran. */

import type { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { listRuns, type RetentionRunRow, type VersionType } from '../../db/retention-runs.ts';
import type { RetentionRuns, RunResult } from '../../deeds/clean-up.ts';
import { WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { JsonBody, Route } from '../../http/route.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { permitted } from '../shared/routes.ts';
import { RecordCleanup, RetentionResult, RetentionRun, RunFilter, VersionCleanup } from './schemas.ts';

const OF_VERSIONS =
  'A version goes when it is beyond the newest `keepVersions` and older than `keepDays`, and is no release while ' +
  '`keepReleaseVersions`. Never goes what a node gets now, what a composite is pinned to, the newest published ' +
  'version and the highest stable one. ';

const VERSION_PROBLEMS = ['versions_changed', ...WRITING_REPOSITORIES];

const OF_RECORDS = 'Of each node the newest `keepCount` stay, and all younger than `keepDays`.';

type Overrides = z.output<typeof VersionCleanup | typeof RecordCleanup>;
const VERSIONS = { kind: 'json', schema: VersionCleanup } as const;
const RECORDS = { kind: 'json', schema: RecordCleanup } as const;

export function retentionRoutes(database: Database, runs: RetentionRuns): Route[] {
  const routes = permitted(database, ['Retention'], 'retention.manage');
  const cleanup = (
    path: string,
    versionType: VersionType,
    { body, ...declared }: Pick<Route, 'id' | 'summary' | 'description'> & { body: object },
  ) =>
    routes.update(path, {
      ...declared,
      method: 'POST',
      body: body as JsonBody<Overrides>,
      answer: { description: 'What was deleted, or would be', schema: RetentionResult },
      problems: body === VERSIONS ? VERSION_PROBLEMS : ['shutting_down'],
      async handle({ body: { dryRun: isDryRun, ...overrides }, caller: { actor } }) {
        return toResult(await runs.run({ versionType, isScheduled: false, isDryRun, actor, overrides }));
      },
    });
  return [
    cleanup('/api/v1/retention/configurations/cleanup', 'Configuration', {
      id: 'cleanUpConfigurations',
      summary: 'Delete old published versions of configurations',
      description: `${OF_VERSIONS}A configuration's own retention goes before the body.`,
      body: VERSIONS,
    }),
    cleanup('/api/v1/retention/composite-configurations/cleanup', 'Composite', {
      id: 'cleanUpComposites',
      summary: 'Delete old published versions of composites',
      description: OF_VERSIONS,
      body: VERSIONS,
    }),
    cleanup('/api/v1/retention/parameters/cleanup', 'Parameter', {
      id: 'cleanUpParameters',
      summary: 'Delete old parameter files, drafts and published ones',
      description:
        `${OF_VERSIONS}Counted per scope value and major, drafts and published files together. A file counts as in ` +
        'use when a node would get it that carries the scope value, whether or not one does. The own retention of ' +
        'the configuration goes before the body.',
      body: VERSIONS,
    }),
    cleanup('/api/v1/retention/reports/cleanup', 'Report', {
      id: 'cleanUpReports',
      summary: 'Delete old reports',
      description: OF_RECORDS,
      body: RECORDS,
    }),
    cleanup('/api/v1/retention/status-events/cleanup', 'StatusEvent', {
      id: 'cleanUpStatusEvents',
      summary: 'Delete old status events',
      description: OF_RECORDS,
      body: RECORDS,
    }),
    routes.list('/api/v1/retention/runs', {
      id: 'listRetentionRuns',
      summary: 'List cleanups that ran, newest first',
      description: '`from` and `to` are both inclusive and mean the start of a run.',
      query: RunFilter,
      answer: { description: 'The runs', schema: RetentionRun },
      rows: ({ query }) => listRuns(database.read, query),
      show: toRun,
    }),
  ];
}

function toResult({ deletedVersions, ...result }: RunResult) {
  const shown = deletedVersions?.map((version) => ({
    ...version,
    createdAt: toTimestamp(version.createdAt),
  }));
  return { ...result, deletedVersions: shown ?? null };
}

function toRun(row: RetentionRunRow) {
  return {
    id: row.id,
    startedAt: toTimestamp(row.started_at),
    completedAt: toOptionalTimestamp(row.completed_at),
    versionType: row.version_type,
    isScheduled: row.is_scheduled === 1,
    isDryRun: row.is_dry_run === 1,
    deletedCount: row.deleted_count,
    keptCount: row.kept_count,
    error: row.error,
  };
}
