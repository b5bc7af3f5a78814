/** The freeze that lasts, as several routes show it. */

import { z } from 'zod';
import type { Freeze } from '../../db/freeze.ts';
import { Timestamp } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';

export const FreezeInForce = z
  .object({
    reason: z.string(),
    until: Timestamp,
    frozenBy: z.string().meta({ description: 'As the user was called then' }),
    frozenAt: Timestamp,
  })
  .meta({ id: 'FreezeInForce' });

export function shownFreeze({ reason, until, frozenBy, frozenAt }: Freeze): z.output<typeof FreezeInForce> {
  return { reason, until: toTimestamp(until), frozenBy, frozenAt: toTimestamp(frozenAt) };
}
