/** `/api/v1/settings/freeze`: until a time nothing may change what nodes get. */

import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { type Freeze, readFreeze } from '../../db/freeze.ts';
import { endFreeze, freeze, LONGEST_DAYS, type WantedFreeze } from '../../deeds/freeze.ts';
import type { Route } from '../../http/route.ts';
import { Instant, Reason, Timestamp } from '../../http/schemas.ts';
import { shownFreeze } from '../shared/freeze.ts';
import { operation, type PermittedRoutes } from '../shared/routes.ts';

const EXAMPLE = { reason: 'Christmas sales', until: '2026-12-27T06:00:00.000Z' };

export const FreezeView = z
  .object({
    isFrozen: z.boolean(),
    reason: z.string().nullable(),
    until: Timestamp.nullable(),
    frozenBy: z.string().nullable(),
    frozenAt: Timestamp.nullable(),
  })
  .meta({
    id: 'Freeze',
    examples: [{ isFrozen: true, ...EXAMPLE, frozenBy: 'alice', frozenAt: '2026-12-20T18:00:00.000Z' }],
  });

/** A text that is asked for in words where it is absent. */
const asked = (message: string) =>
  z.string({ error: ({ input }) => (input === undefined || input === null ? message : undefined) });

const NewFreeze = z
  .strictObject({
    reason: asked('A freeze needs a reason: say why nothing may be changed').pipe(Reason),
    until: asked('A freeze needs an end: say until when nothing may be changed')
      .pipe(Instant)
      .meta({
        description: `In the future, and at most ${LONGEST_DAYS} days ahead`,
        published: { type: 'string', format: 'date-time' },
      }),
  })
  .meta({ id: 'NewFreeze', examples: [EXAMPLE] }) satisfies z.ZodType<WantedFreeze>;

const PATH = '/api/v1/settings/freeze';

/** @param routes who may read the settings of the server, and who may change them */
export function freezeRoutes(
  database: Database,
  { reading, writing }: Record<'reading' | 'writing', PermittedRoutes>,
): Route[] {
  return [
    reading.get(PATH, {
      ...operation('getFreeze', 'Read whether what nodes get is frozen'),
      answer: {
        description: 'The freeze; all but `isFrozen` is null where there is none',
        schema: FreezeView,
      },
      handle: async ({ facts }) => toFreeze(await readFreeze(database.read, facts.now)),
    }),
    writing.update(PATH, {
      ...operation('setFreeze', 'Freeze what nodes get until a time'),
      description:
        'Until then whatever changes what nodes get is refused with 423 `frozen`. Drafts, reviews, registrations, ' +
        'reports, users and rights go on. A freeze that lasts already gets this reason and this end.',
      body: { kind: 'json', schema: NewFreeze },
      answer: { description: 'The freeze as it is now', schema: FreezeView },
      handle: async ({ caller, body }) => toFreeze(await freeze(database, caller, body)),
    }),
    writing.delete(PATH, {
      ...operation('endFreeze', 'End the freeze before its time'),
      answer: { description: 'Nothing is frozen any more, or nothing was' },
      handle: ({ caller }) => endFreeze(database, caller),
    }),
  ];
}

function toFreeze(found: Freeze | null): z.output<typeof FreezeView> {
  if (found === null) return { isFrozen: false, reason: null, until: null, frozenBy: null, frozenAt: null };
  return { isFrozen: true, ...shownFreeze(found) };
}
