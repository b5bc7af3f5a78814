import { expect } from 'chai';
import { EVENT_TYPES, isEventGlob, matchesGlob } from '../../../src/domain/event-types.ts';

describe('a glob of events', () => {
  it('matches a type by its name, or by what is before and behind its star', () => {
    for (const glob of ['rollout.halted', 'rollout.*', '*', '*.halted', 'rollout.h*d', 'roll*'])
      expect(matchesGlob(glob, 'rollout.halted'), glob).to.equal(true);
    for (const glob of ['rollout', 'rollout.halte', 'node.*', '*.paused', 'rollout.halted*halted'])
      expect(matchesGlob(glob, 'rollout.halted'), glob).to.equal(false);
  });

  it('is taken if some event has such a type', () => {
    for (const glob of [...EVENT_TYPES, '*', 'rollout.*', '*.version_published', 'node.*'])
      expect(isEventGlob(glob), glob).to.equal(true);
    const refused = [
      '',
      'nodes.*',
      'rollout.**',
      '*.*',
      'node.registered ',
      'Node.registered',
      '.',
      '?',
      `*${'a'.repeat(200)}`,
    ];
    for (const glob of refused) expect(isEventGlob(glob), glob).to.equal(false);
  });
});
