/** Freezes what nodes get until a time, and ends that before its time. */

import type { Database } from '../db/database.ts';
import { type Freeze, readFreeze, saveFreeze } from '../db/freeze.ts';
import { changedMembers } from '../domain/changed-members.ts';
import { tidyText } from '../git/trailers.ts';
import { DAY, toTimestamp } from '../lib/clock.ts';
import { invalidField } from '../lib/errors.ts';
import { recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';

/** What is frozen for longer has been forgotten. */
export const LONGEST_DAYS = 90;

export interface WantedFreeze {
  reason: string;
  /** Epoch milliseconds. */
  until: number;
}

/**
 * Freezes what nodes get. A freeze that lasts already gets this reason and this end.
 * @returns the freeze as it is now
 * @throws HawserError invalid for an end that is over, or too far away
 */
export function freeze(
  { write }: Pick<Database, 'write'>,
  { principal, actor }: Caller,
  { reason: given, until }: WantedFreeze,
): Promise<Freeze> {
  const { at } = actor;
  return write.transaction().execute(async (trx) => {
    if (until <= at) throw invalidField('/until', 'The end must lie in the future', 'not_in_future');
    if (until > at + LONGEST_DAYS * DAY)
      throw invalidField('/until', `The end must lie at most ${LONGEST_DAYS} days ahead`, 'too_far_ahead');
    const now = { reason: tidyText(given) ?? '', until, frozenBy: principal.username, frozenAt: at };
    const before = await readFreeze(trx, at);
    const changes = before && changedMembers(told(before), told(now));
    if (before !== null && changes === null) return before;
    await saveFreeze(trx, now);
    await recordAudit(trx, actor, {
      action: before === null ? 'freeze.set' : 'freeze.changed',
      resourceId: null,
      details: changes ?? told(now),
    });
    return now;
  });
}

/** It is no error that nothing is frozen. */
export function endFreeze(
  { write }: Pick<Database, 'write'>,
  { actor }: Pick<Caller, 'actor'>,
): Promise<void> {
  return write.transaction().execute(async (trx) => {
    const before = await readFreeze(trx, actor.at);
    if (before === null) return;
    await saveFreeze(trx, null);
    await recordAudit(trx, actor, { action: 'freeze.ended', resourceId: null, details: told(before) });
  });
}

/** What the audit trail says of a freeze. */
const told = ({ reason, until }: Freeze) => ({ reason, until: toTimestamp(until) });
