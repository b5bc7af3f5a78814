import { expect } from 'chai';
import fc from 'fast-check';
import type { Gate, RolloutCounts } from '../../../src/domain/rollout.ts';
import { lackOf } from '../../../src/domain/rollout-gate.ts';
import { counts, gate, well } from '../../support/rollout-record.ts';

const JUDGED = 'nodes judged';
const SHARE = 'share of successes';
const SILENT = 'silent nodes';
const ABSENT = 'absent nodes';

describe('gate of a rollout', () => {
  it('lacks what its counts do not reach', () => {
    const cases: [gate: Partial<Gate>, counts: Partial<RolloutCounts>, ...lack: string[]][] = [
      [{}, well(1)],
      [{}, {}, JUDGED],
      // Successes and regressions are judged; nodes that were bad before, or are silent, are not.
      [
        { minNodes: 3, successShare: 0 },
        { taken: 3, success: 2, regression: 1 },
      ],
      [{ minNodes: 3, successShare: 0 }, { taken: 3, success: 2, alreadyBad: 1 }, JUDGED],
      [{ minNodes: 3, successShare: 0 }, { offered: 9, absent: 7, taken: 3, success: 2, silent: 1 }, JUDGED],
      [{ minNodes: 0 }, {}],
      // The share is of those who took it and were not bad before.
      [{}, { taken: 20, success: 19, regression: 1 }],
      [{}, { taken: 21, success: 19, regression: 2 }, SHARE],
      [{}, { taken: 21, success: 19, alreadyBad: 1, regression: 1 }],
      [{}, { offered: 1000, absent: 900, taken: 20, success: 19, silent: 1 }],
      [{}, { taken: 19, success: 18, silent: 1 }, SHARE],
      [{ minNodes: 0 }, { taken: 4, alreadyBad: 4 }],
      [{ successShare: 0.07 }, { taken: 100, success: 7 }],
      [{ successShare: 1 }, { taken: 3, success: 3 }],
      [{ successShare: 1 }, { taken: 10_000, success: 9_999, silent: 1 }, SHARE],
      [
        { maxSilent: 2, successShare: 0.5 },
        { taken: 10, success: 8, silent: 2 },
      ],
      [{ maxSilent: 2, successShare: 0.5 }, { taken: 10, success: 7, silent: 3 }, SILENT],
      [{ maxSilent: 0, minNodes: 0, successShare: 0 }, { taken: 1, silent: 1 }, SILENT],
      [
        { maxSilent: null, successShare: 0.5 },
        { taken: 10, success: 5, silent: 5 },
      ],
      [{ maxAbsent: 2 }, { ...well(1), offered: 3, absent: 2 }],
      [{ maxAbsent: 2 }, { ...well(1), offered: 4, absent: 3 }, ABSENT],
      [{}, { ...well(1), offered: 4, absent: 3 }],
      [{ maxSilent: 0, minNodes: 5 }, { taken: 5, success: 1, silent: 4 }, JUDGED, SHARE, SILENT],
    ];
    for (const [ofGate, ofCounts, ...lack] of cases) {
      const found = lackOf(gate(ofGate), counts(ofCounts)).map((text) => text.split(':')[0]);
      expect(found, JSON.stringify([ofGate, ofCounts])).to.deep.equal(lack);
    }
  });

  it('says how much it lacks, and never that too little were enough', () => {
    const strict = gate({ minNodes: 10_001, successShare: 1, maxSilent: 0 });
    expect(lackOf(strict, counts({ taken: 100_000, success: 99_999, silent: 1 }))).to.deep.equal([
      'share of successes: 0.9999, needed 1',
      'silent nodes: 1, allowed 0',
    ]);
    expect(lackOf(strict, well(7))).to.deep.equal(['nodes judged: 7 of 10001']);
  });

  it('is exact for a share of two decimals and every number of nodes', () => {
    const nodes = fc.integer({ min: 0, max: 100_000 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 }), nodes, nodes, (percent, a, b) => {
        const [success, taken] = a < b ? [a, b] : [b, a];
        const lack = lackOf(
          gate({ minNodes: 0, successShare: percent / 100 }),
          counts({ taken, success, silent: taken - success }),
        );
        expect(lack.length === 0).to.equal(100 * success >= percent * taken);
      }),
      {
        numRuns: 1000,
        examples: [
          [29, 29, 100],
          [57, 57, 100],
          [7, 7, 100],
          [58, 57, 100],
        ],
      },
    );
  });
});
