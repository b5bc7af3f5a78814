import { expect } from 'chai';
import { EVENT_TYPES, isEventGlob, matchesGlob, rolloutEvent } from '../../../src/domain/event-types.ts';
import type { RolloutRecord } from '../../../src/domain/rollout.ts';
import { begun } from '../../support/rollout-record.ts';
import { words } from '../../support/words.ts';

describe('a glob of events', () => {
  it('matches a type by its name, or by what is before and behind its star', () => {
    for (const glob of ['rollout.halted', 'rollout.*', '*', '*.halted', 'rollout.h*d', 'roll*'])
      expect(matchesGlob(glob, 'rollout.halted'), glob).to.equal(true);
    for (const glob of ['rollout', 'rollout.halte', 'node.*', '*.paused', 'rollout.halted*halted'])
      expect(matchesGlob(glob, 'rollout.halted'), glob).to.equal(false);
  });

  it('may have several stars where it is no event that is chosen', () => {
    for (const glob of ['*.*', 'r*l*.h*', '**', 'rollout*.*halted'])
      expect(matchesGlob(glob, 'rollout.halted'), glob).to.equal(true);
    for (const glob of ['*halted*rollout*', '*x*', 'rollout.h*h*alted*d', '*.*.*'])
      expect(matchesGlob(glob, 'rollout.halted'), glob).to.equal(false);
  });

  it('is taken if some event has such a type', () => {
    for (const glob of [...EVENT_TYPES, '*', 'rollout.*', '*.version_published', 'node.*'])
      expect(isEventGlob(glob), glob).to.equal(true);
    const refused = [
      ...['', 'node.registered ', `*${'a'.repeat(200)}`],
      ...words('nodes.* rollout.** *.* Node.registered . ?'),
    ];
    for (const glob of refused) expect(isEventGlob(glob), glob).to.equal(false);
  });
});

describe('the event of a transition of a rollout', () => {
  it('is that of the new state, or else of what happened in it', () => {
    const event = (before: Partial<RolloutRecord>, after: Partial<RolloutRecord>) =>
      rolloutEvent({ ...begun(), ...before }, { ...begun(), ...after });
    expect([
      event({}, { step: 1 }),
      event({}, { approvedBy: 'olga' }),
      event({}, { state: 'Paused' }),
      event({ state: 'Paused' }, { state: 'Running' }),
      event({}, { state: 'Superseded' }),
      event({}, { state: 'Halted', isReverted: true }),
      event({ state: 'Halted' }, { state: 'Halted', isReverted: true }),
      event({ state: 'Halted' }, { state: 'Completed' }),
    ]).to.deep.equal(
      ['step_opened', 'approved', 'paused', 'resumed', 'superseded', 'halted', 'reverted', 'completed'].map(
        (name) => `rollout.${name}`,
      ),
    );
  });
});
