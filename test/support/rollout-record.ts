/** Gates, counts and records of rollouts for tests. */

import { type Gate, NO_COUNTS, type RolloutCounts, type RolloutRecord } from '../../src/domain/rollout.ts';
import { beginRollout, type RolloutBeginning } from '../../src/domain/rollout-machine.ts';

/** 2026-03-01T10:00:00.000Z, when rollouts of tests begin. */
export const BEGAN = Date.UTC(2026, 2, 1, 10);

export const gate = (more: Partial<Gate> = {}): Gate => ({
  ...{ minNodes: 1, successShare: 0.95, maxRegressions: 0, maxSilent: null, maxAbsent: null },
  ...{ bakeTime: '01:00:00', deadline: '1.00:00:00', approval: false },
  ...more,
});

export const counts = (more: Partial<RolloutCounts> = {}): RolloutCounts => ({ ...NO_COUNTS, ...more });

/** Nodes that all took the version and are well. */
export const well = (nodes: number): RolloutCounts =>
  counts({ offered: nodes, taken: nodes, success: nodes });

/** A rollout of two rings, unless told otherwise. */
export function begun(more: Partial<RolloutBeginning> = {}): RolloutRecord {
  return beginRollout({
    key: more.version ?? '1.4.0',
    version: '1.4.0',
    tag: 'a'.repeat(40),
    parameters: [],
    scopeType: { id: '10000000-0000-4000-8000-000000000000', name: 'Ring' },
    steps: [
      { ring: 'canary', percent: 100, gate: gate() },
      { ring: null, percent: 100, gate: gate() },
    ],
    onHalt: 'Keep',
    createdBy: 'olga',
    publishedBy: 'petra',
    at: BEGAN,
    ...more,
  });
}

/** A rollout whose steps have this gate. */
export const withGate = (more: Partial<Gate>, rest: Partial<RolloutBeginning> = {}): RolloutRecord =>
  begun({
    steps: [
      { ring: 'canary', percent: 100, gate: gate(more) },
      { ring: null, percent: 100, gate: gate(more) },
    ],
    ...rest,
  });
