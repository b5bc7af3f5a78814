/** `hawserctl retention`: cleanups that ran, and one by hand. */

import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { type Context, command, YES } from '../declaration.ts';
import { UsageError } from '../errors.ts';
import { dateTime } from '../formats.ts';
import { readTime, readWhole } from '../values.ts';

type Result = Schemas['RetentionResult'];

const list = command({
  path: 'retention list',
  summary: 'list cleanups that ran, newest first',
  options: {
    from: { value: 'TIME', summary: 'started not before this time, such as 2026-11-20 or 7d' },
    to: { value: 'TIME', summary: 'started not after this time' },
    limit: { value: 'N', summary: 'so many at most; without it 50' },
  },
  examples: ['hawserctl retention list --from 7d'],
  async run({ api, out, options: { from, to, limit } }) {
    const runs = await api.get('/api/v1/retention/runs', {
      query: {
        limit: readWhole(limit, '--limit'),
        from: from === undefined ? undefined : readTime(from, '--from', -1),
        to: to === undefined ? undefined : readTime(to, '--to', -1),
      },
    });
    out.answer(runs, () => {
      out.table(
        runs,
        [
          { title: 'STARTED', cell: ({ startedAt }) => dateTime(startedAt) },
          { title: 'ENDED', cell: ({ completedAt }) => dateTime(completedAt) },
          { title: 'OF', cell: ({ versionType }) => versionType },
          { title: 'BY', cell: ({ isScheduled }) => (isScheduled ? 'schedule' : 'hand') },
          { title: 'DRY RUN', cell: ({ isDryRun }) => isDryRun },
          { title: 'DELETED', cell: ({ deletedCount }) => deletedCount },
          { title: 'KEPT', cell: ({ keptCount }) => keptCount },
          { title: 'ERROR', cell: ({ error }) => error },
        ],
        'No cleanup ran.',
      );
    });
  },
});

interface Keeping {
  keepVersions: number | undefined;
  keepCount: number | undefined;
  keepDays: number | undefined;
  keepReleaseVersions: boolean | undefined;
  dryRun: boolean;
}

/** What can be cleaned up. Versions and records are kept by other rules. */
const KINDS: Readonly<
  Record<string, { of: 'versions' | 'records'; run(api: Api, k: Keeping): Promise<Result> }>
> = {
  configurations: {
    of: 'versions',
    run: (api, k) => api.post('/api/v1/retention/configurations/cleanup', { json: versionsBody(k) }),
  },
  composites: {
    of: 'versions',
    run: (api, k) =>
      api.post('/api/v1/retention/composite-configurations/cleanup', { json: versionsBody(k) }),
  },
  parameters: {
    of: 'versions',
    run: (api, k) => api.post('/api/v1/retention/parameters/cleanup', { json: versionsBody(k) }),
  },
  reports: {
    of: 'records',
    run: (api, k) => api.post('/api/v1/retention/reports/cleanup', { json: recordsBody(k) }),
  },
  'status-events': {
    of: 'records',
    run: (api, k) => api.post('/api/v1/retention/status-events/cleanup', { json: recordsBody(k) }),
  },
};

const versionsBody = ({ keepVersions, keepDays, keepReleaseVersions, dryRun }: Keeping) => ({
  ...{ keepVersions, keepDays, keepReleaseVersions, dryRun },
});
const recordsBody = ({ keepCount, keepDays, dryRun }: Keeping) => ({ keepCount, keepDays, dryRun });

const run = command({
  path: 'retention run',
  summary: 'delete what the rules of retention do not keep',
  description:
    'Deletes what the rules of retention do not keep. What is not said comes from the settings of the server.',
  arguments: [{ name: 'kind', summary: 'what to clean up', choices: Object.keys(KINDS) }],
  options: {
    'dry-run': { summary: 'list what would be deleted, and delete nothing' },
    'keep-versions': { value: 'N', summary: 'of versions, keep the newest N of each' },
    'keep-count': { value: 'N', summary: 'of reports and status events, keep the newest N of each node' },
    'keep-days': { value: 'N', summary: 'keep all that is younger than N days' },
    'keep-releases': {
      value: 'YES|NO',
      choices: ['yes', 'no'],
      summary: 'keep versions that are no prereleases',
    },
    ...YES,
  },
  examples: [
    'hawserctl retention run configurations --dry-run',
    'hawserctl retention run reports --keep-days 14 --yes',
  ],
  async run({ api, out, ask, options, arguments: { kind } }) {
    const chosen = KINDS[kind];
    if (chosen === undefined) throw new UsageError(`There is no ${kind} to clean up.`);
    const releases = options['keep-releases'];
    if (chosen.of === 'records' && (options['keep-versions'] ?? releases) !== undefined)
      throw new UsageError(`--keep-versions and --keep-releases are for versions, not for ${kind}.`);
    if (chosen.of === 'versions' && options['keep-count'] !== undefined)
      throw new UsageError(`--keep-count is for reports and status-events; for ${kind} say --keep-versions.`);
    const keeping = {
      keepVersions: readWhole(options['keep-versions'], '--keep-versions'),
      keepCount: readWhole(options['keep-count'], '--keep-count'),
      keepDays: readWhole(options['keep-days'], '--keep-days'),
      keepReleaseVersions: releases === undefined ? undefined : releases === 'yes',
      dryRun: options['dry-run'],
    };
    if (!keeping.dryRun)
      await ask.confirm(`Delete all ${kind} that retention does not keep? --dry-run shows what goes.`);
    const result = await chosen.run(api, keeping);
    out.answer(result, () => showResult(result, out));
  },
});

function showResult(
  { isDryRun, deletedCount, keptCount, deletedVersions }: Result,
  out: Context['out'],
): void {
  if (deletedVersions !== null && deletedVersions.length > 0)
    out.table(
      deletedVersions,
      [
        { title: 'NAME', cell: ({ name }) => name },
        { title: 'VERSION', cell: ({ version }) => version },
        { title: 'CREATED', cell: ({ createdAt }) => dateTime(createdAt) },
        { title: 'WHY', cell: ({ reason }) => reason },
      ],
      '',
    );
  out.text(
    isDryRun
      ? `Would delete ${deletedCount} and keep ${keptCount}. Nothing was deleted.`
      : `Deleted ${deletedCount}, kept ${keptCount}.`,
  );
}

export const RETENTION_COMMANDS = [list, run];
