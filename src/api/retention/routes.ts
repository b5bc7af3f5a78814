/** `/api/v1/retention`: cleanups of old versions and records, and the history of those that ran. */

import type { z } from 'zod';
import type { Database } from '../../db/open.ts';
import { json, page } from '../../http/answer.ts';
import { WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type JsonBody, type Route, route } from '../../http/route.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { listRuns, type RetentionRunRow, type VersionType } from './queries.ts';
import type { RetentionRuns, RunResult } from './runs.ts';
import { RecordCleanup, RetentionResult, RetentionRun, RunFilter, VersionCleanup } from './schemas.ts';

const PATH = '/api/v1/retention';

const COMMON = {
  tags: ['Retention'],
  access: { kind: 'permission', permission: 'retention.manage' },
} as const;

const OF_VERSIONS =
  'A version goes when it is beyond the newest `keepVersions` and older than `keepDays`, and is no release while ' +
  '`keepReleaseVersions`. Never goes what a node gets now, what a composite is pinned to, the newest published ' +
  'version and the highest stable one. ';

const VERSION_PROBLEMS = ['versions_changed', ...WRITING_REPOSITORIES];

export function retentionRoutes(database: Database, runs: RetentionRuns): Route[] {
  const versions = { kind: 'json', schema: VersionCleanup, isOptional: true } as const;
  const records = { kind: 'json', schema: RecordCleanup, isOptional: true } as const;
  return [
    cleanupRoute(runs, 'Configuration', versions, {
      id: 'cleanUpConfigurations',
      path: `${PATH}/configurations/cleanup`,
      summary: 'Delete old published versions of configurations',
      description: `${OF_VERSIONS}A configuration's own retention goes before the body.`,
      problems: VERSION_PROBLEMS,
    }),
    cleanupRoute(runs, 'Composite', versions, {
      id: 'cleanUpComposites',
      path: `${PATH}/composite-configurations/cleanup`,
      summary: 'Delete old published versions of composites',
      description: OF_VERSIONS,
      problems: VERSION_PROBLEMS,
    }),
    cleanupRoute(runs, 'Parameter', versions, {
      id: 'cleanUpParameters',
      path: `${PATH}/parameters/cleanup`,
      summary: 'Delete old parameter files, drafts and published ones',
      description:
        `${OF_VERSIONS}Counted per scope value and major, drafts and published files together. A file counts as in ` +
        'use when a node would get it that carries the scope value, whether or not one does. The own retention of ' +
        'the configuration goes before the body.',
      problems: VERSION_PROBLEMS,
    }),
    cleanupRoute(runs, 'Report', records, {
      id: 'cleanUpReports',
      path: `${PATH}/reports/cleanup`,
      summary: 'Delete old reports',
      description: 'Of each node the newest `keepCount` stay, and all younger than `keepDays`.',
    }),
    cleanupRoute(runs, 'StatusEvent', records, {
      id: 'cleanUpStatusEvents',
      path: `${PATH}/status-events/cleanup`,
      summary: 'Delete old status events',
      description: 'Of each node the newest `keepCount` stay, and all younger than `keepDays`.',
    }),
    runsRoute(database),
  ];
}

function cleanupRoute(
  runs: RetentionRuns,
  versionType: VersionType,
  body: JsonBody<z.output<typeof VersionCleanup>> | JsonBody<z.output<typeof RecordCleanup>>,
  {
    problems = ['shutting_down'],
    ...described
  }: Pick<Route, 'id' | 'path' | 'summary' | 'description' | 'problems'>,
): Route {
  return route({
    ...COMMON,
    ...described,
    method: 'POST',
    body: body as JsonBody<z.output<typeof VersionCleanup | typeof RecordCleanup>>,
    answers: { 200: { description: 'What was deleted, or would be', schema: RetentionResult } },
    problems,
    async handle({ body: { dryRun, ...wish }, facts: { actor } }) {
      const order = { versionType, isScheduled: false, isDryRun: dryRun, actor, wish };
      return json(toResult(await runs.run(order)));
    },
  });
}

function runsRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'listRetentionRuns',
    method: 'GET',
    path: `${PATH}/runs`,
    summary: 'List cleanups that ran, newest first',
    description: '`from` and `to` are both inclusive and mean the start of a run.',
    query: RunFilter,
    answers: { 200: { description: 'The runs', schema: RetentionRun.array() } },
    async handle({ query }) {
      const { rows, total } = await listRuns(database.read, query);
      return page(rows.map(toRun), total, query);
    },
  });
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
