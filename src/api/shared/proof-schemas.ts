/** What proof of a version looks like in the API. */

import { z } from 'zod';
import { EVIDENCE } from '../../db/node-tables.ts';
import { OUTCOMES } from '../../db/outcomes.ts';
import { Checksum, choice, given, Paging, Timestamp } from '../../http/schemas.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { PROOF_REASONS } from '../../resolve/proof-reasons.ts';
import type { VersionDetails, VersionRef } from '../../versions/store.ts';

/** The annotated tag by which a version was published. */
export const TagView = z
  .object({
    objectId: z.string().meta({ description: 'Git object id of the annotated tag' }),
    commit: z.string().meta({ description: 'Git commit id' }),
    tagger: z.string().meta({ description: 'The name of who published it' }),
    taggedAt: Timestamp,
  })
  .meta({ id: 'VersionTag' });

export const TAG_EXAMPLE = {
  objectId: '5f2c3a7f0d3b0c4f8e1d2a6b9c8d7e6f5a4b3c2d',
  commit: '8c1f0d5a6b7e4c39a2d1f0e9b8c7d6a5f4e3d2c1',
  tagger: 'alice',
  taggedAt: '2026-11-20T10:00:00.000Z',
};

/** How a node gets what it is assigned itself. */
export const DIRECT = 'Direct';

const count = (description: string) => z.int().meta({ description });

const REASONS =
  '`NeverPolled`: nothing is known of the node. `NotPolledSince`: its last poll, if any, was answered with another ' +
  'checksum. `NotDownloaded`: it was told this checksum, and no bundle of it was sent whole. `NotReported`: the ' +
  'bundle was sent whole, and the node has not said that it runs it. `RunsOther`: its last poll was answered with this ' +
  'checksum, and a later report names another. `Unresolvable`: it gets an error or nothing';

/** How many nodes are offered a version, and by which way. */
const WAYS = {
  offered: count('Nodes whose next poll would be answered with this version: the sum of the next three'),
  direct: count('Of those, nodes to which it is assigned, and that follow'),
  viaComposites: count('Nodes that get it as a child of a composite, which follows'),
  pinned: count('Nodes that get it by an exact version, of the assignment or of the child of a composite'),
};
export const WAYS_EXAMPLE = { offered: 12, direct: 8, viaComposites: 3, pinned: 1 };

/** The member of an answer to publishing. */
export const PUBLISHED_NODES = z
  .object(WAYS)
  .meta({ id: 'OfferedNodes', examples: [WAYS_EXAMPLE] })
  .nullable()
  .meta({ description: 'The nodes that are offered it now; null where they could not be counted' });

export const ProofView = z
  .object({
    configurationName: z.string(),
    version: z.string(),
    tag: TagView,
    nodes: z.object({
      ...WAYS,
      declared: count('Nodes that say that they run the very checksum that they are offered'),
      served: count('Nodes to which its bundle was sent whole'),
      told: count('Nodes that were told its checksum'),
      others: count('All other nodes that are offered it; with the three before, all of them'),
      failed: count(
        'Of the declared, those whose last report that names the checksum had errors, or whose LCM is in Error since',
      ),
      applied: count('The other declared nodes with such a report'),
      untested: count('Declared nodes of which no report names the checksum'),
    }),
    reasons: z
      .array(z.object({ reason: z.enum(PROOF_REASONS), nodes: z.int() }))
      .meta({ description: `Why nodes do not run it, those reasons that concern any node. ${REASONS}` }),
  })
  .meta({
    id: 'VersionProof',
    examples: [
      {
        configurationName: 'web-server',
        version: '1.2.0',
        tag: TAG_EXAMPLE,
        nodes: {
          ...WAYS_EXAMPLE,
          ...{ declared: 9, served: 1, told: 0, others: 2 },
          ...{ failed: 1, applied: 7, untested: 1 },
        },
        reasons: [
          { reason: 'NotPolledSince', nodes: 2 },
          { reason: 'NotReported', nodes: 1 },
        ],
      },
    ],
  });

export const ProofNodeView = z
  .object({
    nodeId: z.string(),
    fqdn: z.string(),
    via: z
      .string()
      .nullable()
      .meta({
        description: `\`${DIRECT}\` where it is assigned to the node, else the name of the composite that brings it; null where the caller may not read that`,
      }),
    isPinned: z.boolean().meta({
      description: 'Whether an exact version holds it, of the assignment or of the child',
    }),
    evidence: z
      .enum(EVIDENCE)
      .nullable()
      .meta({ description: 'How the server knows what the node runs; null where it knows nothing' }),
    checksum: Checksum.nullable().meta({ description: 'What the node runs' }),
    since: Timestamp.nullable().meta({ description: 'When this evidence came' }),
    reason: z
      .enum(PROOF_REASONS)
      .nullable()
      .meta({ description: 'Null for a node that declares that it runs what it is offered' }),
    outcome: z
      .enum(OUTCOMES)
      .nullable()
      .meta({
        description:
          'How the last report went that names the checksum: `Failed` where it had errors, or the LCM is in Error ' +
          'since, else `Applied`; `Untested` without such a report. Null unless the node declares that it runs what it ' +
          'is offered',
      }),
  })
  .meta({
    id: 'ProofNode',
    examples: [
      {
        nodeId: '0b9b2f0e-6d59-4b3e-9a53-2c6f5a1d7e84',
        fqdn: 'web-01.example.org',
        via: 'web-farm',
        isPinned: false,
        evidence: 'Served',
        checksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        since: '2026-11-20T10:04:00.000Z',
        reason: 'NotReported',
        outcome: null,
      },
    ],
  });

export const ProofNodeFilter = Paging.extend({
  evidence: given(choice(...EVIDENCE)).meta({ description: 'How the server knows what they run' }),
  reason: given(choice(...PROOF_REASONS)).meta({ description: REASONS }),
  outcome: given(choice(...OUTCOMES)).meta({ description: 'How it went for them' }),
});

export const VersionUseView = z
  .object({
    version: z.string(),
    ...WAYS,
    declared: count('Nodes that get this name and say that they run this version, whatever they are offered'),
    served: count('Nodes that get this name to which this version was sent last'),
    told: count('Nodes that get this name that were told this version last'),
  })
  .meta({
    id: 'VersionUse',
    examples: [{ version: '1.2.0', ...WAYS_EXAMPLE, declared: 9, served: 1, told: 0 }],
  });

/** @param ref of a published version, and its details */
export function toTag(
  ref: VersionRef,
  { commit, publishedBy, publishedAt, createdAt, createdBy }: VersionDetails,
) {
  return {
    objectId: ref.oid,
    commit,
    tagger: publishedBy ?? createdBy,
    taggedAt: toOptionalTimestamp(publishedAt) ?? toTimestamp(createdAt),
  };
}
