import { expect } from 'chai';
import fc from 'fast-check';
import { planRemovals, type RetentionRule, ruleFor } from '../../../src/domain/retention-plan.ts';
import { compareVersions } from '../../../src/domain/version-order.ts';
import { DAY } from '../../../src/lib/clock.ts';

const NOW = Date.parse('2026-11-20T09:08:00.000Z');
const INHERITED = { enabled: null, keepVersions: null, keepDays: null, keepReleaseVersions: null };
const EVERYTHING: RetentionRule = { keepVersions: 0, keepDays: 0, keepReleaseVersions: false };

/** A version by its age in days; a draft where it ends in `?`, withdrawn where it ends in `~`. */
function candidates(ages: Record<string, number>) {
  return Object.entries(ages)
    .map(([name, age]) => ({
      version: name.replace(/[?~]$/, ''),
      isPublished: !name.endsWith('?'),
      isWithdrawn: name.endsWith('~'),
      at: NOW - age * DAY,
    }))
    .sort((a, b) => compareVersions(b.version, a.version));
}

function removed(ages: Record<string, number>, rule: Partial<RetentionRule>, ...inUse: string[]): string[] {
  const facts = { inUse: new Set(inUse), hasMain: true, now: NOW };
  return planRemovals(candidates(ages), { ...EVERYTHING, ...rule }, facts).map(
    ({ candidate }) => candidate.version,
  );
}

describe('the plan of a cleanup', () => {
  const FOUR = { '1.0.0': 40, '1.1.0': 30, '1.2.0': 20, '1.3.0': 10 };

  it('takes what is beyond the newest and older than the days, never by one of the two alone', () => {
    expect(removed(FOUR, { keepVersions: 2 })).to.deep.equal(['1.1.0', '1.0.0']);
    expect(removed(FOUR, { keepVersions: 1, keepDays: 30 })).to.deep.equal(['1.1.0', '1.0.0']);
    expect(removed(FOUR, { keepVersions: 1, keepDays: 31 })).to.deep.equal(['1.0.0']);
    expect(removed(FOUR, { keepVersions: 1, keepDays: 41 })).to.deep.equal([]);
    expect(removed(FOUR, { keepVersions: 4 })).to.deep.equal([]);
  });

  it('takes what has just been published where no days are kept', () => {
    expect(removed({ '1.0.0': 0, '1.1.0': 0, '1.2.0': 0 }, { keepVersions: 1 })).to.deep.equal([
      '1.1.0',
      '1.0.0',
    ]);
  });

  it('goes by the time of publishing, and among equals by the version', () => {
    const late = { '1.0.0': 1, '1.0.1': 1, '2.0.0': 9, '3.0.0': 8 };
    expect(removed(late, { keepVersions: 2 })).to.deep.equal(['2.0.0']);
    expect(removed(late, { keepVersions: 1 })).to.deep.equal(['1.0.0', '2.0.0']);
  });

  it('never takes the newest published one, nor the highest stable one', () => {
    expect(removed(FOUR, {})).to.not.include('1.3.0');
    expect(removed({ '2.0.0': 50, '1.9.0': 40, '2.1.0-rc.1': 10 }, {})).to.deep.equal(['1.9.0']);
    expect(removed({ '1.0.0-a': 50, '1.0.0-b': 40, '1.0.0?': 1 }, {})).to.deep.equal(['1.0.0', '1.0.0-a']);
  });

  it('takes a withdrawn version as any other, and keeps the newest and the highest stable one beside it', () => {
    const withdrawn = { '1.0.0': 40, '1.1.0': 30, '1.2.0-rc.1': 20, '1.3.0~': 10 };
    expect(removed(withdrawn, {})).to.deep.equal(['1.3.0', '1.0.0']);
    expect(removed(withdrawn, { keepVersions: 1 })).to.deep.equal(['1.0.0']);
    expect(removed(withdrawn, { keepReleaseVersions: true })).to.deep.equal([]);
    expect(removed({ '1.0.0~': 9, '1.1.0~': 8 }, {})).to.deep.equal(['1.1.0', '1.0.0']);
    expect(removed({ '1.0.0~': 9, '1.1.0~': 8 }, {}, '1.1.0')).to.deep.equal(['1.0.0']);
  });

  it('takes the highest stable one where no branch stands at it', () => {
    const ages = candidates({ '1.0.0': 50, '1.1.0-rc.1': 40, '1.1.0-rc.2': 10 });
    const facts = { inUse: new Set<string>(), hasMain: false, now: NOW };
    const gone = planRemovals(ages, { ...EVERYTHING, keepVersions: 1 }, facts);
    expect(gone.map(({ candidate }) => candidate.version)).to.deep.equal(['1.1.0-rc.1', '1.0.0']);
    const kept = planRemovals(ages, { ...EVERYTHING, keepReleaseVersions: true }, facts);
    expect(kept.map(({ candidate }) => candidate.version)).to.deep.equal(['1.1.0-rc.1']);
  });

  it('never takes what is in use', () => {
    expect(removed(FOUR, {}, '1.0.0', '1.2.0')).to.deep.equal(['1.1.0']);
  });

  it('keeps releases where it is told so; drafts and prereleases are none', () => {
    const mixed = {
      '1.0.0': 50,
      '1.1.0-rc.1': 40,
      '1.1.0': 30,
      '1.2.0-rc.1+b': 20,
      '1.2.0?': 15,
      '1.3.0': 1,
    };
    expect(removed(mixed, { keepReleaseVersions: true })).to.deep.equal([
      '1.2.0',
      '1.2.0-rc.1+b',
      '1.1.0-rc.1',
    ]);
    expect(removed({ spring: 30, summer: 20, autumn: 10 }, { keepReleaseVersions: true })).to.deep.equal([]);
    expect(removed({ spring: 30, summer: 20, autumn: 10 }, {})).to.deep.equal(['summer', 'spring']);
  });

  it('says why', () => {
    const rule = { ...EVERYTHING, keepVersions: 1, keepDays: 5 };
    const facts = { inUse: new Set<string>(), hasMain: true, now: NOW };
    const reasons = planRemovals(candidates({ '1.0.0': 9, '1.1.0?': 8, '1.2.0': 7 }), rule, facts);
    expect(reasons.map(({ reason }) => reason)).to.deep.equal([
      'Draft beyond the newest 1 and older than 5 days',
      'Published version beyond the newest 1 and older than 5 days',
    ]);
  });

  it('keeps at least as many as asked for, and more of a longer wish, whatever the versions', () => {
    const version = fc
      .tuple(fc.nat(3), fc.nat(3), fc.constantFrom('', '-rc.1'))
      .map(([major, minor, pre]) => `${major}.${minor}.0${pre}`);
    const ages = fc.dictionary(version, fc.nat(200), { maxKeys: 20 });
    const rule = fc.record({
      keepVersions: fc.nat(20),
      keepDays: fc.nat(200),
      keepReleaseVersions: fc.boolean(),
    });
    fc.assert(
      fc.property(ages, rule, (some, wish) => {
        const gone = removed(some, wish);
        const count = Object.keys(some).length;
        expect(count - gone.length).to.be.at.least(Math.min(count, Math.max(1, wish.keepVersions)));
        const more = removed(some, {
          ...wish,
          keepVersions: wish.keepVersions + 1,
          keepDays: wish.keepDays + 1,
        });
        expect(gone).to.include.members(more);
      }),
    );
  });
});

describe('the rule for a configuration', () => {
  const server = { keepVersions: 10, keepDays: 90, keepReleaseVersions: true };

  it('is that of the cleanup where the configuration sets nothing', () => {
    expect(ruleFor(server, INHERITED)).to.deep.equal(server);
    expect(ruleFor(server, { ...INHERITED, enabled: true })).to.deep.equal(server);
  });

  it("is the configuration's own, member by member", () => {
    expect(ruleFor(server, { ...INHERITED, keepVersions: 0, keepReleaseVersions: false })).to.deep.equal({
      keepVersions: 0,
      keepDays: 90,
      keepReleaseVersions: false,
    });
  });

  it('is none where the configuration is exempt', () => {
    expect(ruleFor(server, { ...INHERITED, enabled: false, keepVersions: 0 })).to.equal(null);
  });
});
