import { expect } from 'chai';
import type { RolloutCause, RolloutState } from '../../../src/domain/rollout.ts';
import { causeOf } from '../../../src/domain/rollout-cause.ts';

const entry = (
  from: RolloutState | null,
  to: RolloutState,
  actorName: string,
  reason: string,
  cause: RolloutCause | null = null,
) => ({ from, to, actorName, reason, cause });
const begun = entry(null, 'Running', 'anna', '');

describe('why a rollout stands where it stands', () => {
  it('is null while it goes on, and once it has completed', () => {
    const paused = entry('Running', 'Paused', 'anna', 'lunch', 'Person');
    const history = [begun, paused, entry('Paused', 'Running', 'anna', 'on')];
    expect(causeOf('Running', history)).to.equal(null);
    expect(causeOf('Completed', [begun, entry('Running', 'Completed', 'Hawser', 'held')])).to.equal(null);
  });

  it('is what the last commit says that came to the state', () => {
    const halt = entry('Running', 'Halted', 'Hawser', 'Regressions: 2.', 'Regressions');
    const expected = { reason: 'Regressions', summary: 'Regressions: 2.' };
    expect(causeOf('Halted', [begun, halt])).to.deep.equal(expected);
    // Who reverts it later is not the cause.
    expect(causeOf('Halted', [begun, halt, entry('Halted', 'Halted', 'anna', 'x', 'Person')])).to.deep.equal(
      expected,
    );
    const paused = entry('Running', 'Paused', 'anna', 'lunch', 'Person');
    expect(causeOf('Paused', [begun, paused])).to.deep.equal({
      ...{ reason: 'Person', summary: 'anna has paused it: lunch' },
    });
    const gone = entry('Paused', 'Halted', 'otto', 'The version is withdrawn.', 'Withdrawn');
    expect(causeOf('Halted', [begun, paused, gone])).to.deep.equal({
      ...{ reason: 'Withdrawn', summary: 'otto has withdrawn the version.' },
    });
  });

  it('is found for commits that do not say it', () => {
    const cases: [RolloutState, actorName: string, reason: string, cause: RolloutCause][] = [
      ['Halted', 'Hawser', 'Regressions: 1.', 'Regressions'],
      ['Paused', 'Hawser', 'Step 1 had no verdict.', 'Deadline'],
      ['Halted', 'anna', 'The version is withdrawn.', 'Withdrawn'],
      ['Halted', 'anna', 'It is bad.', 'Person'],
      ['Superseded', 'anna', 'Version 2.0.0 is rolled out from now on.', 'Superseded'],
    ];
    for (const [state, actorName, reason, cause] of cases)
      expect(causeOf(state, [begun, entry('Running', state, actorName, reason)])?.reason).to.equal(cause);
    expect(causeOf('Halted', [])).to.equal(null);
  });
});
