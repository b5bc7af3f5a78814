import { expect } from 'chai';
import type { NodeStatus } from '../../../src/domain/report-verdict.ts';
import type { RolloutCounts } from '../../../src/domain/rollout.ts';
import { NO_COUNTS } from '../../../src/domain/rollout.ts';
import { type CountedNode, countNode, outcomeOf } from '../../../src/domain/rollout-counts.ts';

const taken = (more: Partial<CountedNode> = {}): CountedNode => ({
  ...{ hasTaken: true, statusBefore: 'Compliant', report: null, mode: null, hasPolled: true },
  ...more,
});

type Mode = 'Monitor' | 'Remediate' | null;
type Verdict = keyof RolloutCounts;

/** The mode, the status before, and the last report since: `Set>Test` is a Test after a Set. */
const JUDGED: [mode: Mode, before: NodeStatus, report: string, status: NodeStatus, verdict: Verdict][] = [
  [null, 'Compliant', 'Test', 'Compliant', 'success'],
  [null, 'Unknown', 'Test', 'Compliant', 'success'],
  [null, 'Unknown', 'Test', 'NonCompliant', 'regression'],
  [null, 'Compliant', 'Test', 'NonCompliant', 'regression'],
  [null, 'Compliant', 'Set', 'Compliant', 'success'],
  [null, 'Compliant', 'Test', 'Error', 'regression'],
  [null, 'Compliant', 'Test', 'Unknown', 'silent'],
  [null, 'NonCompliant', 'Test', 'Compliant', 'alreadyBad'],
  [null, 'NonCompliant', 'Test', 'Error', 'alreadyBad'],
  [null, 'Error', 'Test', 'Compliant', 'alreadyBad'],
  ['Monitor', 'Compliant', 'Test', 'NonCompliant', 'success'],
  ['Monitor', 'NonCompliant', 'Test', 'NonCompliant', 'success'],
  ['Monitor', 'NonCompliant', 'Test', 'Error', 'regression'],
  ['Monitor', 'Unknown', 'Test', 'Unknown', 'success'],
  ['Monitor', 'Error', 'Test', 'Compliant', 'alreadyBad'],
  ['Remediate', 'Compliant', 'Test', 'Compliant', 'success'],
  ['Remediate', 'Compliant', 'Test', 'NonCompliant', 'silent'],
  ['Remediate', 'Compliant', 'Set', 'NonCompliant', 'silent'],
  ['Remediate', 'Compliant', 'Set', 'Compliant', 'silent'],
  ['Remediate', 'Unknown', 'Set', 'Unknown', 'silent'],
  ['Remediate', 'Compliant', 'Set', 'Error', 'regression'],
  ['Remediate', 'Compliant', 'Test', 'Error', 'regression'],
  ['Remediate', 'Compliant', 'Set>Test', 'NonCompliant', 'regression'],
  ['Remediate', 'Compliant', 'Set>Test', 'Compliant', 'success'],
  ['Remediate', 'Compliant', 'Set>Test', 'Unknown', 'silent'],
  ['Remediate', 'NonCompliant', 'Set>Test', 'NonCompliant', 'alreadyBad'],
];

function countNodes(nodes: CountedNode[]) {
  const counts = { ...NO_COUNTS };
  for (const node of nodes) countNode(counts, node);
  return counts;
}

describe('the nodes of a rollout are counted', () => {
  for (const [mode, statusBefore, report, status, verdict] of JUDGED)
    it(`as ${verdict} in mode ${mode}, with ${statusBefore} before and a ${report} of ${status}`, () => {
      const operation = report === 'Set' ? 'Set' : 'Test';
      const last = { operation, status, isAfterSet: report === 'Set>Test' } as const;
      const counts = countNodes([taken({ mode, statusBefore, report: last })]);
      expect(counts).to.deep.equal({ ...countNodes([]), offered: 1, taken: 1, [verdict]: 1 });
    });

  it('as silent without a report since, whatever they were before', () => {
    const counts = countNodes([taken(), taken({ statusBefore: 'Error' }), taken({ statusBefore: null })]);
    expect(counts).to.deep.equal({ ...countNodes([]), offered: 3, taken: 3, silent: 3, alreadyBad: 1 });
  });

  it('as absent only where they have neither taken it nor polled', () => {
    const absent = taken({ hasTaken: false, statusBefore: null, hasPolled: false });
    const counts = countNodes([absent, { ...absent, hasPolled: true }, taken({ hasPolled: false })]);
    expect(counts).to.deep.equal({ ...countNodes([]), offered: 3, taken: 1, silent: 1, absent: 1 });
  });

  it('by one outcome for each', () => {
    const told = taken({ hasTaken: false, statusBefore: null });
    expect(
      [
        taken({ report: { operation: 'Test', status: 'Compliant', isAfterSet: false } }),
        taken({ report: { operation: 'Test', status: 'Error', isAfterSet: false } }),
        taken({ statusBefore: 'Error' }),
        taken(),
        { ...told, hasPolled: false },
        told,
      ].map(outcomeOf),
    ).to.deep.equal(['Success', 'Regression', 'AlreadyBad', 'Silent', 'Absent', 'NotTaken']);
  });

  it('once, and from nothing to all', () => {
    expect(Object.values(countNodes([]))).to.deep.equal([0, 0, 0, 0, 0, 0, 0]);
  });
});
