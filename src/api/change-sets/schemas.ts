/** Shapes of change sets: many deeds as one proposal. */

import { z } from 'zod';
import { CHANGE_SET_STATES } from '../../db/change-set-tables.ts';
import type { WantedSet } from '../../deeds/propose-change-set.ts';
import { LONGEST_DAYS } from '../../deeds/schedule-change-set.ts';
import { isSetTitle, MAX_DEEDS, TITLE_LENGTH } from '../../domain/change-set.ts';
import {
  Checksum,
  choice,
  Description,
  Flag,
  given,
  Id,
  Instant,
  Paging,
  Reason,
  Timestamp,
} from '../../http/schemas.ts';
import { ChangeView, changeSchema, nodeIds, ProtectedOnView } from '../shared/change-schemas.ts';
import { Count } from '../shared/preview-answers.ts';

/** The most nodes that all deeds of a set name together. */
const MAX_NODES = 10_000;
/** The most bytes of a body. */
export const SET_BYTES = 8 * 1024 * 1024;

/** The subject of commits, so one line. */
const Title = z
  .string()
  .transform((text) => text.trim())
  .refine(isSetTitle, 'Not 1 to 200 characters of one line, without control characters')
  .meta({ description: 'One line of 1 to 200 characters', minLength: 1, maxLength: TITLE_LENGTH });

const Deeds = z
  .array(changeSchema(nodeIds(MAX_NODES)))
  .min(1)
  .max(MAX_DEEDS)
  .superRefine((deeds, context) => {
    const named = new Set(deeds.flatMap((deed) => ('nodeIds' in deed ? deed.nodeIds : [])));
    if (named.size > MAX_NODES)
      context.addIssue({ code: 'custom', message: `They name more than ${MAX_NODES} nodes in all` });
  })
  .meta({
    description:
      'The changes of a preview, which act together, in this order. They name at most 10,000 nodes in all. `SetParameters` is ' +
      'stored as a draft of the file and stands as `PublishParameters`',
  });

const EXAMPLE_DEEDS = [
  { kind: 'PublishConfiguration' as const, configurationName: 'web-server', version: '1.2.0' },
];

export const NewChangeSet = z.strictObject({ title: Title, description: Description, deeds: Deeds }).meta({
  id: 'NewChangeSet',
  examples: [{ title: 'Faster web servers', description: null, deeds: EXAMPLE_DEEDS }],
}) satisfies z.ZodType<WantedSet>;

const text = z.string();
const optionalText = z.string().nullable();

const Said = z
  .object({
    code: text,
    message: text,
    deed: z.int().nullable().meta({ description: 'The place in `deeds`, from 0; null of the whole set' }),
  })
  .array();

export const ChangeSetView = z
  .object({
    id: z.int().meta({ description: 'Counts up' }),
    title: text,
    description: optionalText,
    state: z.enum(CHANGE_SET_STATES),
    deeds: z.array(ChangeView).meta({ description: 'Those that the caller may see' }),
    hiddenDeeds: Count.meta({ description: 'How many more there are' }),
    createdBy: text,
    createdAt: Timestamp,
    tip: text.meta({ description: 'The commit of its branch in `changes.git`' }),
    digest: Checksum.meta({
      description: 'SHA-256 of the deeds and of the tips of the drafts that they name',
    }),
    protection: z.array(
      z.object({ by: ProtectedOnView, approvals: Count, group: optionalText, missing: Count }),
    ),
    approvals: z.array(z.object({ by: text, at: Timestamp, digest: Checksum })),
    applyAt: Timestamp.nullable(),
    appliedAt: Timestamp.nullable(),
    appliedBy: optionalText,
    override: z.object({ by: text, at: Timestamp, reason: text }).nullable(),
    failure: z.object({ code: text, message: text }).nullable(),
    revertOf: z.int().nullable().meta({ description: 'The set that this one takes back' }),
    revertedBy: z.int().nullable().meta({ description: 'The set that took this one back, once applied' }),
    previewId: Id.nullable().meta({ description: 'The last preview of this digest' }),
    check: z
      .object({
        canApply: z.boolean(),
        blockers: Said.meta({ description: 'What applying it would be refused with, in this order' }),
        findings: Said.meta({ description: 'What it warns of' }),
      })
      .nullable()
      .meta({ description: 'Null in lists' }),
  })
  .meta({
    id: 'ChangeSet',
    examples: [
      {
        ...{ id: 42, title: 'Faster web servers', description: null, state: 'Open' as const },
        ...{ deeds: EXAMPLE_DEEDS, hiddenDeeds: 0 },
        ...{ createdBy: 'ann', createdAt: '2026-11-20T09:08:00.000Z' },
        tip: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
        digest: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
        ...{ protection: [], approvals: [], applyAt: null, appliedAt: null, appliedBy: null },
        ...{ override: null, failure: null, revertOf: null, revertedBy: null, previewId: null },
        check: { canApply: true, blockers: [], findings: [] },
      },
    ],
  });

const Digest = z.string().max(128).meta({ description: 'That of the set as the caller has seen it' });

export const NewApproval = z.strictObject({ digest: Digest }).meta({
  id: 'NewApproval',
  examples: [{ digest: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae' }],
});

export const NewApplication = z
  .strictObject({
    digest: Digest,
    expectedChanged: z.int().min(0).nullish().meta({
      description: 'How many nodes the caller expects to change, with those that are left without an answer',
    }),
    override: Reason.nullish().meta({
      description:
        'Why it is applied although approvals are missing. Needs the admin-override of each kind that protects it',
    }),
    applyAt: Instant.nullish().meta({
      description: `When to do it, in the future and at most ${LONGEST_DAYS} days ahead; now without it`,
      published: { type: ['string', 'null'], format: 'date-time' },
    }),
  })
  .meta({
    id: 'NewApplication',
    examples: [
      {
        digest: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
        expectedChanged: 120,
      },
    ],
  });

export const ChangeSetFilter = Paging.extend({
  state: given(choice(...CHANGE_SET_STATES)),
  author: given(z.string()).meta({ description: 'The name of a user who made or edited it' }),
  configuration: given(z.string()).meta({
    description: 'The name of a configuration or composite that it names',
  }),
  approvable: given(Flag).meta({
    description: '`true`: those where an approval of the caller would count and is not there yet',
  }),
});
