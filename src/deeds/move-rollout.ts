/** Moves rollouts, as a person may: pauses, resumes, approves, halts, reverts and completes them. */

import { findSetsAppliedAt } from '../db/change-sets.ts';
import type { Db } from '../db/database.ts';
import { latestCounts } from '../db/rollouts.ts';
import { NamesOfScopes, type RestrictedScope } from '../db/scope-grants.ts';
import type { RolloutRecord, RolloutState } from '../domain/rollout.ts';
import { applyDeed, type Deed } from '../domain/rollout-machine.ts';
import { tidyText } from '../git/trailers.ts';
import { conflict } from '../lib/errors.ts';
import { moveRollout as writeMove } from '../versions/rollouts.ts';
import type { ResourceKind, Target } from '../versions/rows.ts';
import type { RolloutRef } from '../versions/types.ts';
import { keptOf } from './change-sets.ts';
import { Protections } from './protection.ts';
import { requireRights } from './rollout-rights.ts';
import { isProtectionOf, type ShownProtection } from './set-protections.ts';
import type { RolloutTools } from './start-rollout.ts';

/** Why a rollout is moved, and the state that the caller has seen. */
export interface WantedMove {
  reason: string;
  expectedState: RolloutState;
}

/** What gives it to more nodes, now or later. */
export const OPENING: readonly Deed[] = ['resume', 'approve', 'complete'];

/**
 * @throws HawserError not_found; forbidden; conflict `state_changed`, `not_possible`, `same_person`, `approval_pending`,
 *   `versions_changed`, `change_set_required`
 */
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
    if (OPENING.includes(deed)) await requireApproved(tools, target, record);
    return made;
  });
}

/**
 * Whoever lets it reach more nodes needs what its start would need now. One that a change set has started was judged then, by what
 * protected it.
 * @throws HawserError conflict `change_set_required`
 */
async function requireApproved(
  tools: Pick<RolloutTools, 'database' | 'store'>,
  { kind, resource }: Target<ResourceKind>,
  record: RolloutRecord,
): Promise<void> {
  const { read } = tools.database;
  const { version, steps, onHalt } = record;
  const protections = await Protections.of(tools);
  if (protections.things.length === 0) return;
  const covers = await protections.coverOf({
    kind: 'StartRollout',
    ...{ version, steps, onHalt },
    ...(kind === 'composites' ? { compositeName: resource.name } : { configurationName: resource.name }),
    parameters: await filesNow(read, resource.id, record),
  });
  if (covers.length === 0) return;
  const judged: ShownProtection[] = [];
  for (const set of await findSetsAppliedAt(read, Date.parse(record.createdAt))) {
    const { deeds, named } = keptOf(set);
    const isStart = (at: number) =>
      deeds[at]?.kind === 'StartRollout' &&
      deeds[at]['version'] === version &&
      named[at]?.[0]?.id === resource.id;
    const shown: ShownProtection[] = JSON.parse(set.protection ?? '[]');
    judged.push(...shown.filter((each) => each.deeds.some(isStart)));
  }
  if (covers.every(({ thing }) => judged.some((shown) => isProtectionOf(shown, thing)))) return;
  throw conflict(
    'change_set_required',
    'What rolls out is protected, and no change set that was approved for that has started it: halt it, and propose a higher ' +
      'version as a change set (POST /api/v1/change-sets)',
  );
}

/** The files by the names that their scopes have now. */
async function filesNow(db: Db, configurationId: string, { parameters }: RolloutRecord) {
  const scopes = parameters.map(({ scopeType, scopeValue }) => {
    return { configurationId, scopeTypeId: scopeType.id, scopeValueId: scopeValue?.id ?? null, fqdn: null };
  });
  const names = await NamesOfScopes.of(db, scopes);
  return parameters.flatMap(({ version }, at) =>
    names
      .namesOf(scopes[at] as RestrictedScope)
      .map(({ scopeType, value }) => ({ scopeTypeName: scopeType, scopeValue: value, version })),
  );
}

function notPossible(deed: Deed, state: string): string {
  if (deed === 'approve') return `The rollout is ${state}, and its open step does not wait for an approval`;
  return `A rollout that is ${state} cannot be told to ${deed}`;
}
