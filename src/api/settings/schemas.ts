/** Shapes of the server-wide settings. */

import { z } from 'zod';
import { choice, Duration } from '../../http/schemas.ts';

const DurationText = Duration.transform(({ text }) => text);

/** All that an agent needs before it has a certificate, and nothing else. */
export const PublicSettingsView = z.object({ certificateRotationInterval: z.string() });

export const ServerSettingsView = z.object({
  certificateRotationInterval: z.string(),
  stalenessMultiplier: z.number(),
});

export const ServerSettingsChange = z.strictObject({
  certificateRotationInterval: DurationText.optional(),
  stalenessMultiplier: z.number().positive().max(1_000).optional(),
});

const LcmMode = choice('Monitor', 'Remediate');

export const LcmDefaultsView = z.object({
  defaultConfigurationMode: LcmMode.nullable(),
  defaultConfigurationModeInterval: z.string().nullable(),
  defaultReportCompliance: z.boolean().nullable(),
});

/** Null means no default; an absent member stays as it is. */
export const LcmDefaultsChange = z.strictObject({
  defaultConfigurationMode: LcmMode.nullable().optional(),
  defaultConfigurationModeInterval: DurationText.nullable().optional(),
  defaultReportCompliance: z.boolean().nullable().optional(),
});

export const ValidationMode = choice('None', 'Warn', 'Strict');

export const ValidationSettingsView = z.object({
  requireSemVer: z.boolean(),
  defaultParameterValidationMode: ValidationMode,
  allowConfigurationOverride: z.boolean(),
  allowParameterValidationOverride: z.boolean(),
});

export const ValidationSettingsChange = z.strictObject({
  requireSemVer: z.boolean().optional(),
  defaultParameterValidationMode: ValidationMode.optional(),
  allowConfigurationOverride: z.boolean().optional(),
  allowParameterValidationOverride: z.boolean().optional(),
});

export const RetentionSettingsView = z.object({
  enabled: z.boolean(),
  keepVersions: z.int(),
  keepDays: z.int(),
  keepReleaseVersions: z.boolean(),
  scheduleIntervalHours: z.int(),
  reportKeepCount: z.int(),
  reportKeepDays: z.int(),
  statusEventKeepCount: z.int(),
  statusEventKeepDays: z.int(),
});

/** Up to what clients with 32-bit numbers can say, who mean "all" by their highest. */
const Count = z.int32().min(0);

/** At least once a year. */
const HOURS_OF_A_YEAR = 8_760;

export const RetentionSettingsChange = z.strictObject({
  enabled: z.boolean().optional(),
  keepVersions: Count.optional(),
  keepDays: Count.optional(),
  keepReleaseVersions: z.boolean().optional(),
  scheduleIntervalHours: z.int().min(1).max(HOURS_OF_A_YEAR).optional(),
  reportKeepCount: Count.optional(),
  reportKeepDays: Count.optional(),
  statusEventKeepCount: Count.optional(),
  statusEventKeepDays: Count.optional(),
});
