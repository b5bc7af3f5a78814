/** Moves rollouts, as a person may: pauses, resumes, approves, halts, reverts and completes them. */

import { latestCounts } from '../db/rollouts.ts';
import type { RolloutState } from '../domain/rollout.ts';
import { applyDeed, type Deed } from '../domain/rollout-machine.ts';
import { tidyText } from '../git/trailers.ts';
import { conflict } from '../lib/errors.ts';
import { moveRollout as writeMove } from '../versions/rollouts.ts';
import type { ResourceKind, Target } from '../versions/rows.ts';
import type { RolloutRef } from '../versions/types.ts';
import { requireRights } from './rollout-rights.ts';
import type { RolloutTools } from './start-rollout.ts';

/** Why a rollout is moved, and the state that the caller has seen. */
export interface WantedMove {
  reason: string;
  expectedState: RolloutState;
}

/** @throws HawserError not_found; forbidden; conflict `state_changed`, `not_possible`, `same_person`, `approval_pending`, `versions_changed` */
export function moveRollout(
  tools: Pick<RolloutTools, 'database' | 'store'>,
  target: Target<ResourceKind>,
  { key, deed }: { key: string; deed: Deed },
  { reason, expectedState }: WantedMove,
): Promise<RolloutRef> {
  const { principal, actor } = target;
  return writeMove(tools, target, key, async ({ record }) => {
    await requireRights(tools.database.read, target, record);
    const { state } = record;
    if (state !== expectedState)
      throw conflict('state_changed', `The rollout is ${state} by now, not ${expectedState}`);
    const by = { actorName: principal.username, at: actor.at, reason: tidyText(reason) ?? '' };
    const counts = await latestCounts(
      tools.database.read,
      { kind: target.kind, id: target.resource.id },
      record,
    );
    const made = applyDeed(record, deed, { ...by, counts });
    if (made === 'not_possible') throw conflict('not_possible', notPossible(deed, state));
    if (made === 'same_person')
      throw conflict('same_person', 'Whoever published any of it cannot approve its rollout');
    if (made === 'approval_pending')
      throw conflict('approval_pending', 'A step of the rollout asks for an approval that nobody has given');
    return made;
  });
}

function notPossible(deed: Deed, state: string): string {
  if (deed === 'approve') return `The rollout is ${state}, and its open step does not wait for an approval`;
  return `A rollout that is ${state} cannot be told to ${deed}`;
}
