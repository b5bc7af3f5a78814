/** Shapes of composite configurations, their versions and children. */

import { z } from 'zod';
import { isResourceName } from '../../domain/names.ts';
import { isVersion, isVersionName } from '../../domain/version-order.ts';
import { Id, Timestamp } from '../../http/schemas.ts';

export const NewComposite = z.strictObject({
  name: z
    .string()
    .refine(
      isResourceName,
      'Not a name: letters, digits, ".", "_" and "-", at most 128, no ".git" or ".lock" ending',
    ),
  description: z.string().max(4_000).nullish(),
  entryPoint: z.string().min(1).nullish(),
});

export const NewCompositeVersion = z.strictObject({
  version: z.string().refine(isVersion, 'Not a SemVer 2.0 version without leading v, such as 1.2.0'),
  prereleaseChannel: z.string().nullish(),
});

/** Of the child's configuration, which may allow versions that are no SemVer. */
const ActiveVersion = z.string().refine((text) => isVersion(text) || isVersionName(text), 'Not a version');

const Order = z.int().min(0);

export const NewChild = z.strictObject({
  childConfigurationName: z.string().min(1).max(128),
  activeVersion: ActiveVersion.nullish(),
  order: Order.nullish(),
});

export const ChildChange = z.strictObject({
  activeVersion: ActiveVersion.nullish(),
  order: Order.nullish(),
});

export const CompositeView = z.object({
  id: Id,
  name: z.string(),
  description: z.string().nullable(),
  entryPoint: z.string(),
  versionCount: z
    .int()
    .nullable()
    .meta({ description: 'Null in a list while the repository cannot be read' }),
  latestVersion: z.string().nullable(),
  latestPublishedVersion: z.string().nullable(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const ItemView = z.object({
  id: Id,
  childConfigurationId: Id.nullable().meta({
    description: 'Null only where stock git has named a configuration that does not exist',
  }),
  childConfigurationName: z.string(),
  activeVersion: z.string().nullable(),
  order: z.int(),
});

export const CompositeVersionView = z.object({
  id: Id,
  version: z.string(),
  status: z.enum(['Draft', 'Published']),
  prereleaseChannel: z.string().nullable(),
  items: z.array(ItemView),
  createdAt: Timestamp,
  createdBy: z.string(),
  publishedAt: Timestamp.nullable(),
  publishedBy: z.string().nullable(),
  commit: z.string().meta({ description: 'Git commit id' }),
});

export const CompositeDetailsView = CompositeView.extend({ versions: z.array(CompositeVersionView) });
