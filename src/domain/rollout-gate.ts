/** Whether the gate of a rollout's step holds by what the nodes report that the step adds. */

import type { Gate, RolloutCounts } from './rollout.ts';

/**
 * What the gate lacks, as parts of a sentence; empty if it holds. Time, approval and regressions are not looked at: these
 * are the machine's, and a gate whose regressions are exceeded halts before anything else is asked.
 */
export function lackOf(gate: Gate, counts: RolloutCounts): string[] {
  const { minNodes, successShare, maxSilent, maxAbsent } = gate;
  const judged = counts.success + counts.regression;
  const share = successShareOf(counts);
  const lack: string[] = [];
  if (judged < minNodes) lack.push(`nodes judged: ${judged} of ${minNodes}`);
  if (share < successShare) lack.push(`share of successes: ${cut(share)}, needed ${successShare}`);
  if (maxSilent !== null && counts.silent > maxSilent)
    lack.push(`silent nodes: ${counts.silent}, allowed ${maxSilent}`);
  if (maxAbsent !== null && counts.absent > maxAbsent)
    lack.push(`absent nodes: ${counts.absent}, allowed ${maxAbsent}`);
  return lack;
}

/**
 * From 0 to 1. Where no node counts the share is met, so that `minNodes: 0` lets a ring without nodes pass. It is divided
 * and not multiplied out, because 7 / 100 is the same double as 0.07, and 100 * 0.07 is more than 7.
 */
function successShareOf({ success, taken, alreadyBad }: RolloutCounts): number {
  const counted = taken - alreadyBad;
  return counted > 0 ? success / counted : 1;
}

/** Cut and not rounded, so that a share that is too small never looks as if it were enough. */
function cut(share: number): number {
  return Math.floor(share * 10_000) / 10_000;
}
