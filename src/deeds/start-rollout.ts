/** Starts rollouts: a version reaches the nodes ring by ring. */

import type { Db } from '../db/database.ts';
import { findScopeTypeByName, orderedValuesOf } from '../db/scope-types.ts';
import { readRolloutSettings } from '../db/settings.ts';
import { ASSIGNMENTS, PARAMETER_WRITES } from '../domain/lock-names.ts';
import type { OnHalt, RolloutRecord } from '../domain/rollout.ts';
import { beginRollout } from '../domain/rollout-machine.ts';
import { type PlannedStep, planFaults } from '../domain/rollout-plan.ts';
import { scopeKey } from '../domain/scopes.ts';
import { conflict, invalid } from '../lib/errors.ts';
import { startRollout as writeStart } from '../versions/rollouts.ts';
import { type ResourceKind, requireRow, type Target } from '../versions/rows.ts';
import type { PublishRules } from '../versions/rules.ts';
import type { ConfigurationTools } from './create-draft.ts';
import { judgeDraft as judgeConfiguration } from './publish.ts';
import { type CompositeTools, judgePublish as judgeComposite } from './publish-composite.ts';

export type RolloutTools = ConfigurationTools & CompositeTools;

/** Which version is to be rolled out, and how. */
export interface WantedRollout {
  version: string;
  /** In the order in which they open. A ring is named in any case. */
  steps: readonly PlannedStep[];
  onHalt: OnHalt;
  message?: string | undefined;
}

/**
 * Rolls a version out. A draft is published into its rollout, by the rules of publishing.
 * @throws HawserError not_found; conflict `no_rings`; invalid for the plan; as `writeStart`, and as publishing
 */
export function startRollout(
  tools: RolloutTools,
  target: Target<ResourceKind>,
  { version, onHalt, message, ...plan }: WantedRollout,
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
    return tools.locks.share(ASSIGNMENTS, () => writeStart(tools, target, version, beginning));
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
