/** Shapes of what is assigned to a node. */

import { z } from 'zod';
import type { WantedAssignment } from '../../deeds/handing-out.ts';
import { isChannel } from '../../domain/version-choice.ts';
import { MAX_VERSION_LENGTH } from '../../domain/version-order.ts';

/** An assignment as the details of a node show it. */
export const AssignmentView = z.object({
  configurationName: z.string(),
  isComposite: z.boolean(),
  majorVersion: z.int().nullable().meta({ description: 'Null admits any' }),
  prereleaseChannel: z.string().nullable().meta({ description: 'Null admits stable versions only' }),
  version: z.string().nullable().meta({ description: 'To which the node is pinned, or null' }),
  resolvedVersion: z
    .string()
    .nullable()
    .meta({ description: 'What the node gets now; null where no version fits' }),
  pinnedToWithdrawn: z
    .boolean()
    .meta({ description: 'Whether the node is pinned to a version that has been withdrawn' }),
});

/** A version that is named exactly leaves nothing for a major version or a channel to decide. */
export function refuseBesideVersion(
  members: { [name in 'majorVersion' | 'prereleaseChannel' | 'version']?: unknown },
  context: z.RefinementCtx,
): void {
  if ((members.version ?? null) === null) return;
  for (const name of ['majorVersion', 'prereleaseChannel'] as const) {
    if ((members[name] ?? null) === null) continue;
    const message = 'Leave this out where version names the one version';
    context.addIssue({ code: 'custom', path: [name], message });
  }
}

/** What a body says of the assignment that it asks for. Whoever takes these members takes `refuseBesideVersion` too. */
export const ASSIGNMENT = {
  configurationName: z.string().min(1).max(128),
  isComposite: z.boolean().nullish(),
  majorVersion: z.int().min(0).nullish().meta({ description: 'Absent or null admits any' }),
  prereleaseChannel: z
    .string()
    .refine(isChannel, 'Not a SemVer prerelease such as rc or beta.2')
    .nullish()
    .meta({ description: 'Admits prereleases at or above this one, such as rc; absent or null none' }),
  version: z.string().min(1).max(MAX_VERSION_LENGTH).nullish().meta({
    description:
      'Exactly this published version, so without `majorVersion` and `prereleaseChannel`; absent or null pins nothing',
  }),
};

export const NewAssignment = z
  .strictObject(ASSIGNMENT)
  .superRefine(refuseBesideVersion)
  .meta({
    id: 'NodeAssignment',
    examples: [
      { configurationName: 'web-server', isComposite: false, majorVersion: 1, prereleaseChannel: null },
      { configurationName: 'web-server', version: '1.2.0' },
    ],
  }) satisfies z.ZodType<WantedAssignment>;
