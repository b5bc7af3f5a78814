/** Starts rollouts, and does with them what a person may do. */

import type { z } from 'zod';
import type { Db } from '../../db/database.ts';
import { findScopeTypeByName, orderedValuesOf } from '../../db/scope-types.ts';
import { readRolloutSettings } from '../../db/settings.ts';
import type { ConfigurationTools } from '../../deeds/create-draft.ts';
import { judgeDraft as judgeConfiguration } from '../../deeds/publish.ts';
import { type CompositeTools, judgePublish as judgeComposite } from '../../deeds/publish-composite.ts';
import { ASSIGNMENTS, PARAMETER_WRITES } from '../../domain/lock-names.ts';
import type { RolloutRecord } from '../../domain/rollout.ts';
import { applyDeed, beginRollout, type Deed } from '../../domain/rollout-machine.ts';
import { planFaults } from '../../domain/rollout-plan.ts';
import { scopeKey } from '../../domain/scopes.ts';
import { tidyText } from '../../git/trailers.ts';
import { conflict, invalid } from '../../lib/errors.ts';
import { moveRollout, startRollout } from '../../versions/rollouts.ts';
import { type ResourceKind, requireRow, type Target } from '../../versions/rows.ts';
import type { PublishRules } from '../../versions/rules.ts';
import type { NewRollout, RolloutDeed } from './schemas.ts';
import { latestCounts } from './show.ts';

export type RolloutTools = ConfigurationTools & CompositeTools;

/**
 * Rolls a version out. A draft is published into its rollout, by the rules of publishing.
 * @throws HawserError not_found; conflict `no_rings`; invalid for the plan; as `startRollout`, and as publishing
 */
export function start(
  tools: RolloutTools,
  target: Target<ResourceKind>,
  { version, onHalt, message, ...plan }: z.output<typeof NewRollout>,
): Promise<unknown> {
  const { principal, actor } = target;
  // It is shared with all who write parameters, and keeps the scope type and its values as they are.
  return tools.locks.share(PARAMETER_WRITES, async () => {
    const { scopeType, values } = await requireRings(tools.database.read);
    const spellings = new Map(values.map((value) => [scopeKey(value), value]));
    const steps = plan.steps.map(({ ring, ...step }) => {
      return { ...step, ring: ring === null ? null : (spellings.get(scopeKey(ring)) ?? ring) };
    });
    const faults = planFaults(steps, values);
    if (faults.length > 0) throw invalid('validation_failed', 'The steps cannot be rolled out', faults);
    const begin = (tag: string, publishedBy: string): RolloutRecord => {
      const people = { createdBy: principal.username, publishedBy };
      return beginRollout({ version, tag, scopeType, steps, onHalt, ...people, at: actor.at });
    };
    const beginning = { rules: rulesOf(tools, target, version), message, begin };
    // The children of a composite must keep the versions that its nodes are about to get.
    return tools.locks.share(ASSIGNMENTS, () => startRollout(tools, target, version, beginning));
  });
}

/** The scope type whose values are the rings, and these in their order. @throws HawserError conflict `no_rings` */
export async function requireRings(db: Db) {
  const { rolloutScopeType } = await readRolloutSettings(db);
  const type = rolloutScopeType === null ? undefined : await findScopeTypeByName(db, rolloutScopeType);
  if (type === undefined) {
    const message = 'The setting rolloutScopeType names no scope type whose values are the rings';
    throw conflict('no_rings', message);
  }
  const values = await orderedValuesOf(db, type.id);
  return { scopeType: { id: type.id, name: type.name }, values: values.map(({ value }) => value) };
}

/** The rules for publishing. They are asked under the lock. */
function rulesOf(
  tools: RolloutTools,
  { kind, resource, principal }: Target<ResourceKind>,
  version: string,
): PublishRules {
  if (kind === 'composites') return (draft) => judgeComposite(tools, { resource, principal }, draft);
  return async () => {
    const row = await requireRow(tools.database.read, 'configurations', resource.id);
    return (await judgeConfiguration(tools, row, version, principal)).blockers;
  };
}

/** @throws HawserError not_found; conflict `state_changed`, `not_possible`, `same_person`, `approval_pending`, `versions_changed` */
export function move(
  tools: RolloutTools,
  target: Target<ResourceKind>,
  { version, deed }: { version: string; deed: Deed },
  { reason, expectedState }: z.output<typeof RolloutDeed>,
): Promise<unknown> {
  const { principal, actor } = target;
  return moveRollout(tools, target, version, async ({ record }) => {
    const { state } = record;
    if (state !== expectedState)
      throw conflict('state_changed', `The rollout is ${state} by now, not ${expectedState}`);
    const by = { actorName: principal.username, at: actor.at, reason: tidyText(reason) ?? '' };
    const counts = await latestCounts(tools.database.read, target, record);
    const made = applyDeed(record, deed, { ...by, counts });
    if (made === 'not_possible') throw conflict('not_possible', notPossible(deed, state));
    if (made === 'same_person')
      throw conflict('same_person', 'Whoever published the version cannot approve its rollout');
    if (made === 'approval_pending')
      throw conflict('approval_pending', 'A step of the rollout asks for an approval that nobody has given');
    return made;
  });
}

function notPossible(deed: Deed, state: string): string {
  if (deed === 'approve') return `The rollout is ${state}, and its open step does not wait for an approval`;
  return `A rollout that is ${state} cannot be told to ${deed}`;
}
