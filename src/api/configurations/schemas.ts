/** Shapes of configurations and their versions. */

import { z } from 'zod';
import { isResourceName } from '../../domain/names.ts';
import { isVersion } from '../../domain/version-order.ts';
import { Flag, Id, Timestamp } from '../../http/schemas.ts';

const Version = z.string().refine(isVersion, 'Not a SemVer 2.0 version without leading v, such as 1.2.0');

/** Form fields are text; an empty one counts as not given, as browsers send it. */
const given = <T extends z.ZodType>(schema: T) =>
  z.preprocess((text) => (text === '' ? undefined : text), schema.optional());

const versionFields = {
  version: given(Version),
  entryPoint: given(z.string()),
  prereleaseChannel: given(z.string()),
};

export const NewVersion = z.strictObject(versionFields);
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
