/** Shapes of bulk deeds: one thing that is done to many nodes. */

import { z } from 'zod';
import type { BulkAction, BulkOrder, BulkOutcome } from '../../deeds/bulk.ts';
import { refuseControlCharacters } from '../../http/query.ts';
import { choice, Flag, Id, orUnchanged } from '../../http/schemas.ts';
import { isId } from '../../lib/ids.ts';
import { ASSIGNMENT, refuseBesideVersion } from '../shared/assignment-schemas.ts';
import { LcmConfigChange, NodeTags } from '../shared/deed-schemas.ts';
import type { NodeConditions } from './listed-nodes.ts';
import { NewTag, NodeFilter } from './schemas.ts';

/** The most nodes of one deed. */
export const MAX_NODES = 10_000;

export const Action = choice(
  'Assign',
  'Unassign',
  'Tag',
  'Untag',
  'SetTags',
  'SetLcmConfig',
  'Delete',
  'Expect',
);

const NO_CONDITIONS = ['take', 'skip', 'sort'] as const;

/** Made from the query of the list, so that whatever that can be filtered by is here too. */
const Filter = z
  .strictObject(
    Object.fromEntries(
      Object.entries(NodeFilter.shape)
        .filter(([name]) => !(NO_CONDITIONS as readonly string[]).includes(name))
        .map(([name, schema]) => [name, asMember(schema)]),
    ),
  )
  .superRefine((filter, context) => void refuseControlCharacters(filter, context))
  .transform((filter) => filter as NodeConditions)
  .meta({
    id: 'BulkFilter',
    description: 'Members as the queries of the node list; `{}` means all nodes',
    examples: [{ configurationName: 'web-server', stale: false }],
  });

/** A member of a query, as a body has it: a flag is true or false, and null counts as absent. */
function asMember(schema: z.ZodType): z.ZodType {
  if (!(schema instanceof z.ZodOptional)) throw new Error('A condition of the node list must be optional');
  const inner = schema.unwrap() as z.ZodType;
  const { description } = schema.meta() ?? {};
  const member = orUnchanged(inner === Flag ? z.boolean() : inner);
  return description === undefined ? member : member.meta({ description });
}

/** The most faulty ids that an answer names. */
const MAX_FAULTS = 100;

/**
 * The ids in lower case. A list of thousands is looked at by hand, because zod takes ten times as long, and would name
 * each fault of a faulty one.
 */
function readIds(ids: unknown, context: z.RefinementCtx): string[] | undefined {
  if (ids === undefined || ids === null) return undefined;
  if (!Array.isArray(ids)) {
    context.addIssue({ code: 'invalid_type', expected: 'array', input: ids });
    return z.NEVER;
  }
  if (ids.length === 0 || ids.length > MAX_NODES) {
    context.addIssue({ code: 'custom', message: `Must have 1 to ${MAX_NODES} items` });
    return z.NEVER;
  }
  const known = ids.map((id) => (typeof id === 'string' ? id.toLowerCase() : ''));
  const faulty = [...known.keys()].filter((at) => !isId(known[at] ?? '')).slice(0, MAX_FAULTS);
  for (const at of faulty)
    context.addIssue({ code: 'invalid_format', format: 'guid', path: [at], input: ids[at] });
  return known;
}

const ID = { type: 'string', format: 'uuid' };

const targets = {
  nodeIds: z
    .unknown()
    .transform(readIds)
    .optional()
    .meta({
      description: 'One that is named twice counts once. Either these or `filter`',
      published: { type: ['array', 'null'], items: ID, minItems: 1, maxItems: MAX_NODES },
    }),
  filter: Filter.nullish(),
  expectedCount: z.int().min(0).max(MAX_NODES).nullish().meta({
    description:
      'How many nodes the caller means. Required with `filter`; another number is 409 `count_changed`, and nothing is done',
  }),
};

/**
 * Rows are judged one by one, when their turn comes, so that one that is at fault stops none of the others. Until then nobody
 * goes through them, because one row may hold millions of values.
 */
const Rows = z
  .array(z.unknown())
  .min(1)
  .max(MAX_NODES)
  .transform((rows) => () => rows)
  .meta({
    description: 'Each as the body of POST `/nodes`',
    published: {
      type: 'array',
      items: { $ref: '#/components/schemas/NewExpectedNode' },
      minItems: 1,
      maxItems: MAX_NODES,
    },
  });

const deed = <A extends BulkAction, M extends z.core.$ZodLooseShape>(action: A, members: M) =>
  z.strictObject({ action: z.literal(action), ...targets, ...members });

const Deed = z.discriminatedUnion('action', [
  deed('Assign', ASSIGNMENT).superRefine(refuseBesideVersion),
  deed('Unassign', {}),
  deed('Tag', NewTag.shape),
  deed('Untag', NewTag.shape),
  deed('SetTags', NodeTags.shape),
  deed('SetLcmConfig', LcmConfigChange.shape),
  deed('Delete', {}),
  z.strictObject({ action: z.literal('Expect'), rows: Rows }),
]);

export const BulkDeed = z.preprocess(spellAction, Deed.superRefine(refuseTargets)).meta({
  id: 'BulkDeed',
  examples: [
    {
      action: 'Assign',
      filter: { configurationName: 'web-server', stale: false },
      expectedCount: 120,
      configurationName: 'web-server',
      majorVersion: 2,
    },
    {
      action: 'Untag',
      nodeIds: ['7d1e0f3a-52c4-4e0b-8f1d-3a9b6c5d4e21'],
      scopeValueId: 'c0ffee00-1d2c-4b3a-8495-a6b7c8d9e0f1',
    },
  ],
}) satisfies z.ZodType<BulkOrder<NodeConditions> | { action: 'Expect' }>;

/** The action of a body that may have any faults; undefined where it names none. */
export function actionOf(body: unknown): BulkAction | undefined {
  return Action.safeParse((body as { action?: unknown } | null | undefined)?.action).data;
}

/** Members of a union are told apart by the exact spelling. */
function spellAction(body: unknown): unknown {
  const action = actionOf(body);
  return action === undefined ? body : { ...(body as object), action };
}

function refuseTargets(order: z.output<typeof Deed>, context: z.RefinementCtx): void {
  if (order.action === 'Expect') return;
  const { nodeIds, filter, expectedCount } = order;
  const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
  const hasFilter = (filter ?? null) !== null;
  if (hasFilter === ((nodeIds ?? null) !== null)) refuse([], 'Name either nodeIds or a filter');
  if (hasFilter && (expectedCount ?? null) === null)
    refuse(['expectedCount'], 'Is required with a filter, so that only as many nodes change as were seen');
}

export const BulkResult = z
  .object({
    done: z.int().meta({ description: 'How many nodes changed, each with an entry in the audit trail' }),
    unchanged: z.int().meta({ description: 'How many nodes were so already' }),
    failed: z
      .array(
        z.object({
          nodeId: Id.nullable().meta({ description: 'Null for a node that was to be expected' }),
          fqdn: z.string().nullable().meta({
            description: 'Null if no node has this id; of a node that was to be expected as it was given',
          }),
          code: z.string().meta({ description: 'As the deed on this node alone would be answered' }),
          message: z.string(),
        }),
      )
      .meta({ description: 'In the order of `nodeIds` or `rows`, or by fqdn' }),
  })
  .meta({
    id: 'BulkResult',
    examples: [
      {
        done: 118,
        unchanged: 1,
        failed: [
          {
            nodeId: '7d1e0f3a-52c4-4e0b-8f1d-3a9b6c5d4e21',
            fqdn: null,
            code: 'not_found',
            message: 'No such node',
          },
        ],
      },
    ],
  }) satisfies z.ZodType<BulkOutcome>;
