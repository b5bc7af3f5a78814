/** Judges a report: takes the result of a DSC v3 operation and gives the verdict and the node's status. */

import { memberOf } from './report-faults.ts';

export const REPORT_OPERATIONS = ['Get', 'Set', 'Test', 'Export'] as const;
export type ReportOperation = (typeof REPORT_OPERATIONS)[number];

export type NodeStatus = 'Unknown' | 'Compliant' | 'NonCompliant' | 'Error';

/** The part of DSC's output that the verdict depends on. */
export interface DscResult {
  hadErrors: boolean;
  results?: readonly unknown[] | null | undefined;
}

export interface Verdict {
  /** Null means that the operation does not test the state, or that no resource reports it. */
  inDesiredState: boolean | null;
  /** Null means that the node's status stays as it is. */
  nodeStatus: NodeStatus | null;
}

/** Only a Test and a Set tell the state. A Set has reached the desired state unless a resource says otherwise. */
export function judgeReport(operation: ReportOperation, { hadErrors, results }: DscResult): Verdict {
  if (operation === 'Get' || operation === 'Export') return { inDesiredState: null, nodeStatus: null };
  const said = stateOf(results ?? []);
  const inDesiredState = said === null && operation === 'Set' ? true : said;
  return { inDesiredState, nodeStatus: hadErrors ? 'Error' : statusOf(inDesiredState) };
}

function statusOf(inDesiredState: boolean | null): NodeStatus {
  if (inDesiredState === null) return 'Unknown';
  return inDesiredState ? 'Compliant' : 'NonCompliant';
}

/**
 * False if one resource says false, true if at least one says true and none false, null if none says anything. The
 * function does not recurse, because a report of a few megabytes can nest its groups deeper than the call stack allows.
 */
function stateOf(results: readonly unknown[]): boolean | null {
  const groups = [results];
  let said: boolean | null = null;
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    for (const resource of group) {
      const result = memberOf(resource, 'result');
      if (Array.isArray(result)) {
        groups.push(result);
        continue;
      }
      const state = memberOf(result, 'inDesiredState');
      if (state === false) return false;
      if (state === true) said = true;
    }
  }
  return said;
}
