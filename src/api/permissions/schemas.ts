/** Shapes of grants. */

import { z } from 'zod';
import type * as deed from '../../deeds/grant.ts';
import { choice, Id, IdInAnyCase, Timestamp } from '../../http/schemas.ts';
import { EXAMPLES } from '../shared/principals.ts';

export const PrincipalType = choice('User', 'Group');
export const Level = choice('Read', 'Modify', 'Manage');

/** An example of who holds a grant. */
const HOLDER = { principalType: 'Group', principalId: EXAMPLES.group.id };

export const NewGrant = z
  .strictObject({
    principalType: PrincipalType,
    principalId: IdInAnyCase,
    level: Level,
  })
  .meta({ id: 'NewGrant', examples: [{ ...HOLDER, level: 'Modify' }] }) satisfies z.ZodType<deed.NewGrant>;

export const Grant = z
  .object({
    principalType: PrincipalType,
    principalId: Id,
    principalName: z.string().describe('Name of the user or group'),
    level: Level,
    grantedAt: Timestamp,
    grantedByUserId: Id.nullable().describe('Null if that user has been deleted'),
  })
  .meta({
    id: 'Grant',
    examples: [
      {
        ...HOLDER,
        principalName: 'Web team',
        level: 'Modify',
        grantedAt: '2026-11-20T09:08:00.000Z',
        grantedByUserId: '0b1f7c52-6a53-4d0e-9d43-7c1d2f0c9a11',
      },
    ],
  });
