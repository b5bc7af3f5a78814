import { expect } from 'chai';
import {
  type Gate,
  ROLLOUT_STATES,
  type RolloutRecord,
  type RolloutState,
} from '../../../src/domain/rollout.ts';
import { applyDeed, DEEDS, type Deed } from '../../../src/domain/rollout-machine.ts';
import { HOUR } from '../../../src/lib/clock.ts';
import { BEGAN, begun, gate, well, withGate } from '../../support/rollout-record.ts';

const AT = BEGAN + HOUR;
const TIME = new Date(AT).toISOString();
const BY = { actorName: 'anna', at: AT, reason: 'Because.', counts: null };

/** A record in that state, whose open step waits for approval. */
const inState = (state: RolloutState): RolloutRecord => ({ ...withGate({ approval: true }), state });

/** What becomes of a rollout by each deed that its state allows. All other deeds are not possible. */
const ALLOWED: [deed: Deed, from: RolloutState, to: RolloutState, what: string][] = [
  ['pause', 'Running', 'Paused', 'Paused'],
  ['resume', 'Paused', 'Running', 'Resumed'],
  ['approve', 'Running', 'Running', 'Step 1 approved'],
  ['approve', 'Paused', 'Paused', 'Step 1 approved'],
  ['halt', 'Running', 'Halted', 'Halted'],
  ['halt', 'Paused', 'Halted', 'Halted'],
  ['revert', 'Running', 'Halted', 'Halted and reverted'],
  ['revert', 'Paused', 'Halted', 'Halted and reverted'],
  ['revert', 'Halted', 'Halted', 'Halted and reverted'],
  ['complete', 'Running', 'Completed', 'Completed'],
  ['complete', 'Paused', 'Completed', 'Completed'],
  ['complete', 'Halted', 'Completed', 'Completed'],
];

/** What each deed writes beside the state. */
const WRITES: Record<Deed, Partial<RolloutRecord>> = {
  pause: {},
  resume: { since: TIME },
  approve: { approvedBy: 'anna' },
  halt: {},
  revert: { isReverted: true },
  complete: {},
};

describe('deed of a person', () => {
  it('is possible in the states that allow it, and writes what it must and nothing else', () => {
    expect(DEEDS).to.have.members(Object.keys(WRITES));
    for (const deed of DEEDS)
      for (const from of ROLLOUT_STATES) {
        // What waits for an approval is not completed.
        const record = deed === 'complete' ? { ...begun(), state: from } : inState(from);
        const found = applyDeed(record, deed, BY);
        const allowed = ALLOWED.find((row) => row[0] === deed && row[1] === from);
        if (allowed === undefined) {
          expect(found, `${deed} ${from}`).to.equal('not_possible');
          continue;
        }
        const [, , to, what] = allowed;
        const [first, ...others] = record.steps;
        const done = { ...first, state: 'Done', endedAt: TIME };
        const steps = deed === 'complete' ? [done, ...others] : record.steps;
        const next = { ...record, state: to, steps, ...WRITES[deed] };
        const isStopped = ['pause', 'halt', 'revert'].includes(deed);
        const said = { reason: 'Because.', cause: isStopped ? 'Person' : null };
        expect(found, `${deed} ${from}`).to.deep.equal({ record: next, from, to, what, ...said });
      }
  });

  it('writes the counts of the open step where they are known', () => {
    for (const [deed, from] of ALLOWED) {
      const record = deed === 'complete' ? { ...begun(), state: from } : inState(from);
      const found = applyDeed(record, deed, { ...BY, counts: well(7) });
      if (typeof found === 'string') throw new Error(found);
      expect(found.record.steps[0]?.counts, deed).to.deep.equal(well(7));
      expect(found.record.steps[1], deed).to.deep.equal(record.steps[1]);
    }
  });

  it('halts with Revert where the plan says so', () => {
    const found = applyDeed(begun({ onHalt: 'Revert' }), 'halt', BY);
    expect(found).to.have.property('what', 'Halted and reverted');
    expect(found).to.have.nested.property('record.isReverted', true);
  });

  it('takes a reverted rollout back by completing it', () => {
    const found = applyDeed({ ...begun(), state: 'Halted', isReverted: true }, 'complete', BY);
    expect(found).to.have.nested.property('record.isReverted', false);
  });

  it('is no approval where none is asked for, or somebody has approved', () => {
    expect(applyDeed(begun(), 'approve', BY)).to.equal('not_possible');
    const approved = { ...inState('Running'), approvedBy: 'otto' };
    expect(applyDeed(approved, 'approve', BY)).to.equal('not_possible');
    expect(applyDeed(approved, 'approve', { ...BY, actorName: 'petra' })).to.equal('not_possible');
  });

  it('is no approval by the one who published, however the name is spelled', () => {
    for (const actorName of ['petra', 'Petra', 'ＰＥＴＲＡ'])
      expect(applyDeed(inState('Running'), 'approve', { ...BY, actorName })).to.equal('same_person');
    // Whoever began the rollout of what another published may approve, and the publisher may do all else.
    expect(applyDeed(inState('Running'), 'approve', { ...BY, actorName: 'olga' })).to.have.property('record');
    for (const deed of DEEDS.filter((one) => !['approve', 'resume', 'complete'].includes(one)))
      expect(applyDeed(inState('Running'), deed, { ...BY, actorName: 'petra' })).to.have.property('record');
  });

  it('completes nothing while a step that is open or waits asks for an approval, by whomever', () => {
    const [approved, plain] = [gate({ approval: true }), gate()];
    const rings = (...gates: Gate[]) =>
      begun({ steps: gates.map((each, at) => ({ ring: `ring-${at}`, percent: 100, gate: each })) });
    for (const state of ['Running', 'Paused', 'Halted'] as const)
      for (const actorName of ['anna', 'petra']) {
        const complete = (record: RolloutRecord) =>
          applyDeed({ ...record, state }, 'complete', { ...BY, actorName });
        expect(complete(rings(approved, plain))).to.equal('approval_pending');
        expect(complete(rings(plain, approved))).to.equal('approval_pending');
        expect(complete({ ...rings(approved, approved), approvedBy: 'otto' })).to.equal('approval_pending');
        expect(complete({ ...rings(approved, plain), approvedBy: 'otto' })).to.have.property('record');
        expect(complete(rings(plain, plain))).to.have.property('record');
      }
    const ended = { ...rings(approved), state: 'Completed' as const };
    expect(applyDeed(ended, 'complete', BY)).to.equal('not_possible');
  });

  it('leaves an approval as it is when the rollout is paused and resumed', () => {
    const approved = { ...inState('Paused'), approvedBy: 'otto' };
    expect(applyDeed(approved, 'resume', BY)).to.have.nested.property('record.approvedBy', 'otto');
  });
});
