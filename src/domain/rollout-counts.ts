/** Counts the nodes of the open steps of a rollout by what they have reported. */

import type { NodeStatus } from './report-verdict.ts';
import type { RolloutCounts } from './rollout.ts';

/** What is known of one node to which the version is offered. */
export interface CountedNode {
  hasTaken: boolean;
  /** Its status before it took the version; null where that is not known yet, or it has not taken it. */
  statusBefore: NodeStatus | null;
  /** The last report of a Test or a Set since it took the version; null before the first one. */
  report: {
    operation: 'Test' | 'Set';
    status: NodeStatus;
    /** Whether a Set came before it, since the node took the version too. */
    isAfterSet: boolean;
  } | null;
  /** `Monitor` or `Remediate`; null where the node has not told it. */
  mode: string | null;
  /** Whether it has polled since the version is open to it. */
  hasPolled: boolean;
}

/** Adds a node to the counts. */
export function countNode(counts: RolloutCounts, node: CountedNode): void {
  counts.offered += 1;
  if (!node.hasTaken) {
    if (!node.hasPolled) counts.absent += 1;
    return;
  }
  counts.taken += 1;
  if (node.report === null) counts.silent += 1;
  if (node.statusBefore === null) return;
  if (wasBad(node.statusBefore, node.mode)) counts.alreadyBad += 1;
  else if (node.report !== null) {
    const verdict = judge(node.report, node.mode);
    if (verdict !== null) counts[verdict] += 1;
  }
}

/** Adds the counts of other nodes. */
export function addCounts(counts: RolloutCounts, others: RolloutCounts): void {
  for (const name of Object.keys(others) as (keyof RolloutCounts)[]) counts[name] += others[name];
}

/** A node that was not Compliant in the mode Monitor may just have waited for somebody to change it. */
function wasBad(status: NodeStatus, mode: string | null): boolean {
  return status === 'Error' || (status === 'NonCompliant' && mode !== 'Monitor');
}

/** @returns null for what says nothing yet, which holds up the gate by its share of successes */
function judge(
  { operation, status, isAfterSet }: NonNullable<CountedNode['report']>,
  mode: string | null,
): 'success' | 'regression' | null {
  if (status === 'Error') return 'regression';
  // Whoever only watches becomes NonCompliant by design when the desired state changes.
  if (mode === 'Monitor' || status === 'Compliant') return 'success';
  if (status === 'Unknown') return null;
  // Whoever remediates is not there before it has set, and a Set does not say that nothing is left.
  if (mode === 'Remediate' && (operation === 'Set' || !isAfterSet)) return null;
  return 'regression';
}
