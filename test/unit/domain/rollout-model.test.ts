import { expect } from 'chai';
import fc from 'fast-check';
import { NO_COUNTS, type RolloutCounts, type RolloutRecord } from '../../../src/domain/rollout.ts';
import { parseRollout, printRollout } from '../../../src/domain/rollout-document.ts';
import {
  applyDeed,
  DEEDS,
  type Deed,
  evaluateRollout,
  haltByWithdrawal,
  supersede,
  type Transition,
} from '../../../src/domain/rollout-machine.ts';
import { BEGAN, begun, counts, gate, well } from '../../support/rollout-record.ts';

/** All gates bake for 30 s and pause after 2 minutes. */
const BAKE = 30_000;
const DEADLINE = 120_000;
const STEPS = 3;

/** What the nodes of the open step may report, and how a gate with `minNodes: 2`, `maxRegressions: 1`, `maxSilent: 1` takes it. */
const LOOKS: {
  counts: RolloutCounts | null;
  verdict: 'holds' | 'lacks' | 'breaks' | 'unknown' | 'empty';
}[] = [
  { counts: well(2), verdict: 'holds' },
  { counts: counts({ offered: 4, taken: 4, success: 2, regression: 1, silent: 1 }), verdict: 'holds' },
  { counts: counts({ offered: 2, absent: 2 }), verdict: 'lacks' },
  { counts: counts({ offered: 9, taken: 9, success: 4, silent: 1 }), verdict: 'lacks' },
  { counts: counts({ offered: 9, taken: 9, success: 7, silent: 2 }), verdict: 'lacks' },
  { counts: counts({ offered: 20, taken: 20, success: 18, regression: 2 }), verdict: 'breaks' },
  { counts: null, verdict: 'unknown' },
  { counts: NO_COUNTS, verdict: 'empty' },
];

type Command =
  | { kind: 'evaluate'; after: number; look: number }
  | { kind: 'deed'; deed: Deed; actor: 'petra' | 'anna' }
  | { kind: 'set back'; by: number }
  | { kind: 'move the lead' | 'pause and resume' | 'supersede' | 'withdraw' };

const evaluation = fc.record({
  kind: fc.constant('evaluate' as const),
  after: fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(10_000, 15_000, 30_000) },
    { weight: 4, arbitrary: fc.constantFrom(1, 9_999) },
    { weight: 1, arbitrary: fc.constantFrom(120_000, 119_999) },
  ),
  look: fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom(0, 1) },
    { weight: 3, arbitrary: fc.constantFrom(2, 3, 4, 6) },
    { weight: 1, arbitrary: fc.constantFrom(5, 7) },
  ),
});
const deedCommand = fc.record({
  kind: fc.constant('deed' as const),
  deed: fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom<Deed>('approve', 'resume') },
    { weight: 4, arbitrary: fc.constantFrom<Deed>('pause') },
    { weight: 1, arbitrary: fc.constantFrom(...DEEDS) },
  ),
  actor: fc.constantFrom('petra' as const, 'anna' as const),
});
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 30, arbitrary: evaluation },
  { weight: 8, arbitrary: deedCommand },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('set back' as const), by: fc.constantFrom(1, 10_000, 60_000) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('move the lead' as const, 'pause and resume' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('supersede' as const, 'withdraw' as const) }) },
);

interface Look {
  clock: number;
  /** Time that no clock shows, which never goes back. */
  real: number;
  holds: boolean;
}

/**
 * What a rollout is, told anew and without the record: it keeps every look at the nodes and counts back from the last one
 * each time. The middle step asks for approval.
 */
class Model {
  state: RolloutRecord['state'] = 'Running';
  step = 0;
  isReverted = false;
  isApproved = false;
  onHalt: 'Keep' | 'Revert';
  began = BEGAN;
  private beganReal = BEGAN;
  private looks: Look[] = [];

  constructor(onHalt: 'Keep' | 'Revert') {
    this.onHalt = onHalt;
  }

  forget() {
    this.looks = [];
  }

  private restart(clock: number, real: number) {
    [this.began, this.beganReal] = [clock, real];
    this.forget();
  }

  private end(state: 'Halted' | 'Completed' | 'Superseded', isReverted = false) {
    this.state = state;
    this.isReverted = isReverted;
  }

  private pass(clock: number, real: number) {
    this.restart(clock, real);
    if (this.step === STEPS - 1) return this.end('Completed');
    this.step += 1;
    this.isApproved = false;
  }

  /** Says whether there must be a transition. */
  evaluate(clock: number, real: number, verdict: (typeof LOOKS)[number]['verdict']): boolean {
    if (this.state !== 'Running' && this.state !== 'Paused') return false;
    if (verdict === 'breaks') {
      this.end('Halted', this.onHalt === 'Revert');
      return true;
    }
    if (this.state === 'Paused') {
      this.forget();
      return false;
    }
    if (verdict === 'empty') {
      this.pass(clock, real);
      return true;
    }
    this.looks.push({ clock, real, holds: verdict === 'holds' });
    const run = this.looks.slice(this.looks.findLastIndex(({ holds }) => !holds) + 1);
    const [first] = run;
    const isBaked = first && clock >= first.clock + BAKE && clock >= this.began + BAKE;
    if (isBaked && (this.step !== 1 || this.isApproved)) {
      // In true time too nothing opens early, although the clock was set back any number of times.
      expect(real - first.real).to.be.at.least(BAKE);
      expect(real - this.beganReal).to.be.at.least(BAKE);
      this.pass(clock, real);
      return true;
    }
    if (clock < this.began + DEADLINE) return false;
    this.state = 'Paused';
    this.forget();
    return true;
  }

  /** Says what must come of it. */
  deed(
    deed: Deed,
    actor: string,
    clock: number,
    real: number,
  ): 'done' | 'not_possible' | 'same_person' | 'approval_pending' {
    const isRunning = this.state === 'Running';
    const isPaused = this.state === 'Paused';
    const isAlive = isRunning || isPaused;
    if (deed === 'pause' && isRunning) this.state = 'Paused';
    else if (deed === 'resume' && isPaused) {
      this.state = 'Running';
      this.restart(clock, real);
    } else if (deed === 'approve' && isAlive && this.step === 1 && !this.isApproved) {
      if (actor === 'petra') return 'same_person';
      this.isApproved = true;
    } else if (deed === 'halt' && isAlive) this.end('Halted', this.onHalt === 'Revert');
    else if (deed === 'revert' && (isAlive || this.state === 'Halted')) this.end('Halted', true);
    else if (deed === 'complete' && (isAlive || this.state === 'Halted')) {
      if (this.step < 1 || (this.step === 1 && !this.isApproved)) return 'approval_pending';
      this.end('Completed');
    } else return 'not_possible';
    return 'done';
  }

  supersede(): boolean {
    if (this.state !== 'Running' && this.state !== 'Paused') return false;
    this.end('Superseded');
    return true;
  }

  withdraw(): boolean {
    const isEnded = this.state === 'Completed' || this.state === 'Superseded';
    if (isEnded || this.isReverted) return false;
    this.end('Halted', true);
    return true;
  }
}

/** The machine, with the memory of a leader, a clock that may be set back, and the model beside it. */
class Trial {
  record: RolloutRecord;
  private readonly model: Model;
  private heldSince: number | null = null;
  private clock = BEGAN;
  private real = BEGAN;
  private readonly seen: Map<string, number>;

  constructor(onHalt: 'Keep' | 'Revert', seen: Map<string, number>) {
    const lenient = { minNodes: 2, successShare: 0.5, maxRegressions: 1, maxSilent: 1 };
    const timed = gate({ ...lenient, bakeTime: '00:00:30', deadline: '00:02:00' });
    const rings = ['canary', 'early', null];
    const steps = rings.map((ring, at) => ({ ring, percent: 100, gate: { ...timed, approval: at === 1 } }));
    this.record = begun({ onHalt, steps });
    this.model = new Model(onHalt);
    this.seen = seen;
  }

  run(given: Command) {
    if (given.kind === 'evaluate') this.evaluate(given.after, given.look);
    else if (given.kind === 'deed') this.deed(given.deed, given.actor);
    else if (given.kind === 'set back') this.clock -= given.by;
    else if (given.kind === 'pause and resume') {
      // The leader evaluates nothing in between, so what it remembers is older than the resuming.
      this.deed('pause', 'anna');
      this.deed('resume', 'anna');
    } else if (given.kind === 'move the lead') {
      this.heldSince = null;
      this.model.forget();
    } else if (given.kind === 'supersede') this.take(supersede(this.record, '2.0.0'), this.model.supersede());
    else this.take(haltByWithdrawal(this.record), this.model.withdraw());
    this.compare();
  }

  private evaluate(after: number, at: number) {
    this.clock += after;
    this.real += after;
    const look = LOOKS[at] as (typeof LOOKS)[number];
    const before = this.record.steps.slice(0, this.record.step).map(() => NO_COUNTS);
    const all = look.counts && [...before, look.counts];
    const input = { record: this.record, counts: all, heldSince: this.heldSince, now: this.clock };
    const found = evaluateRollout(input);
    expect(JSON.stringify(evaluateRollout(structuredClone(input))), 'redone').to.equal(JSON.stringify(found));
    this.heldSince = found.heldSince;
    this.take(found.transition, this.model.evaluate(this.clock, this.real, look.verdict));
  }

  private deed(deed: Deed, actorName: string) {
    const expected = this.model.deed(deed, actorName, this.clock, this.real);
    const found = applyDeed(this.record, deed, { actorName, at: this.clock, reason: 'x', counts: well(3) });
    if (typeof found === 'string') expect(found).to.equal(expected);
    else this.take(found, expected === 'done');
    // What was remembered before the clock was set back and the rollout resumed looks new, and delays the step. The model
    // knows nothing of it. Other old memories are kept, and must do no harm.
    const isResumed = deed === 'resume' && expected === 'done';
    if (isResumed && this.heldSince !== null && this.heldSince >= this.clock) this.heldSince = null;
  }

  private take(transition: Transition | null, isExpected: boolean) {
    expect(transition !== null, JSON.stringify(transition)).to.equal(isExpected);
    if (transition === null) return;
    expect(transition.from).to.equal(this.record.state);
    expect(transition.to).to.equal(transition.record.state);
    this.seen.set(transition.what, (this.seen.get(transition.what) ?? 0) + 1);
    this.record = transition.record;
    // What is in Git is all that there is of it.
    expect(parseRollout(printRollout(this.record))).to.deep.equal(this.record);
  }

  private compare() {
    const { state, step, isReverted, approvedBy, since } = this.record;
    const { model } = this;
    expect({ state, step, isReverted, isApproved: approvedBy !== null }).to.deep.equal({
      ...{ state: model.state, step: model.step },
      ...{ isReverted: model.isReverted, isApproved: model.isApproved },
    });
    if (state === 'Running') expect(Date.parse(since)).to.equal(model.began);
  }
}

describe('rollout and its model', () => {
  it('go the same way through looks at the nodes, deeds, moves of the lead, and clocks that are set back', () => {
    const seen = new Map<string, number>();
    const commands = fc.array(command, { minLength: 10, maxLength: 60, size: 'max' });
    fc.assert(
      fc.property(fc.constantFrom('Keep', 'Revert'), commands, (onHalt, all) => {
        const trial = new Trial(onHalt, seen);
        for (const one of all) trial.run(one);
      }),
      { numRuns: 150 },
    );
    // A model that never gets anywhere would agree with anything.
    const all = [
      'Step 2 of 3 opened',
      'Step 3 of 3 opened',
      'Completed',
      'Paused',
      'Resumed',
      'Step 2 approved',
    ];
    for (const what of [...all, 'Halted', 'Halted and reverted', 'Superseded by 2.0.0'])
      expect(seen.get(what) ?? 0, what).to.be.above(2);
  });
});
