/** Shapes of what nodes are given before they are there: by registration keys, by rules, and as expected nodes. */

import { z } from 'zod';
import { normalizeNamePattern } from '../../domain/name-patterns.ts';
import { IdInAnyCase } from '../../http/schemas.ts';
import { AssignmentView, NewAssignment } from './assignment-schemas.ts';

/** No node has as many tags as this. */
export const MAX_TAGS = 100;

export const PATTERN_RULE = 'a host name in which `*` stands for any characters of one label, or for none';

export const NamePattern = z.string().transform((text, context) => {
  const pattern = normalizeNamePattern(text);
  if (pattern !== null) return pattern;
  context.addIssue({ code: 'custom', message: 'Not a pattern of host names, such as web-*.example.com' });
  return z.NEVER;
});

/** What examples give. */
export const GIVEN_EXAMPLE = {
  scopeValueIds: ['c0ffee00-1d2c-4b3a-8495-a6b7c8d9e0f1'],
  assignment: {
    configurationName: 'web-server',
    isComposite: false,
    majorVersion: 1,
    prereleaseChannel: null,
    version: null,
  },
};

/** What a body says of it. */
export const GIVEN = {
  assignment: NewAssignment.nullish().transform((assignment) => assignment ?? null),
  scopeValueIds: z
    .array(IdInAnyCase)
    .max(MAX_TAGS)
    .nullish()
    .transform((ids) => ids ?? [])
    .meta({ description: 'The tags, at most one of each scope type; absent or null: none' }),
};

/** What answers say of the assignment. */
export const GivenAssignment = AssignmentView.omit({ resolvedVersion: true, pinnedToWithdrawn: true });
