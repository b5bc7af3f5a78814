/** Shapes of configurations and their versions. */

import { z } from 'zod';
import { isResourceName } from '../../domain/names.ts';
import { isVersion, isVersionName } from '../../domain/version-order.ts';
import { Checksum, choice, Flag, given, Id, Timestamp } from '../../http/schemas.ts';

const ValidationMode = choice('None', 'Warn', 'Strict');

/** Of either kind; whether a version must be SemVer is the configuration's own setting. */
const Version = z
  .string()
  .refine(
    (text) => isVersion(text) || isVersionName(text),
    'Not a version: SemVer 2.0 without leading v, such as 1.2.0',
  );

const versionFields = {
  version: given(Version),
  entryPoint: given(z.string()),
  prereleaseChannel: given(z.string()),
};

export const NewVersion = z.strictObject(versionFields);
/** Of a draft that exists: the version, if it is given at all, is the one in the path. */
export const ReplacedVersion = z.strictObject({ ...versionFields, version: given(z.string()) });

export const NEW_VERSION_FIELDS = Object.keys(NewVersion.shape);

export const NewConfiguration = z.strictObject({
  name: z
    .string()
    .refine(
      isResourceName,
      'Not a name: letters, digits, ".", "_" and "-", at most 128, no ".git" or ".lock" ending',
    ),
  description: given(z.string().max(4_000)),
  useServerManagedParameters: given(Flag),
  ...versionFields,
});
export const NEW_CONFIGURATION_FIELDS = Object.keys(NewConfiguration.shape);

export const ConfigurationChange = z.strictObject({
  description: z.string().max(4_000).nullish(),
  useServerManagedParameters: z.boolean().optional(),
});

export const ConfigurationView = z.object({
  id: Id,
  name: z.string(),
  description: z.string().nullable(),
  useServerManagedParameters: z.boolean(),
  versionCount: z
    .int()
    .nullable()
    .meta({ description: 'Null in a list while the repository cannot be read' }),
  latestVersion: z.string().nullable(),
  latestPublishedVersion: z.string().nullable(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const VersionView = z.object({
  version: z.string(),
  status: z.enum(['Draft', 'Published']),
  entryPoint: z.string(),
  prereleaseChannel: z.string().nullable(),
  fileCount: z.int(),
  createdAt: Timestamp,
  createdBy: z.string(),
  publishedAt: Timestamp.nullable(),
  publishedBy: z.string().nullable(),
  commit: z.string().meta({ description: 'Git commit id' }),
});

export const VersionDetailsView = VersionView.extend({
  files: z.array(z.object({ path: z.string(), size: z.int(), checksum: Checksum, contentType: z.string() })),
});

export const SettingsView = z.object({
  isOverridden: z.boolean(),
  requireSemVer: z.boolean(),
  parameterValidationMode: ValidationMode,
});

/** Null means inherited. */
export const SettingsChange = z.strictObject({
  requireSemVer: z.boolean().nullish(),
  parameterValidationMode: ValidationMode.nullish(),
});

/** Up to what clients with 32-bit numbers can say, who mean "all" by their highest. */
const RetentionCount = z.int32().min(0);

/** Null means inherited. */
export const RetentionChange = z.strictObject({
  enabled: z.boolean().nullish(),
  keepVersions: RetentionCount.nullish(),
  keepDays: RetentionCount.nullish(),
  keepReleaseVersions: z.boolean().nullish(),
});

export const RetentionView = z.object({
  isOverridden: z.boolean(),
  enabled: z.boolean().nullable(),
  keepVersions: z.int().nullable(),
  keepDays: z.int().nullable(),
  keepReleaseVersions: z.boolean().nullable(),
});
