/** `/api/v1/settings/freeze`: until a time nothing may change what nodes get. */

import { z } from 'zod';
import type { Database, Db } from '../../db/database.ts';
import { type Freeze, readFreeze, saveFreeze } from '../../db/freeze.ts';
import { changedMembers } from '../../domain/changed-members.ts';
import { tidyText } from '../../git/trailers.ts';
import type { Route } from '../../http/route.ts';
import { Instant, Reason, Timestamp } from '../../http/schemas.ts';
import { DAY, toTimestamp } from '../../lib/clock.ts';
import { invalidField } from '../../lib/errors.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import type { Caller } from '../../security/caller.ts';
import { shownFreeze } from '../crud/freeze.ts';
import { operation, type PermittedRoutes } from '../crud/routes.ts';

/** What is frozen for longer has been forgotten. */
const LONGEST_DAYS = 90;

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
  .meta({ id: 'NewFreeze', examples: [EXAMPLE] });

const PATH = '/api/v1/settings/freeze';

/** @param routes who may read the settings of the server, and who may change them */
export function freezeRoutes(
  database: Database,
  { reading, writing }: Record<'reading' | 'writing', PermittedRoutes>,
): Route[] {
  const inTransaction = <T>(work: (trx: Db) => Promise<T>) => database.write.transaction().execute(work);
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
      handle: ({ caller, body }) => inTransaction((trx) => freeze(trx, caller, body)),
    }),
    writing.delete(PATH, {
      ...operation('endFreeze', 'End the freeze before its time'),
      answer: { description: 'Nothing is frozen any more, or nothing was' },
      handle: ({ caller }) => inTransaction((trx) => endFreeze(trx, caller.actor)),
    }),
  ];
}

function toFreeze(found: Freeze | null): z.output<typeof FreezeView> {
  if (found === null) return { isFrozen: false, reason: null, until: null, frozenBy: null, frozenAt: null };
  return { isFrozen: true, ...shownFreeze(found) };
}

/** @throws HawserError invalid for an end that is over, or too far away */
async function freeze(
  trx: Db,
  { principal, actor }: Caller,
  { reason: given, until }: z.output<typeof NewFreeze>,
): Promise<z.output<typeof FreezeView>> {
  const { at } = actor;
  if (until <= at) throw invalidField('/until', 'The end must lie in the future', 'not_in_future');
  if (until > at + LONGEST_DAYS * DAY)
    throw invalidField('/until', `The end must lie at most ${LONGEST_DAYS} days ahead`, 'too_far_ahead');
  const reason = tidyText(given) ?? '';
  const before = await readFreeze(trx, at);
  const told = { reason, until: toTimestamp(until) };
  const changes = before && changedMembers(shownFreeze(before), told);
  if (before !== null && changes === null) return toFreeze(before);
  const now = { reason, until, frozenBy: principal.username, frozenAt: at };
  await saveFreeze(trx, now);
  await recordAudit(trx, actor, {
    action: before === null ? 'freeze.set' : 'freeze.changed',
    resourceId: null,
    details: changes ?? told,
  });
  return toFreeze(now);
}

async function endFreeze(trx: Db, actor: Actor): Promise<void> {
  const before = await readFreeze(trx, actor.at);
  if (before === null) return;
  await saveFreeze(trx, null);
  const { reason, until } = shownFreeze(before);
  await recordAudit(trx, actor, { action: 'freeze.ended', resourceId: null, details: { reason, until } });
}
