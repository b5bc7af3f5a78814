/** Shapes of the server-wide settings. */

import { z } from 'zod';
import {
  DEFAULT_LCM,
  DEFAULT_RETENTION,
  DEFAULT_ROLLOUTS,
  DEFAULT_SERVER,
  DEFAULT_VALIDATION,
} from '../../domain/server-settings.ts';
import { choice, Duration, orUnchanged, Timestamp } from '../../http/schemas.ts';
import { HOUR } from '../../lib/clock.ts';
import { DocumentChecksView } from '../shared/publish-check.ts';

const DurationText = Duration.transform(({ text }) => text);

/** A shorter one would have agents replace their certificates all the time. */
const RotationInterval = Duration.refine(
  ({ milliseconds }) => milliseconds >= HOUR,
  'Must be at least 1 hour',
).transform(({ text }) => text);

/** What an agent needs before it has a certificate, and nothing else. */
export const PublicSettingsView = z
  .object({ certificateRotationInterval: z.string() })
  .meta({ id: 'PublicSettings', examples: [{ certificateRotationInterval: '60.00:00:00' }] });

export const ServerSettingsView = z
  .object({
    certificateRotationInterval: z.string().describe('How old an agent lets its certificate grow'),
    stalenessMultiplier: z
      .number()
      .describe('A node is stale that has not called for so many of its own intervals'),
  })
  .meta({ id: 'ServerSettings', examples: [DEFAULT_SERVER] });

/** As in all changes of settings, null leaves a member as it is, unless null is a value of it. */
export const ServerSettingsChange = z
  .strictObject({
    certificateRotationInterval: orUnchanged(RotationInterval).describe('At least 1 hour'),
    stalenessMultiplier: orUnchanged(z.number().positive().max(1_000)),
    acceptNodes: z
      .int()
      .min(0)
      .nullish()
      .describe('How many nodes may be locked out, as `certificates_too_old` says'),
  })
  .meta({ id: 'ServerSettingsChange', examples: [{ stalenessMultiplier: 3 }] });

const LcmMode = choice('Monitor', 'Remediate');

export const LcmDefaultsView = z
  .object({
    defaultConfigurationMode: LcmMode.nullable(),
    defaultConfigurationModeInterval: z.string().nullable(),
    defaultReportCompliance: z.boolean().nullable(),
  })
  .meta({ id: 'LcmDefaults', examples: [DEFAULT_LCM] });

/** Null means no default. An absent member stays as it is. */
export const LcmDefaultsChange = z
  .strictObject({
    defaultConfigurationMode: LcmMode.nullable(),
    defaultConfigurationModeInterval: DurationText.nullable(),
    defaultReportCompliance: z.boolean().nullable(),
  })
  .partial()
  .meta({
    id: 'LcmDefaultsChange',
    examples: [{ defaultConfigurationMode: 'Monitor', defaultConfigurationModeInterval: '00:30:00' }],
  });

export const ValidationMode = choice('None', 'Warn', 'Strict');

const PushIdentity = choice('Any', 'Committer');

export const ValidationSettingsView = z
  .object({
    requireSemVer: z.boolean(),
    defaultParameterValidationMode: ValidationMode,
    defaultDocumentChecks: DocumentChecksView,
    allowConfigurationOverride: z
      .boolean()
      .describe('Whether a configuration may set requireSemVer for itself'),
    allowParameterValidationOverride: z
      .boolean()
      .describe('Whether a configuration may set the mode for itself'),
    pushIdentity: PushIdentity.describe(
      "With Committer the committer of a pushed commit, and the tagger of a pushed tag, must bear the caller's e-mail",
    ),
  })
  .meta({ id: 'ValidationSettings', examples: [DEFAULT_VALIDATION] });

export const ValidationSettingsChange = z
  .strictObject({
    requireSemVer: orUnchanged(z.boolean()),
    defaultParameterValidationMode: orUnchanged(ValidationMode),
    defaultDocumentChecks: orUnchanged(DocumentChecksView),
    allowConfigurationOverride: orUnchanged(z.boolean()),
    allowParameterValidationOverride: orUnchanged(z.boolean()),
    pushIdentity: orUnchanged(PushIdentity),
  })
  .meta({ id: 'ValidationSettingsChange', examples: [{ defaultParameterValidationMode: 'Warn' }] });

export const RetentionSettingsView = z
  .object({
    enabled: z.boolean().describe('Whether cleanups run by themselves'),
    keepVersions: z.int(),
    keepDays: z.int(),
    keepReleaseVersions: z.boolean(),
    scheduleIntervalHours: z.int(),
    reportKeepCount: z.int().describe('Per node, as the three below'),
    reportKeepDays: z.int(),
    statusEventKeepCount: z.int(),
    statusEventKeepDays: z.int(),
    historyKeepDays: z.int().describe('For how many days it is kept what nodes ran'),
    historyFrom: Timestamp.describe('From when on it is known what nodes ran'),
  })
  .meta({
    id: 'RetentionSettings',
    examples: [{ ...DEFAULT_RETENTION, historyFrom: '2026-11-20T09:08:00.000Z' }],
  });

/** Bounded by 32 bits: clients with such numbers write their highest one where they mean all. */
const Count = orUnchanged(z.int32().min(0));

/** The longest interval: cleanups run at least once a year. */
const HOURS_OF_A_YEAR = 8_760;

/** Ten years. */
const MOST_DAYS = 3_650;

export const RetentionSettingsChange = z
  .strictObject({
    enabled: orUnchanged(z.boolean()),
    keepVersions: Count,
    keepDays: Count,
    keepReleaseVersions: orUnchanged(z.boolean()),
    scheduleIntervalHours: orUnchanged(z.int().min(1).max(HOURS_OF_A_YEAR)),
    reportKeepCount: Count,
    reportKeepDays: Count,
    statusEventKeepCount: Count,
    statusEventKeepDays: Count,
    historyKeepDays: orUnchanged(z.int().min(1).max(MOST_DAYS)),
  })
  .meta({ id: 'RetentionSettingsChange', examples: [{ enabled: true, keepDays: 365 }] });

export const RolloutSettingsView = z
  .object({
    rolloutScopeType: z
      .string()
      .nullable()
      .describe('The name of the Restricted scope type whose values are the rings'),
  })
  .meta({ id: 'RolloutSettings', examples: [DEFAULT_ROLLOUTS] });

/** Null means that nothing can be rolled out. An absent member stays as it is. */
export const RolloutSettingsChange = z
  .strictObject({ rolloutScopeType: z.string().nullable() })
  .partial()
  .meta({ id: 'RolloutSettingsChange', examples: [{ rolloutScopeType: 'Ring' }] });
