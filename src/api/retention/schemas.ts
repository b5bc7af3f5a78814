/** Shapes of cleanups and of their history. */

import { z } from 'zod';
import type { KeptInstead } from '../../deeds/clean-up.ts';
import { Id, Instant, Paging, Timestamp } from '../../http/schemas.ts';

/** Clients with 32-bit numbers send their highest number when they mean all. */
const Count = z.int32().min(0).nullish();
const DryRun = z
  .boolean()
  .nullish()
  .transform((dryRun) => dryRun ?? false);

/** A member that is null or absent comes from the server's settings. */
export const VersionCleanup = z
  .strictObject({
    keepVersions: Count,
    keepDays: Count,
    keepReleaseVersions: z.boolean().nullish(),
    dryRun: DryRun.meta({ description: 'Only says what would be deleted' }),
  })
  .meta({
    id: 'VersionCleanup',
    examples: [{ keepVersions: 10, keepDays: 90, keepReleaseVersions: true, dryRun: true }],
  }) satisfies z.ZodType<KeptInstead>;

export const RecordCleanup = z
  .strictObject({
    keepCount: Count.meta({ description: 'Per node' }),
    keepDays: Count,
    dryRun: DryRun.meta({ description: 'Only says what would be deleted' }),
  })
  .meta({
    id: 'RecordCleanup',
    examples: [{ keepCount: 1_000, keepDays: 30, dryRun: true }],
  }) satisfies z.ZodType<KeptInstead>;

export const VERSION_TYPES = ['Configuration', 'Composite', 'Parameter', 'Report', 'StatusEvent'] as const;
const VersionType = z.enum(VERSION_TYPES);

export const RetentionResult = z
  .object({
    runId: Id,
    versionType: VersionType,
    isDryRun: z.boolean(),
    deletedCount: z.int(),
    keptCount: z.int(),
    deletedVersions: z
      .array(z.object({ name: z.string(), version: z.string(), createdAt: Timestamp, reason: z.string() }))
      .nullable()
      .meta({ description: 'Of a dry run, those that would be deleted; null for records' }),
  })
  .meta({
    id: 'RetentionResult',
    examples: [
      {
        runId: 'f0e1d2c3-b4a5-4968-8778-695a4b3c2d1e',
        versionType: 'Configuration',
        isDryRun: true,
        deletedCount: 1,
        keptCount: 12,
        deletedVersions: [
          {
            name: 'web-server',
            version: '1.0.0-rc.1',
            createdAt: '2026-02-03T04:05:06.789Z',
            reason: 'Published version beyond the newest 10 and older than 90 days',
          },
        ],
      },
    ],
  });

export const RetentionRun = z
  .object({
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
  })
  .meta({
    id: 'RetentionRun',
    examples: [
      {
        id: 'f0e1d2c3-b4a5-4968-8778-695a4b3c2d1e',
        startedAt: '2026-11-20T09:08:00.000Z',
        completedAt: '2026-11-20T09:08:01.204Z',
        versionType: 'Configuration',
        isScheduled: true,
        isDryRun: false,
        deletedCount: 1,
        keptCount: 12,
        error: null,
      },
    ],
  });

const DEFAULT_RUNS = 50;

/** `limit` and `take` mean the same. `take` wins where both are given. */
export const RunFilter = z
  .object({
    limit: Paging.shape.take.unwrap().default(DEFAULT_RUNS),
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
