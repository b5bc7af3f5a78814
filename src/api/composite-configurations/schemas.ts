/** Shapes of composite configurations, their versions and children. */

import { z } from 'zod';
import type * as deed from '../../deeds/change-children.ts';
import type { WantedCompositeDraft } from '../../deeds/composite-draft.ts';
import type { WantedComposite } from '../../deeds/create-composite.ts';
import { Id, Message, orUnchanged } from '../../http/schemas.ts';
import { EXAMPLE_PROTECTION, NewProtection, ProtectionView } from '../shared/deed-schemas.ts';
import { PUBLISHED_NODES, WAYS_EXAMPLE } from '../shared/proof-schemas.ts';
import { FINDINGS } from '../shared/publish-check.ts';
import {
  ACCESS,
  AUTHORSHIP,
  AUTHORSHIP_EXAMPLE,
  anyVersion,
  draftFlag,
  ResourceName,
  SemVerVersion,
  VERSION_COUNTS,
} from '../shared/versioned.ts';

/** These are the examples of the API description. */
const ITEM = {
  id: '6b7c8d9e-0fa1-4b2c-8d3e-4f5a6b7c8d9e',
  childConfigurationId: '3c9a4b1e-0f6d-4c57-9b2a-8e7d6c5b4a30',
  childConfigurationName: 'web-server',
  activeVersion: null,
  majorVersion: 1,
  order: 0,
  pinnedToWithdrawn: false,
};
const VERSION = {
  id: '2d3e4f5a-6b7c-5d8e-9fa0-b1c2d3e4f5a6',
  version: '1.0.0',
  status: 'Published',
  prereleaseChannel: null,
  items: [ITEM],
  findings: null,
  ...AUTHORSHIP_EXAMPLE,
};
const COMPOSITE = {
  id: 'b6a5d4c3-2e1f-4a09-8b7c-6d5e4f3a2b10',
  name: 'web-farm',
  description: 'What every machine of the farm gets',
  entryPoint: 'main.dsc.yaml',
  versionCount: 2,
  latestVersion: '1.1.0',
  latestPublishedVersion: '1.0.0',
  createdAt: '2026-11-20T09:08:00.000Z',
  updatedAt: '2026-11-20T09:08:00.000Z',
  access: 'Manage',
};

export const NewComposite = z
  .strictObject({
    name: ResourceName,
    description: z.string().max(4_000).nullish(),
    entryPoint: z.string().min(1).nullish().meta({
      description: 'Default `main.dsc.yaml`. Best in no folder: DSC looks for the children from there',
    }),
  })
  .meta({
    id: 'NewComposite',
    examples: [{ name: 'web-farm', description: 'What every machine of the farm gets' }],
  }) satisfies z.ZodType<WantedComposite>;

export const NewCompositeVersion = z
  .strictObject({
    version: SemVerVersion.meta({ description: 'SemVer 2.0 without leading v' }),
    prereleaseChannel: z
      .string()
      .nullish()
      .meta({ description: "If given, the first part of the version's prerelease" }),
    message: orUnchanged(Message),
    isDraft: draftFlag(
      z.boolean().nullish(),
      '/api/v1/composite-configurations/{name}/versions/{version}/publish',
    ),
  })
  .meta({
    id: 'NewCompositeVersion',
    examples: [{ version: '1.1.0' }],
  }) satisfies z.ZodType<WantedCompositeDraft>;

/** A version of the child, whose configuration may allow versions that are no SemVer. */
const ActiveVersion = anyVersion('Not a version');

const Order = z.int().min(0);

/** Whoever takes this beside `activeVersion` takes `refuseBesidePin` too. */
const MajorVersion = z.int().min(0);

function refuseBesidePin(
  { activeVersion, majorVersion }: { activeVersion?: unknown; majorVersion?: unknown },
  context: z.RefinementCtx,
): void {
  if ((activeVersion ?? null) === null || (majorVersion ?? null) === null) return;
  const message = 'Leave this out where activeVersion names the one version';
  context.addIssue({ code: 'custom', path: ['majorVersion'], message });
}

export const NewChild = z
  .strictObject({
    childConfigurationName: z.string().min(1).max(128),
    activeVersion: ActiveVersion.nullish().meta({
      description: 'Absent or null follows the highest published version that a node may get',
    }),
    majorVersion: MajorVersion.nullish().meta({
      description:
        'Follows the highest of this major alone, so without `activeVersion`; absent or null: of any',
    }),
    order: Order.nullish().meta({ description: 'Absent or null: behind all others; equal ones go by name' }),
  })
  .superRefine(refuseBesidePin)
  .meta({
    id: 'NewCompositeChild',
    examples: [{ childConfigurationName: 'web-server', order: 0 }],
  }) satisfies z.ZodType<deed.NewChild>;

export const ChildChange = z
  .strictObject({
    activeVersion: ActiveVersion.nullish().meta({
      description: 'Null follows the highest published version; absent stays, unless `majorVersion` is given',
    }),
    majorVersion: MajorVersion.nullish().meta({
      description:
        'Follows the highest of this major alone; null of any; absent stays, unless `activeVersion` is given',
    }),
    order: Order.nullish(),
  })
  .superRefine(refuseBesidePin)
  .meta({
    id: 'CompositeChildChange',
    examples: [{ activeVersion: '1.2.0', order: 1 }],
  }) satisfies z.ZodType<deed.ChildChange>;

export const CompositeView = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string().nullable(),
    entryPoint: z.string(),
    ...VERSION_COUNTS,
    ...ACCESS,
  })
  .meta({ id: 'Composite', examples: [COMPOSITE] });

export const ItemView = z
  .object({
    id: Id.meta({ description: 'Of the item, as paths name it' }),
    childConfigurationId: Id.nullable().meta({
      description: 'Null only where stock git has named a configuration that does not exist',
    }),
    childConfigurationName: z.string(),
    activeVersion: z
      .string()
      .nullable()
      .meta({ description: 'Null follows the highest published version that a node may get' }),
    majorVersion: z
      .int()
      .nullable()
      .meta({ description: 'The only major of which a version is followed; null is any' }),
    order: z.int(),
    pinnedToWithdrawn: z
      .boolean()
      .meta({ description: 'Whether activeVersion is withdrawn; nodes get it still' }),
  })
  .meta({ id: 'CompositeItem', examples: [ITEM] });

export const CompositeVersionView = z
  .object({
    id: Id,
    version: z.string(),
    status: z.enum(['Draft', 'Published']),
    prereleaseChannel: z.string().nullable(),
    items: z.array(ItemView),
    findings: FINDINGS,
    ...AUTHORSHIP,
  })
  .meta({ id: 'CompositeVersion', examples: [VERSION] });

export const PublishedCompositeView = CompositeVersionView.extend({ nodes: PUBLISHED_NODES }).meta({
  id: 'PublishedCompositeVersion',
  examples: [{ ...VERSION, status: 'Published', nodes: WAYS_EXAMPLE }],
});

export const CompositeDetailsView = CompositeView.extend({ versions: z.array(CompositeVersionView) }).meta({
  id: 'CompositeDetails',
  examples: [{ ...COMPOSITE, versions: [VERSION] }],
});

export const CompositeSettingsView = z
  .object({ protection: ProtectionView })
  .meta({ id: 'CompositeSettings', examples: [{ protection: EXAMPLE_PROTECTION }] });

export const CompositeSettingsChange = z
  .strictObject({ protection: NewProtection.optional() })
  .meta({ id: 'CompositeSettingsChange', examples: [{ protection: EXAMPLE_PROTECTION }] });
