import { expect } from 'chai';
import { NO_COUNTS, type RolloutCounts, type RolloutRecord } from '../../../src/domain/rollout.ts';
import {
  applyDeed,
  type Evaluation,
  evaluateRollout,
  haltByWithdrawal,
  supersede,
  type Transition,
} from '../../../src/domain/rollout-machine.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts';
import { BEGAN, begun, counts, gate, well, withGate } from '../../support/rollout-record.ts';

const WELL = well(10);
const BAD = counts({ offered: 10, taken: 10, success: 9, regression: 1 });
const timeOf = (after: number) => new Date(BEGAN + after).toISOString();

/** A node that has not polled yet, so that the gate lacks it. */
const LACKING = counts({ offered: 1, absent: 1 });

/**
 * Evaluates at a time after the rollout began. The counts are of the open step, and the steps before have none unless they
 * are given. `held` is the memory, as a time after the rollout began.
 */
const evaluate = (
  record: RolloutRecord,
  after: number,
  given: RolloutCounts | null = WELL,
  held: number | null = null,
  before: RolloutCounts[] = Array(record.step).fill(NO_COUNTS),
): Evaluation =>
  evaluateRollout({
    record,
    counts: given && [...before, given],
    heldSince: held === null ? null : BEGAN + held,
    now: BEGAN + after,
  });

const NONE: Evaluation = { transition: null, heldSince: null };
const holdsSince = (after: number): Evaluation => ({ transition: null, heldSince: BEGAN + after });

function must(transition: Transition | string | null): Transition {
  if (transition === null || typeof transition === 'string') throw new Error(`No transition: ${transition}`);
  return transition;
}
const deed = (record: RolloutRecord, what: 'pause' | 'resume' | 'approve' | 'halt', after = 0) =>
  must(applyDeed(record, what, { actorName: 'anna', at: BEGAN + after, reason: 'x', counts: null })).record;

describe('new rollout', () => {
  it('has its first step open and the others waiting', () => {
    const steps = [
      { ring: 'canary', percent: 10, gate: gate({ approval: true }) },
      { ring: null, percent: 100, gate: gate() },
    ];
    expect(begun({ steps, onHalt: 'Revert' })).to.deep.equal({
      key: '1.4.0',
      version: '1.4.0',
      tag: 'a'.repeat(40),
      parameters: [],
      scopeType: { id: '10000000-0000-4000-8000-000000000000', name: 'Ring' },
      state: 'Running',
      step: 0,
      steps: [
        { ...steps[0], state: 'Open', counts: NO_COUNTS, startedAt: timeOf(0), endedAt: null },
        { ...steps[1], state: 'Waiting', counts: NO_COUNTS, startedAt: null, endedAt: null },
      ],
      onHalt: 'Revert',
      isReverted: false,
      approvedBy: null,
      createdBy: 'olga',
      publishedBy: 'petra',
      createdAt: timeOf(0),
      since: timeOf(0),
    });
  });
});

describe('gate of the open step', () => {
  it('opens the next step when it has held for its bake time', () => {
    const record = begun();
    expect(evaluate(record, 10 * SECOND)).to.deep.equal(holdsSince(10 * SECOND));
    expect(evaluate(record, HOUR, WELL, 10 * SECOND)).to.deep.equal(holdsSince(10 * SECOND));
    const last = HOUR + 10 * SECOND;
    expect(evaluate(record, last - 1, WELL, 10 * SECOND)).to.deep.equal(holdsSince(10 * SECOND));
    const { transition, heldSince } = evaluate(record, last, WELL, 10 * SECOND);
    const { record: next, ...rest } = must(transition);
    expect(heldSince).to.equal(null);
    expect(rest).to.deep.equal({
      ...{ from: 'Running', to: 'Running', what: 'Step 2 of 2 opened', cause: null },
      reason: 'The gate of step 1 has held for 01:00:00.',
    });
    const [first, second] = record.steps;
    expect(next).to.deep.equal({
      ...record,
      step: 1,
      since: timeOf(last),
      steps: [
        { ...first, state: 'Done', counts: WELL, endedAt: timeOf(last) },
        { ...second, state: 'Open', startedAt: timeOf(last) },
      ],
    });
  });

  it('begins anew when it has not held in between, or could not be evaluated', () => {
    for (const broken of [LACKING, null]) {
      expect(evaluate(begun(), HOUR, broken, 0)).to.deep.equal(NONE);
      expect(evaluate(begun(), HOUR + SECOND, WELL, null)).to.deep.equal(holdsSince(HOUR + SECOND));
    }
  });

  it('does not open the next step by what was remembered of the step before', () => {
    const second = must(evaluate(begun(), 2 * HOUR, WELL, 0).transition).record;
    expect(evaluate(second, 9 * HOUR, WELL, 0)).to.deep.equal(holdsSince(9 * HOUR));
    expect(evaluate(second, 9 * HOUR, WELL, 2 * HOUR - 1)).to.deep.equal(holdsSince(9 * HOUR));
    expect(must(evaluate(second, 3 * HOUR, WELL, 2 * HOUR).transition).to).to.equal('Completed');
  });

  it('completes the rollout when it is the last', () => {
    const second = must(evaluate(begun(), HOUR, WELL, 0).transition).record;
    const { record, ...rest } = must(evaluate(second, 3 * HOUR, well(99), HOUR).transition);
    expect(rest).to.deep.equal({
      ...{ from: 'Running', to: 'Completed', what: 'Completed', cause: null },
      reason: 'The gate of step 2 has held for 01:00:00.',
    });
    const [first, last] = second.steps;
    const done = { ...last, state: 'Done', counts: well(99), endedAt: timeOf(3 * HOUR) };
    expect(record).to.deep.equal({ ...second, state: 'Completed', steps: [first, done] });
  });

  it('does not open the next step without approval, and opens it at once with it', () => {
    const record = withGate({ approval: true });
    expect(evaluate(record, 5 * HOUR, WELL, 0)).to.deep.equal(holdsSince(0));
    const approved = deed(record, 'approve', 5 * HOUR);
    const { record: next, reason } = must(evaluate(approved, 5 * HOUR, WELL, 0).transition);
    expect(reason).to.equal('The gate of step 1 has held for 01:00:00, and anna has approved it.');
    // The second step asks for an approval of its own.
    expect([next.step, next.approvedBy]).to.deep.equal([1, null]);
  });

  it('is not opened by approval alone', () => {
    const approved = deed(withGate({ approval: true }), 'approve');
    expect(evaluate(approved, HOUR, WELL, 1).transition).to.equal(null);
    expect(evaluate(approved, HOUR, LACKING, null).transition).to.equal(null);
  });
});

describe('deadline of the open step', () => {
  it('pauses the rollout without a verdict', () => {
    const lacking: [record: RolloutRecord, given: RolloutCounts | null, held: number | null, lack: string][] =
      [
        [begun(), LACKING, null, 'nodes judged: 0 of 1'],
        [begun(), WELL, DAY - HOUR + 1, 'the gate has not held for its bake time'],
        [begun(), WELL, null, 'the gate has not held for its bake time'],
        [withGate({ approval: true }), WELL, 0, 'nobody has approved it'],
        [withGate({ approval: true }), LACKING, null, 'nodes judged: 0 of 1; nobody has approved it'],
        [begun(), null, null, 'the nodes could not be evaluated'],
        [begun(), null, 0, 'the nodes could not be evaluated'],
      ];
    for (const [record, given, held, lack] of lacking) {
      expect(evaluate(record, DAY - 1, given, held).transition, lack).to.equal(null);
      const { transition, heldSince } = evaluate(record, DAY, given, held);
      const [first, second] = record.steps;
      expect(transition, lack).to.deep.equal({
        record: { ...record, state: 'Paused', steps: [{ ...first, counts: given ?? NO_COUNTS }, second] },
        ...{ from: 'Running', to: 'Paused', what: 'Paused', cause: 'Deadline' },
        reason: `Step 1 had no verdict within 1.00:00:00: ${lack}.`,
      });
      expect(heldSince).to.equal(null);
    }
  });

  it('gives way to a gate that has held for long enough', () => {
    expect(must(evaluate(begun(), 2 * DAY, WELL, 0).transition).record.step).to.equal(1);
  });

  it('is longer than a day where it says so', () => {
    const record = withGate({ deadline: '30.00:00:00' });
    expect(evaluate(record, 30 * DAY - 1, null).transition).to.equal(null);
    expect(must(evaluate(record, 30 * DAY, null).transition).to).to.equal('Paused');
  });
});

describe('regressions', () => {
  it('halt the rollout at once when there are more than the gate allows', () => {
    for (const onHalt of ['Keep', 'Revert'] as const) {
      const record = begun({ onHalt });
      for (const after of [0, 10 * SECOND, 2 * DAY, -DAY]) {
        const { transition, heldSince } = evaluate(record, after, BAD, 0);
        const [first, second] = record.steps;
        const isReverted = onHalt === 'Revert';
        expect(transition).to.deep.equal({
          record: { ...record, state: 'Halted', isReverted, steps: [{ ...first, counts: BAD }, second] },
          ...{ from: 'Running', to: 'Halted', what: isReverted ? 'Halted and reverted' : 'Halted' },
          reason: 'Regressions: 1, of which the gate of step 1 allows 0.',
          cause: 'Regressions',
        });
        expect(heldSince).to.equal(null);
      }
    }
  });

  it('halt a paused rollout too', () => {
    expect(must(evaluate(deed(begun(), 'pause'), SECOND, BAD).transition).from).to.equal('Paused');
  });

  it('count in all steps together, also in those that have closed', () => {
    const gates = { ring: null, percent: 100, gate: gate({ maxRegressions: 1, successShare: 0.5 }) };
    const record = begun({ steps: [{ ...gates, ring: 'canary' }, gates] });
    const second = must(evaluate(record, HOUR, BAD, 0).transition).record;
    expect(evaluate(second, HOUR, WELL, null, [BAD]).transition).to.equal(null);
    const { record: halted, reason } = must(evaluate(second, HOUR, BAD, null, [BAD]).transition);
    expect(reason).to.equal('Regressions: 2, of which the gate of step 2 allows 1.');
    expect(halted.steps.map((each) => each.counts.regression)).to.deep.equal([1, 1]);
    const late = counts({ ...BAD, success: 8, regression: 2 });
    expect(must(evaluate(second, HOUR, WELL, null, [late]).transition).record.steps[0]?.counts).to.deep.equal(
      BAD,
    );
  });

  it('are allowed up to the number of the gate of the newest step', () => {
    const steps = [
      { ring: 'canary', percent: 100, gate: gate({ maxRegressions: 1, successShare: 0.5 }) },
      { ring: null, percent: 100, gate: gate() },
    ];
    const record = begun({ steps });
    const second = must(evaluate(record, HOUR, BAD, 0).transition).record;
    expect(second.step).to.equal(1);
    expect(must(evaluate(second, HOUR, BAD).transition).to).to.equal('Halted');
  });
});

describe('a step that adds no node', () => {
  it('is done at once, whatever its gate asks, and the history says why', () => {
    const { record, ...rest } = must(evaluate(withGate({ approval: true }), 0, NO_COUNTS).transition);
    expect(rest).to.deep.equal({
      ...{ from: 'Running', to: 'Running', what: 'Step 2 of 2 opened', cause: null },
      reason: 'Step 1 adds no node.',
    });
    expect(record.steps.map(({ state }) => state)).to.deep.equal(['Done', 'Open']);
    const last = must(evaluate(record, 0, NO_COUNTS).transition);
    expect([last.to, last.reason]).to.deep.equal(['Completed', 'Step 2 adds no node.']);
  });

  it('stays open while the rollout is paused, its nodes are not known, or others have regressed', () => {
    expect(evaluate(deed(begun(), 'pause'), 0, NO_COUNTS)).to.deep.equal(NONE);
    expect(evaluate(begun(), 0, null)).to.deep.equal(NONE);
    const second = must(evaluate(begun(), HOUR, WELL, 0).transition).record;
    expect(must(evaluate(second, HOUR, NO_COUNTS, null, [BAD]).transition).to).to.equal('Halted');
  });
});

describe('evaluation', () => {
  it('does nothing to a rollout that is paused or has ended, and forgets since when its gate held', () => {
    const paused = deed(begun(), 'pause');
    expect(evaluate(paused, 9 * DAY, WELL, 0)).to.deep.equal(NONE);
    expect(evaluate(paused, 9 * DAY, null, 0)).to.deep.equal(NONE);
    for (const state of ['Halted', 'Completed', 'Superseded'] as const)
      for (const given of [WELL, BAD, null])
        expect(evaluate({ ...begun(), state }, 9 * DAY, given, 0), state).to.deep.equal(NONE);
  });

  it('opens nothing earlier when the clock is set back', () => {
    const record = begun();
    // Held since before the clock was set back.
    expect(evaluate(record, -DAY, WELL, 10 * MINUTE)).to.deep.equal(holdsSince(10 * MINUTE));
    expect(evaluate(record, HOUR, WELL, 10 * MINUTE)).to.deep.equal(holdsSince(10 * MINUTE));
    // The gate holds for the first time while the clock is behind, and the clock is set right then.
    expect(evaluate(record, -DAY, WELL)).to.deep.equal(holdsSince(0));
    expect(evaluate(record, HOUR - 1, WELL, -DAY).transition).to.equal(null);
    expect(evaluate(record, -2 * DAY, LACKING)).to.deep.equal(NONE);
  });

  it('lets bake time and deadline begin anew by resuming', () => {
    const resumed = deed(deed(begun(), 'pause', HOUR), 'resume', 5 * HOUR);
    expect(resumed.since).to.equal(timeOf(5 * HOUR));
    expect(evaluate(resumed, 6 * HOUR, WELL, 0)).to.deep.equal(holdsSince(6 * HOUR));
    expect(evaluate(resumed, 6 * HOUR - 1, WELL, 5 * HOUR)).to.deep.equal(holdsSince(5 * HOUR));
    expect(must(evaluate(resumed, 6 * HOUR, WELL, 5 * HOUR).transition).record.step).to.equal(1);
    expect(evaluate(resumed, DAY + 5 * HOUR - 1, LACKING).transition).to.equal(null);
    expect(must(evaluate(resumed, DAY + 5 * HOUR, LACKING).transition).to).to.equal('Paused');
  });

  it('leaves the record that it is given as it is', () => {
    const record = begun({ onHalt: 'Revert' });
    const before = structuredClone(record);
    evaluate(record, HOUR, WELL, 0);
    evaluate(record, HOUR, BAD, 0);
    deed(record, 'halt');
    expect(record).to.deep.equal(before);
  });
});

describe('end of a rollout from outside', () => {
  it('is supersession only while it runs or is paused', () => {
    for (const record of [begun(), deed(begun(), 'pause')])
      expect(supersede(record, '2.0.0')).to.deep.equal({
        record: { ...record, state: 'Superseded' },
        ...{ from: record.state, to: 'Superseded', what: 'Superseded by 2.0.0' },
        reason: 'Version 2.0.0 is rolled out from now on.',
        cause: 'Superseded',
      });
    for (const state of ['Halted', 'Completed', 'Superseded'] as const)
      expect(supersede({ ...begun(), state }, '2.0.0'), state).to.equal(null);
  });

  it('is a halt with Revert when the version is withdrawn, whatever the plan says', () => {
    const keeping = deed(begun(), 'halt');
    expect(keeping.isReverted).to.equal(false);
    for (const record of [begun(), deed(begun(), 'pause'), keeping])
      expect(haltByWithdrawal(record)).to.deep.equal({
        record: { ...record, state: 'Halted', isReverted: true },
        ...{ from: record.state, to: 'Halted', what: 'Halted and reverted' },
        reason: 'The version is withdrawn.',
        cause: 'Withdrawn',
      });
    expect(haltByWithdrawal({ ...keeping, isReverted: true })).to.equal(null);
    for (const state of ['Completed', 'Superseded'] as const)
      expect(haltByWithdrawal({ ...begun(), state }), state).to.equal(null);
  });
});
