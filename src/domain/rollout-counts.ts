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

/** What a node of an open step says of the version. */
export const OUTCOMES = ['Success', 'Regression', 'AlreadyBad', 'Silent', 'Absent', 'NotTaken'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A node of an open step, as answers show it. */
export interface RolloutNode {
  nodeId: string;
  fqdn: string;
  /** The place of its step, from 0. */
  step: number;
  outcome: Outcome;
  /** Its status before it took the version, and by its last report since; null where nothing is known. */
  before: NodeStatus | null;
  after: NodeStatus | null;
  /** What is wrong, by that report. */
  message: string | null;
}

/** `NotTaken` has polled. One that was bad before stays `AlreadyBad`, whatever it reports. */
export function outcomeOf({ hasTaken, hasPolled, statusBefore, report, mode }: CountedNode): Outcome {
  if (!hasTaken) return hasPolled ? 'NotTaken' : 'Absent';
  if (statusBefore !== null && wasBad(statusBefore, mode)) return 'AlreadyBad';
  return report === null || statusBefore === null ? 'Silent' : judge(report, mode);
}

const COUNTED_AS = {
  ...{ Success: 'success', Regression: 'regression', AlreadyBad: 'alreadyBad' },
  ...{ Silent: 'silent', Absent: 'absent', NotTaken: null },
} as const satisfies Record<Outcome, keyof RolloutCounts | null>;

/** Adds a node to the counts. */
export function countNode(counts: RolloutCounts, node: CountedNode): void {
  counts.offered += 1;
  if (node.hasTaken) counts.taken += 1;
  const outcome = outcomeOf(node);
  const counted = COUNTED_AS[outcome];
  if (counted !== null) counts[counted] += 1;
  if (outcome === 'AlreadyBad' && node.report === null) counts.silent += 1;
}

/** Adds the counts of other nodes. */
export function addCounts(counts: RolloutCounts, others: RolloutCounts): void {
  for (const name of Object.keys(others) as (keyof RolloutCounts)[]) counts[name] += others[name];
}

/** A node that was not Compliant in the mode Monitor may just have waited for somebody to change it. */
function wasBad(status: NodeStatus, mode: string | null): boolean {
  return status === 'Error' || (status === 'NonCompliant' && mode !== 'Monitor');
}

/** `Silent` for what says nothing yet, which holds up the gate. */
function judge(
  { operation, status, isAfterSet }: NonNullable<CountedNode['report']>,
  mode: string | null,
): 'Success' | 'Regression' | 'Silent' {
  if (status === 'Error') return 'Regression';
  // Whoever remediates is not there before it has set, and a Set without errors says nothing: the Test after it does.
  if (mode === 'Remediate' && (operation === 'Set' || !(isAfterSet || status === 'Compliant')))
    return 'Silent';
  // Whoever only watches becomes NonCompliant by design when the desired state changes.
  if (mode === 'Monitor' || status === 'Compliant') return 'Success';
  return status === 'Unknown' ? 'Silent' : 'Regression';
}
