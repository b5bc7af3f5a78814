import { expect } from 'chai';
import fc from 'fast-check';
import { MAX_STEPS, planFaults } from '../../../src/domain/rollout-plan.ts';

const RINGS = ['canary', 'early', 'broad'];
type Step = [ring: string | null, percent?: number];
const faultsOf = (...steps: Step[]) =>
  planFaults(
    steps.map(([ring, percent = 100]) => ({ ring, percent })),
    RINGS,
  ).map(({ path, code }) => `${path} ${code}`);

/** @param plan such as `canary:10 early -`, in which `-` is for the nodes without a ring */
const stepsOf = (plan: string) =>
  plan
    .split(' ')
    .filter(Boolean)
    .map((step): Step => {
      const [ring = '', percent = '100'] = step.split(':');
      return [ring === '-' ? null : ring, Number(percent)];
    });

describe('plan of a rollout', () => {
  it('may name the rings in any order, leave some out, and come back with a larger share', () => {
    const good = ['canary', '-', 'broad', 'canary early broad -', 'canary broad', 'early -'];
    const back = ['early canary', '- broad', 'canary:10 early canary:20', 'broad:1 -:5 canary broad:2 -:6'];
    for (const plan of [...good, ...back, 'canary:1 canary:2 canary:100 early:1', 'broad:50 -:10 -:20'])
      expect(faultsOf(...stepsOf(plan)), plan).to.deep.equal([]);
  });

  it('says what is wrong and where', () => {
    const bad: [plan: string, ...faults: string[]][] = [
      ['', '/steps too_small'],
      ['x', '/steps/0/ring unknown_ring'],
      ['Canary', '/steps/0/ring unknown_ring'],
      ['constructor', '/steps/0/ring unknown_ring'],
      ['canary:20 early canary:20', '/steps/2/percent percent_order'],
      ['- broad -', '/steps/2/percent percent_order'],
      ['canary canary', '/steps/1/percent percent_order'],
      ['canary:20 canary:10', '/steps/1/percent percent_order'],
      ['-:20 -:20', '/steps/1/percent percent_order'],
      ['canary:0', '/steps/0/percent percent_range'],
      ['canary:101', '/steps/0/percent percent_range'],
      ['canary:1.5', '/steps/0/percent percent_range'],
      ['canary:NaN', '/steps/0/percent percent_range'],
      // Each fault is told, and one that follows from another is not.
      [
        'early x:0 early',
        '/steps/1/ring unknown_ring',
        '/steps/1/percent percent_range',
        '/steps/2/percent percent_order',
      ],
    ];
    for (const [plan, ...faults] of bad) expect(faultsOf(...stepsOf(plan)), plan).to.deep.equal(faults);
  });

  it('has so many steps and no more', () => {
    const steps = (length: number) => Array.from({ length }, (_, at): Step => ['early', at + 1]);
    expect(faultsOf(...steps(MAX_STEPS))).to.deep.equal([]);
    expect(faultsOf(...steps(MAX_STEPS), [null])).to.deep.equal(['/steps too_big']);
  });

  it('is without faults if each ring comes with shares that only grow, and then alone', () => {
    const step = fc.tuple(fc.constantFrom(...RINGS, null), fc.integer({ min: -1, max: 102 }));
    const growing = fc
      .uniqueArray(step, { maxLength: 6, selector: String })
      .map((steps) => steps.sort(([, a], [, b]) => a - b));
    let found = 0;
    fc.assert(
      fc.property(fc.oneof(growing, fc.array(step, { maxLength: 6 })), (steps) => {
        const isInRange = steps.every(([, percent]) => percent >= 1 && percent <= 100);
        const isGrowing = [...RINGS, null].every((ring) => {
          const shares = steps.filter(([of]) => of === ring).map(([, percent]) => percent);
          return shares.every((share, at) => at === 0 || share > (shares[at - 1] as number));
        });
        const isGood = steps.length > 0 && isInRange && isGrowing;
        if (isGood) found += 1;
        expect(faultsOf(...steps).length === 0).to.equal(isGood);
      }),
      { numRuns: 500 },
    );
    expect(found).to.be.above(20);
  });
});
