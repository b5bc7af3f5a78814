/** Shapes of cleanups and of their history. */

import { z } from 'zod';
import { Id, Instant, Paging, Timestamp } from '../../http/schemas.ts';

/** Up to what clients with 32-bit numbers can say, who mean "all" by their highest. */
const Count = z.int32().min(0).nullish();
const DryRun = z
  .boolean()
  .nullish()
  .transform((dryRun) => dryRun ?? false);

/** What is null or absent comes from the server's settings. */
export const VersionCleanup = z.strictObject({
  keepVersions: Count,
  keepDays: Count,
  keepReleaseVersions: z.boolean().nullish(),
  dryRun: DryRun,
});

export const RecordCleanup = z.strictObject({ keepCount: Count, keepDays: Count, dryRun: DryRun });

export const VERSION_TYPES = ['Configuration', 'Composite', 'Parameter', 'Report', 'StatusEvent'] as const;
const VersionType = z.enum(VERSION_TYPES);

export const RetentionResult = z.object({
  runId: Id,
  versionType: VersionType,
  isDryRun: z.boolean(),
  deletedCount: z.int(),
  keptCount: z.int(),
  deletedVersions: z
    .array(z.object({ name: z.string(), version: z.string(), createdAt: Timestamp, reason: z.string() }))
    .meta({ description: 'Of a dry run, those that would be deleted; always empty for records' }),
});

export const RetentionRun = z.object({
  id: Id,
  startedAt: Timestamp,
  completedAt: Timestamp.nullable().meta({ description: 'Null while it runs' }),
  versionType: VersionType,
  isScheduled: z.boolean(),
  isDryRun: z.boolean(),
  deletedCount: z.int(),
  keptCount: z.int(),
  error: z.string().nullable().meta({
    description: 'Why it failed; or that the server has no git, so that nothing was repacked',
  }),
});

const DEFAULT_RUNS = '50';

/** `limit` and `take` mean the same; `take` goes first. */
export const RunFilter = z
  .object({
    limit: Paging.shape.take.prefault(DEFAULT_RUNS),
    take: Paging.shape.take.unwrap().optional(),
    skip: Paging.shape.skip,
    from: Instant.optional(),
    to: Instant.optional(),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    path: ['to'],
    message: 'Before from',
  })
  .transform(({ limit, take, ...rest }) => ({ ...rest, take: take ?? limit }));
