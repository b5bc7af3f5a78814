/** What a report says of its node: the result of a DSC v3 operation in, the verdict and the node's status out. */

export const REPORT_OPERATIONS = ['Get', 'Set', 'Test', 'Export'] as const;
export type ReportOperation = (typeof REPORT_OPERATIONS)[number];

export type NodeStatus = 'Unknown' | 'Compliant' | 'NonCompliant' | 'Error';

/** As much of DSC's output as the verdict looks at. */
export interface DscResult {
  hadErrors: boolean;
  results?: readonly unknown[] | null | undefined;
}

export interface Verdict {
  /** Null: the operation asks nothing of the state, or no resource says anything. */
  inDesiredState: boolean | null;
  /** Null: the node's status stays as it is. */
  nodeStatus: NodeStatus | null;
}

/** Only a Test and a Set say anything; a Set of which no resource says otherwise has set the desired state. */
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
 * False if one resource says false, true if at least one says true and none false, null if none says anything. With
 * a stack of its own: a report of a few megabytes can nest its groups deeper than calls can.
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

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
