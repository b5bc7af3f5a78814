/** What the console says of a rollout: its bars, the sentences of its gates, its deadline, and what can be done. */

import { expect } from 'chai';
import {
  bodyOf,
  changeStep,
  DEFAULT_GATE,
  planFor,
  reachOf,
  removeStep,
  splitStep,
  type Unit,
} from '../../../src/ui/components/roll-out/plan.ts';
import {
  barsOf,
  type Counts,
  deadlineOf,
  deedsDone,
  durationText,
  gateRules,
  openStepOf,
  possibleDeeds,
  ringText,
  type Step,
} from '../../../src/ui/rollouts.ts';
import type { Rollout } from '../../../src/ui/types.ts';

const NONE: Counts = {
  ...{ offered: 0, taken: 0, success: 0, regression: 0 },
  ...{ alreadyBad: 0, silent: 0, absent: 0 },
};
const GATE: Step['gate'] = {
  ...{ minNodes: 10, successShare: 0.95, maxRegressions: 0, maxSilent: null, maxAbsent: null },
  ...{ bakeTime: '01:00:00', deadline: '1.00:00:00', approval: false },
};
const at = (hour: number) => new Date(Date.UTC(2026, 10, 20, hour)).toISOString();

function step({ gate, ...more }: Partial<Omit<Step, 'gate'>> & { gate?: Partial<Step['gate']> } = {}): Step {
  const times = { startedAt: at(8), endedAt: null };
  return {
    ring: 'canary',
    percent: 100,
    gate: { ...GATE, ...gate },
    state: 'Open',
    counts: NONE,
    ...times,
    ...more,
  };
}

type Entry = Rollout['history'][number];
const entry = (from: Entry['from'], to: Entry['to'], hour: number, actorName = 'alice'): Entry => ({
  ...{ from, to, at: at(hour), actorName, reason: 'so', counts: NONE },
});

function rollout(more: Partial<Rollout> = {}): Rollout {
  return {
    ...{ configurationName: 'web', isComposite: false, key: '1.4.0', version: '1.4.0', parameters: [] },
    ...{ state: 'Running', step: 0 },
    ...{
      steps: [step()],
      onHalt: 'Keep',
      createdBy: 'alice',
      createdAt: at(8),
      frozenUntil: null,
      cause: null,
    },
    history: [entry(null, 'Running', 8)],
    ...more,
  };
}

describe('the bars of a rollout', () => {
  it('are as long as their share of the nodes that are offered the version', () => {
    const bars = barsOf({ ...NONE, offered: 8, taken: 6, success: 4, silent: 2, absent: 1 });
    expect(bars.map(({ label, count, length }) => `${label} ${count} ${length}`)).to.deep.equal([
      ...['Offered 8 1', 'Taken 6 0.75', 'Success 4 0.5', 'Regression 0 0'],
      ...['AlreadyBad 0 0', 'Silent 2 0.25', 'Absent 1 0.125'],
    ]);
  });

  it('have no length without nodes', () => {
    expect(barsOf(NONE).every(({ length }) => length === 0)).to.equal(true);
  });
});

describe('the sentences of a gate', () => {
  const linesOf = (of: Step, approvedBy: string | null = null) =>
    gateRules(of, approvedBy).map(({ text, holds }) => `${holds === null ? '' : holds ? '+ ' : '- '}${text}`);

  it('say what holds and what does not yet', () => {
    const counts = { ...NONE, offered: 20, taken: 16, success: 14, regression: 1, alreadyBad: 1, silent: 1 };
    const gate = { maxSilent: 2, maxAbsent: 0, approval: true };
    expect(linesOf(step({ counts: { ...counts, absent: 3 }, gate }))).to.deep.equal([
      '+ At least 10 nodes must have been judged: 15 so far.',
      '- At least 95 % of those that took it and were not bad before must be well: 93.33 % are.',
      '- At most 0 of all steps so far may regress, or the rollout halts at once: 1 of this step has.',
      '+ At most 2 may be silent: 1 is.',
      '- At most 0 may be absent: 3 are.',
      'All of this must hold for 1 h without a break.',
      '- Somebody must approve who has not published the version: nobody has yet.',
    ]);
  });

  it('say who has approved', () => {
    expect(linesOf(step({ gate: { approval: true } }), 'bob').at(-1)).to.equal(
      '+ Somebody must approve who has not published the version: bob has.',
    );
  });

  it('do not divide by no nodes, and never round a share up', () => {
    expect(linesOf(step())[1]).to.match(/^\+ .*none counts yet\.$/);
    const counts = { ...NONE, taken: 100_000, success: 94_999 };
    expect(linesOf(step({ counts }))[1]).to.match(/^- .*: 94\.99 % are\.$/);
    expect(linesOf(step({ gate: { successShare: 0.07 } }))[1]).to.contain('At least 7 %');
  });

  it('say nothing of nodes while the step waits', () => {
    const lines = gateRules(step({ state: 'Waiting' }), null);
    expect(lines.every(({ holds }) => holds === null)).to.equal(true);
    expect(lines[0]?.text).to.equal('At least 10 nodes must have been judged.');
  });
});

describe('the history of a rollout', () => {
  const history = [
    entry(null, 'Running', 8),
    entry('Running', 'Running', 9, 'bob'),
    entry('Running', 'Running', 10, 'Hawser'),
    entry('Running', 'Paused', 11, 'Hawser'),
    entry('Paused', 'Running', 12),
  ];

  it('says what was done', () => {
    const end = [
      entry('Running', 'Halted', 13),
      entry('Halted', 'Halted', 14),
      entry('Halted', 'Completed', 15),
    ];
    expect(deedsDone([...history, ...end])).to.deep.equal([
      ...['Started', 'Step 1 approved', 'Step 2 opened', 'Paused', 'Resumed'],
      ...['Halted', 'Reverted', 'Completed'],
    ]);
  });

  it('says who has approved the open step, and since when its time runs', () => {
    const of = (count: number) => openStepOf(rollout({ history: history.slice(0, count) }));
    expect(of(1)).to.deep.equal({ since: at(8), approvedBy: null });
    expect(of(2)).to.deep.equal({ since: at(8), approvedBy: 'bob' });
    expect(of(3)).to.deep.equal({ since: at(10), approvedBy: null });
    expect(of(5)).to.deep.equal({ since: at(12), approvedBy: null });
  });

  it('gives the deadline, where time runs', () => {
    expect(deadlineOf(rollout({ history }))).to.equal(at(36));
    expect(deadlineOf(rollout({ state: 'Paused' }))).to.equal(null);
  });
});

describe('what can be done with a rollout', () => {
  it('depends on its state', () => {
    const of = (state: Rollout['state']) => possibleDeeds(rollout({ state }));
    expect(of('Running')).to.deep.equal(['pause', 'complete', 'halt', 'revert']);
    expect(of('Paused')).to.deep.equal(['resume', 'complete', 'halt', 'revert']);
    expect(of('Halted')).to.deep.equal(['complete', 'revert']);
    expect([...of('Completed'), ...of('Superseded')]).to.deep.equal([]);
  });

  it('is approving where the gate asks for it and nobody has', () => {
    const steps = [step({ gate: { approval: true } })];
    expect(possibleDeeds(rollout({ steps }))).to.include('approve');
    const history = [entry(null, 'Running', 8), entry('Running', 'Running', 9, 'bob')];
    expect(possibleDeeds(rollout({ steps, history }))).not.to.include('approve');
  });

  it('is completing only where each approval is given that a step asks for', () => {
    const steps = [step({ gate: { approval: true } }), step({ state: 'Waiting' })];
    const history = [entry(null, 'Running', 8), entry('Running', 'Running', 9, 'bob')];
    expect(possibleDeeds(rollout({ steps }))).not.to.include('complete');
    expect(possibleDeeds(rollout({ steps, history }))).to.include('complete');
    const later = [step(), step({ state: 'Waiting', gate: { approval: true } })];
    expect(possibleDeeds(rollout({ steps: later }))).not.to.include('complete');
  });
});

describe('words of a rollout', () => {
  it('name durations and rings', () => {
    expect(['01:00:00', '1.00:00:00', '2.03:04:05', '00:00:00.5'].map(durationText)).to.deep.equal([
      ...['1 h', '1 day', '2 days 3 h 4 min 5 s', '00:00:00.5'],
    ]);
    expect(ringText({ ring: 'canary', percent: 10 })).to.equal('10 % of canary');
    expect(ringText({ ring: null, percent: 100 })).to.equal('nodes without a ring');
  });
});

describe('the plan of a rollout', () => {
  it('begins with all rings and then the nodes without one, with the defaults of the API', () => {
    const body = bodyOf('1.4.0', { ...planFor(['canary', 'early']), onHalt: 'Keep' });
    expect(body.steps.map(({ ring, percent }) => [ring, percent])).to.deep.equal([
      ...[
        ['canary', 100],
        ['early', 100],
        [null, 100],
      ],
    ]);
    expect(body.steps[0]?.gate).to.deep.equal({ ...GATE, minNodes: 1 });
    expect(body).to.include({ version: '1.4.0', onHalt: 'Keep' }).and.not.to.have.property('message');
  });

  it('sends durations in the words of the API, whatever their unit', () => {
    const sent = (count: string, unit: Unit) => {
      const plan = planFor([]);
      const gate = { ...DEFAULT_GATE, bakeTime: { count, unit } };
      return bodyOf('1', changeStep(plan, 0, { gate })).steps[0]?.gate.bakeTime;
    };
    const cases: [count: string, unit: Unit, text: string | null][] = [
      ['30', 'seconds', '00:00:30'],
      ['90', 'minutes', '01:30:00'],
      ['1.5', 'hours', '01:30:00'],
      ['36', 'hours', '1.12:00:00'],
      ['2', 'days', '2.00:00:00'],
      ['0.5', 'seconds', '00:00:00.500'],
      ['', 'hours', null],
      ['soon', 'hours', 'soon'],
      ['-1', 'hours', '-1'],
    ];
    for (const [count, unit, text] of cases) expect(sent(count, unit), `${count} ${unit}`).to.equal(text);
  });

  it('says how many nodes each step adds', () => {
    const nodesOf = (ring: string | null) => (ring === 'odd' ? null : ring === null ? 7 : 40);
    const of = (...steps: [ring: string | null, percent: string][]) =>
      reachOf(
        steps.map(([ring, percent]) => ({ ring, percent })),
        nodesOf,
      );
    const plan = of(['a', '10'], [null, '100'], ['a', '100'], ['odd', '100']);
    expect(plan).to.deep.equal([4, 7, 36, null]);
    expect(of(['a', 'x'], ['a', ''])).to.deep.equal([null, 40]);
    expect(of(['a', '50'], ['a', '20'])).to.deep.equal([20, 0]);
  });

  it('gets a smaller share before a step, and loses steps', () => {
    let plan = splitStep(planFor(['canary']), 0);
    expect(plan.steps.map(({ key, ring, percent }) => [key, ring, percent])).to.deep.equal([
      ...[
        [2, 'canary', '10'],
        [0, 'canary', '100'],
        [1, null, '100'],
      ],
    ]);
    plan = removeStep(changeStep(plan, 2, { percent: 'x', ring: null }), 1);
    expect(bodyOf('1', plan).steps.map(({ percent }) => percent)).to.deep.equal(['x', 100]);
  });
});
