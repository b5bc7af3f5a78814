/** The plan of a rollout: which rings get the version one after the other, and the rules for their order. */

import type { FieldError } from '../lib/errors.ts';
import type { RolloutStep } from './rollout.ts';

/** Bounds the record in Git, and the work for every node that polls. */
export const MAX_STEPS = 100;

export type PlannedStep = Pick<RolloutStep, 'ring' | 'percent' | 'gate'>;

/** What the order of steps depends on. */
type Share = Pick<RolloutStep, 'ring' | 'percent'>;

/**
 * The faults of a plan's steps; none if the plan may be rolled out. Paths are JSON Pointers into the plan, such as
 * `/steps/1/ring`. The members of gates are not looked at.
 *
 * @param rings are the values of the scope type of the rings, in their order
 */
export function planFaults(steps: readonly Share[], rings: readonly string[]): FieldError[] {
  if (steps.length === 0)
    return [{ path: '/steps', message: 'Must have at least one step', code: 'too_small' }];
  if (steps.length > MAX_STEPS)
    return [{ path: '/steps', message: `Must have at most ${MAX_STEPS} steps`, code: 'too_big' }];
  const places = new Map<string | null, number>(rings.map((ring, at) => [ring, at]));
  // The nodes without a tag are behind all others.
  places.set(null, rings.length);
  return steps.flatMap((step, at) => [
    ...percentFaults(step, at),
    ...orderFaults(step, steps[at - 1], at, places),
  ]);
}

function percentFaults({ percent }: Share, at: number): FieldError[] {
  if (Number.isInteger(percent) && percent >= 1 && percent <= 100) return [];
  return [
    { path: `/steps/${at}/percent`, message: 'Must be a whole number from 1 to 100', code: 'percent_range' },
  ];
}

/** Each step is compared with the one before it. So a ring that comes back later is found as a step out of order. */
function orderFaults(
  step: Share,
  before: Share | undefined,
  at: number,
  places: ReadonlyMap<string | null, number>,
): FieldError[] {
  const ring = `/steps/${at}/ring`;
  const place = places.get(step.ring);
  if (place === undefined)
    return [{ path: ring, message: 'Must be a value of the scope type of the rings', code: 'unknown_ring' }];
  const placeBefore = before && places.get(before.ring);
  // An unknown ring before it has a fault of its own.
  if (before === undefined || placeBefore === undefined) return [];
  if (place < placeBefore) return [{ path: ring, message: orderRule(before.ring), code: 'ring_order' }];
  if (place > placeBefore || step.percent > before.percent) return [];
  const message = `Must be more than the ${before.percent} percent of the step before, which has the same ring`;
  return [{ path: `/steps/${at}/percent`, message, code: 'percent_order' }];
}

function orderRule(before: string | null): string {
  if (before === null) return 'Must not come after the nodes without a ring, which are last';
  return 'Must not come before the ring of the step before in the order of the values';
}
