/** What proof of a version looks like in the API. */

import { z } from 'zod';
import { EVIDENCE } from '../../db/node-tables.ts';
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

const count = (description: string) => z.int().meta({ description });

const REASONS =
  '`NeverPolled`: nothing is known of the node. `NotPolledSince`: its last poll, if any, was answered with another ' +
  'checksum. `NotDownloaded`: it was told this checksum, and no bundle of it was sent whole. `NotReported`: the ' +
  'bundle was sent whole, and the node has not said that it runs it. `RunsOther`: its last poll was answered with this ' +
  'checksum, and a later report names another. `Unresolvable`: it gets an error or nothing';

export const ProofView = z
  .object({
    configurationName: z.string(),
    version: z.string(),
    tag: TagView,
    nodes: z.object({
      offered: count('Nodes whose next poll would be answered with this version: the sum of the other four'),
      declared: count('Of those, nodes that say that they run the very checksum that they are offered'),
      served: count('Nodes to which its bundle was sent whole'),
      told: count('Nodes that were told its checksum'),
      others: count('All other nodes that are offered it'),
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
        nodes: { offered: 12, declared: 9, served: 1, told: 0, others: 2 },
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
  })
  .meta({
    id: 'ProofNode',
    examples: [
      {
        nodeId: '0b9b2f0e-6d59-4b3e-9a53-2c6f5a1d7e84',
        fqdn: 'web-01.example.org',
        evidence: 'Served',
        checksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        since: '2026-11-20T10:04:00.000Z',
        reason: 'NotReported',
      },
    ],
  });

export const ProofNodeFilter = Paging.extend({
  evidence: given(choice(...EVIDENCE)).meta({ description: 'How the server knows what they run' }),
  reason: given(choice(...PROOF_REASONS)).meta({ description: REASONS }),
});

export const VersionUseView = z
  .object({
    version: z.string(),
    offered: count('Nodes whose next poll would be answered with this version'),
    declared: count(
      'Nodes assigned this name that say that they run this version, whatever they are offered',
    ),
    served: count('Nodes assigned this name to which this version was sent last'),
    told: count('Nodes assigned this name that were told this version last'),
  })
  .meta({
    id: 'VersionUse',
    examples: [{ version: '1.2.0', offered: 12, declared: 9, served: 1, told: 0 }],
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
