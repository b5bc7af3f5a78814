/** The changes that a preview is asked for: what a body says of each, and what answers show of it. */

import { z } from 'zod';
import { CHANGE_KINDS, type Change } from '../../deeds/changes.ts';
import { contentTypeNamed, MEDIA_TYPES } from '../../deeds/parameter-content.ts';
import { ON_HALT } from '../../domain/rollout.ts';
import { MAX_VERSION_LENGTH } from '../../domain/version-order.ts';
import { IdInAnyCase, Reason } from '../../http/schemas.ts';
import { ASSIGNMENT, refuseBesideVersion } from './assignment-schemas.ts';
import {
  LcmConfigChange,
  NewProtection,
  NewSigning,
  NodeTags,
  ProtectionView,
  ScopeOrder,
  SigningView,
  VariablesView,
} from './deed-schemas.ts';
import {
  CONFIGURATION_ROLLOUT,
  FileOfRollout,
  GateView,
  Ring,
  requireSomething,
} from './rollout-plan-schemas.ts';
import { SemVerVersion } from './versioned.ts';

/** The most changes of a preview, and the most nodes of a change. */
const MAX_CHANGES = 20;
const MAX_NODES = 1_000;
/** The most nodes to which a preview can be narrowed. */
const MAX_WATCHED = 20;

const KINDS = new Map<string, string>(CHANGE_KINDS.map((kind) => [kind.toLowerCase(), kind]));

const Name = z.string().min(1).max(128);
const Draft = z.string().min(1).max(MAX_VERSION_LENGTH).meta({ description: 'A draft' });
const ScopeValue = z.string().nullish().meta({ description: 'None for Default' });

/** Ids that are named twice count once. */
export const nodeIds = (most: number) =>
  z
    .array(IdInAnyCase)
    .min(1)
    .max(most)
    .transform((ids) => [...new Set(ids)])
    .meta({ description: 'Ids of nodes; one that is named twice counts once' });

type NodeIds = ReturnType<typeof nodeIds>;

const ContentType = z
  .string()
  .nullish()
  .transform((name, context) => {
    if (name === undefined || name === null) return null;
    const type = contentTypeNamed(name);
    if (type !== null) return MEDIA_TYPES[type];
    context.addIssue({ code: 'custom', message: `Neither ${MEDIA_TYPES.yaml} nor ${MEDIA_TYPES.json}` });
    return z.NEVER;
  })
  .meta({ description: `${MEDIA_TYPES.yaml}, the default, or ${MEDIA_TYPES.json}` });

const OF_SCOPE = { configurationName: Name, scopeTypeName: Name, scopeValue: ScopeValue };

const Published = z.string().min(1).max(MAX_VERSION_LENGTH).meta({ description: 'A published version' });

const OWNER = {
  configurationName: Name.nullish().meta({ description: 'Either this or `compositeName`' }),
  compositeName: Name.nullish(),
};

const OF_PUBLISHED = { ...OWNER, version: Published };

function requireOneName(
  change: { configurationName?: string | null | undefined; compositeName?: string | null | undefined },
  context: z.RefinementCtx,
): void {
  const names = [change.configurationName, change.compositeName].filter((name) => typeof name === 'string');
  if (names.length !== 1)
    context.addIssue({ code: 'custom', message: 'Name either configurationName or compositeName' });
}

const ProtectedOn = z
  .strictObject({
    configurationName: Name.nullish().meta({ description: 'Exactly one of the three is named' }),
    compositeName: Name.nullish(),
    scopeValueId: IdInAnyCase.nullish(),
  })
  .superRefine((on, context) => {
    if (Object.values(on).filter((name) => typeof name === 'string').length !== 1)
      context.addIssue({
        code: 'custom',
        message: 'Name one of configurationName, compositeName and scopeValueId',
      });
  });

function refuseFilesOfComposite(
  { compositeName, parameters }: { compositeName?: string | null | undefined; parameters?: unknown },
  context: z.RefinementCtx,
): void {
  if (typeof compositeName !== 'string' || parameters === undefined) return;
  context.addIssue({ code: 'custom', path: ['parameters'], message: 'A composite has no parameter files' });
}

function requireSetting(
  { signing, variables }: { signing?: unknown; variables?: unknown },
  context: z.RefinementCtx,
): void {
  if ((signing ?? variables ?? null) === null)
    context.addIssue({ code: 'custom', message: 'Name what is to be set: signing or variables' });
}

const changeOfKind = (NodeIds: NodeIds) =>
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('PublishConfiguration'), configurationName: Name, version: Draft }),
    z.strictObject({ kind: z.literal('PublishComposite'), compositeName: Name, version: Draft }),
    z.strictObject({ kind: z.literal('PublishParameters'), ...OF_SCOPE, version: Draft }),
    z.strictObject({
      kind: z.literal('SetParameters'),
      ...OF_SCOPE,
      version: SemVerVersion,
      content: z.string().meta({ description: 'A document that is stored nowhere; answers show null' }),
      contentType: ContentType,
    }),
    z
      .strictObject({ kind: z.literal('Assign'), nodeIds: NodeIds, ...ASSIGNMENT })
      .superRefine(refuseBesideVersion),
    z.strictObject({ kind: z.literal('Unassign'), nodeIds: NodeIds }),
    z.strictObject({ kind: z.literal('Tag'), nodeIds: NodeIds, scopeValueId: IdInAnyCase }),
    z.strictObject({ kind: z.literal('Untag'), nodeIds: NodeIds, scopeValueId: IdInAnyCase }),
    z.strictObject({ kind: z.literal('SetTags'), nodeIds: NodeIds, ...NodeTags.shape }),
    z
      .strictObject({ kind: z.literal('Withdraw'), ...OF_PUBLISHED, reason: Reason.nullish() })
      .superRefine(requireOneName),
    z.strictObject({ kind: z.literal('Restore'), ...OF_PUBLISHED }).superRefine(requireOneName),
    z.strictObject({
      kind: z.literal('WithdrawParameters'),
      ...OF_SCOPE,
      version: Published,
      reason: Reason.nullish(),
    }),
    z.strictObject({ kind: z.literal('RestoreParameters'), ...OF_SCOPE, version: Published }),
    z.strictObject({ kind: z.literal('ReorderScopeTypes'), ...ScopeOrder.shape }),
    z.strictObject({ kind: z.literal('EnableScopeType'), scopeTypeId: IdInAnyCase }),
    z.strictObject({ kind: z.literal('DisableScopeType'), scopeTypeId: IdInAnyCase }),
    z.strictObject({ kind: z.literal('SetLcmConfig'), nodeIds: NodeIds, ...LcmConfigChange.shape }),
    z.strictObject({
      kind: z.literal('SetServerManaged'),
      configurationName: Name,
      useServerManagedParameters: z.boolean(),
    }),
    z.strictObject({ kind: z.literal('SetProtection'), on: ProtectedOn, protection: NewProtection }),
    z
      .strictObject({
        kind: z.literal('SetSettings'),
        configurationName: Name,
        signing: NewSigning.nullish(),
        variables: VariablesView.nullish(),
      })
      .superRefine(requireSetting),
    z
      .strictObject({ kind: z.literal('StartRollout'), ...OWNER, ...CONFIGURATION_ROLLOUT })
      .superRefine(requireOneName)
      .superRefine(requireSomething)
      .superRefine(refuseFilesOfComposite),
  ]) satisfies z.ZodType<Change>;

/** One change on so many nodes. Its kind is matched without regard to case. */
export const changeSchema = (ids: NodeIds) =>
  z.preprocess((value) => {
    if (typeof value !== 'object' || value === null || !('kind' in value)) return value;
    const { kind } = value;
    return typeof kind === 'string' ? { ...value, kind: KINDS.get(kind.toLowerCase()) ?? kind } : value;
  }, changeOfKind(ids));

/** A change as a body of a request states it. */
export type ChangeInput = z.input<ReturnType<typeof changeOfKind>>;

export const NewPreview = z
  .strictObject({
    changes: z
      .array(changeSchema(nodeIds(MAX_NODES)))
      .min(1)
      .max(MAX_CHANGES)
      .meta({ description: 'They act together, in this order' }),
    nodeIds: nodeIds(MAX_WATCHED).nullish().meta({
      description: 'Narrows the preview to these nodes, each of which is a group of its own',
    }),
  })
  .meta({
    id: 'NewPreview',
    examples: [
      { changes: [{ kind: 'PublishConfiguration', configurationName: 'web-server', version: '1.2.0' }] },
      {
        changes: [
          {
            kind: 'SetParameters',
            configurationName: 'web-server',
            scopeTypeName: 'Environment',
            scopeValue: 'production',
            version: '1.3.0',
            content: 'parameters:\n  port: 8443\n',
          },
        ],
        nodeIds: ['0b0e7a52-93f5-4b3e-9c8d-6d6d7b8a9f10'],
      },
    ],
  });

const text = z.string();
const optionalText = z.string().nullable();
const Ids = z.array(z.string());
const shownPublished = { configurationName: optionalText, compositeName: optionalText, version: text };
const shownScope = { configurationName: text, scopeTypeName: text, scopeValue: optionalText, version: text };

/** What is protected: one of the three is named. */
export const ProtectedOnView = z.object({
  configurationName: optionalText,
  compositeName: optionalText,
  scopeValueId: optionalText,
});

export const ChangeView = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('PublishConfiguration'), configurationName: text, version: text }),
  z.object({ kind: z.literal('PublishComposite'), compositeName: text, version: text }),
  z.object({ kind: z.literal('PublishParameters'), ...shownScope }),
  z.object({
    kind: z.literal('SetParameters'),
    ...shownScope,
    content: z.null().meta({ description: 'Never shown' }),
    contentType: optionalText,
  }),
  z.object({
    kind: z.literal('Assign'),
    nodeIds: Ids,
    configurationName: text,
    isComposite: z.boolean().nullable(),
    majorVersion: z.int().nullable(),
    prereleaseChannel: optionalText,
    version: optionalText,
  }),
  z.object({ kind: z.literal('Unassign'), nodeIds: Ids }),
  z.object({ kind: z.literal('Tag'), nodeIds: Ids, scopeValueId: text }),
  z.object({ kind: z.literal('Untag'), nodeIds: Ids, scopeValueId: text }),
  z.object({ kind: z.literal('SetTags'), nodeIds: Ids, scopeValueIds: Ids }),
  z.object({ kind: z.literal('Withdraw'), ...shownPublished, reason: optionalText }),
  z.object({ kind: z.literal('Restore'), ...shownPublished }),
  z.object({ kind: z.literal('WithdrawParameters'), ...shownScope, reason: optionalText }),
  z.object({ kind: z.literal('RestoreParameters'), ...shownScope }),
  z.object({ kind: z.literal('ReorderScopeTypes'), scopeTypeIds: Ids }),
  z.object({ kind: z.literal('EnableScopeType'), scopeTypeId: text }),
  z.object({ kind: z.literal('DisableScopeType'), scopeTypeId: text }),
  z.object({
    kind: z.literal('SetLcmConfig'),
    nodeIds: Ids,
    configurationMode: optionalText,
    configurationModeInterval: optionalText,
    reportCompliance: z.boolean().nullable(),
  }),
  z.object({
    kind: z.literal('SetServerManaged'),
    configurationName: text,
    useServerManagedParameters: z.boolean(),
  }),
  z.object({ kind: z.literal('SetProtection'), on: ProtectedOnView, protection: ProtectionView }),
  z.object({
    kind: z.literal('SetSettings'),
    configurationName: text,
    signing: SigningView.nullable(),
    variables: VariablesView.nullable(),
  }),
  z.object({
    kind: z.literal('StartRollout'),
    ...{ ...shownPublished, version: optionalText },
    parameters: z.array(FileOfRollout).nullable(),
    steps: z.array(z.object({ ring: Ring, percent: z.int(), gate: GateView })),
    onHalt: z.enum(ON_HALT),
    message: optionalText,
  }),
]);
