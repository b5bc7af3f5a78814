/** Shapes of grants. */

import { z } from 'zod';
import { choice, Id, Timestamp } from '../../http/schemas.ts';

export const PrincipalType = choice('User', 'Group');
export const Level = choice('Read', 'Modify', 'Manage');

export const NewGrant = z.strictObject({
  principalType: PrincipalType,
  principalId: z.guid().transform((id) => id.toLowerCase()),
  level: Level,
});

export const Grant = z.object({
  principalType: PrincipalType,
  principalId: Id,
  principalName: z.string(),
  level: Level,
  grantedAt: Timestamp,
  grantedByUserId: Id.nullable(),
});
