/** The plan of a rollout: which rings get the version one after the other, and how often a ring may come. */

import type { FieldError } from '../lib/errors.ts';
import type { RolloutStep } from './rollout.ts';

/** Bounds the record in Git, and the work for every node that polls. */
export const MAX_STEPS = 100;

export type PlannedStep = Pick<RolloutStep, 'ring' | 'percent' | 'gate'>;

/** What the order of steps depends on. */
type Share = Pick<RolloutStep, 'ring' | 'percent'>;

/**
 * The faults of a plan's steps; none if the plan may be rolled out. Rings may come in any order, and a ring may come again
 * with a larger share. Paths are JSON Pointers into the plan, such as `/steps/1/ring`. The members of gates are not looked at.
 *
 * @param rings are the values of the scope type of the rings
 */
export function planFaults(steps: readonly Share[], rings: readonly string[]): FieldError[] {
  if (steps.length === 0)
    return [{ path: '/steps', message: 'Must have at least one step', code: 'too_small' }];
  if (steps.length > MAX_STEPS)
    return [{ path: '/steps', message: `Must have at most ${MAX_STEPS} steps`, code: 'too_big' }];
  // The nodes without a tag are a ring like all others.
  const known = new Set<string | null>([...rings, null]);
  const shares = new Map<string | null, number>();
  return steps.flatMap(({ ring, percent }, at) => {
    const before = shares.get(ring) ?? 0;
    shares.set(ring, percent);
    const path = `/steps/${at}/ring`;
    const unknown = { path, message: 'Must be a value of the scope type of the rings', code: 'unknown_ring' };
    return [...(known.has(ring) ? [] : [unknown]), ...percentFaults(percent, before, at)];
  });
}

/** @param before the share that the ring had in its step before; 0 without one */
function percentFaults(percent: number, before: number, at: number): FieldError[] {
  const path = `/steps/${at}/percent`;
  if (!Number.isInteger(percent) || percent < 1 || percent > 100)
    return [{ path, message: 'Must be a whole number from 1 to 100', code: 'percent_range' }];
  if (percent > before) return [];
  const message = `Must be more than the ${before} percent that its ring has in the step before`;
  return [{ path, message, code: 'percent_order' }];
}
