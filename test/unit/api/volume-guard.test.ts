import { expect } from 'chai';
import { MAX_BYTES_PER_HOUR, VolumeGuard } from '../../../src/api/reports/intake-limits.ts';
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts';
import { HawserError } from '../../../src/lib/errors.ts';
import { refusalBy } from '../../support/failures.ts';

const MIB = 1024 * 1024;

/** Seconds after which to try again; null where there is room. */
function retryAfter(guard: VolumeGuard, nodeId: string, bytes: number, now: number): number | null {
  const refusal = refusalBy(() => guard.admit(nodeId, bytes, now));
  if (refusal === null) return null;
  expect(refusal).to.include({ kind: 'rate_limited', code: 'rate_limited' });
  return refusal.retryAfter ?? 0;
}

describe('the guard of how much a node reports', () => {
  it('has room for 64 MiB, to the byte, and knows each node on its own', () => {
    const guard = new VolumeGuard();
    guard.take('a', MAX_BYTES_PER_HOUR - 1, 0);
    expect(retryAfter(guard, 'a', 1, 0)).to.equal(null);
    guard.take('a', 1, 0);
    expect(retryAfter(guard, 'a', 0, 0)).to.equal(null);
    expect(retryAfter(guard, 'a', 1, 0)).to.be.greaterThan(0);
    expect(() => guard.take('a', 1, 0)).to.throw(HawserError);
    expect(retryAfter(guard, 'b', MAX_BYTES_PER_HOUR, 0)).to.equal(null);
  });

  it('has room again at the second that it names, and not before', () => {
    const guard = new VolumeGuard();
    for (let at = 0; at < 16; at += 1) guard.take('a', 4 * MIB, at * MINUTE);
    const now = 20 * MINUTE;
    // As much as the first two minutes have to let go.
    const wait = retryAfter(guard, 'a', 5 * MIB, now) ?? 0;
    expect(retryAfter(guard, 'a', 5 * MIB, now + (wait - 1) * SECOND)).to.equal(1);
    expect(retryAfter(guard, 'a', 5 * MIB, now + wait * SECOND)).to.equal(null);
    expect(now + wait * SECOND).to.be.within(HOUR + MINUTE, HOUR + 3 * MINUTE);
    expect(retryAfter(guard, 'a', MAX_BYTES_PER_HOUR, now + HOUR)).to.equal(null);
  });

  it('does not let more than 64 MiB into any hour', () => {
    const guard = new VolumeGuard();
    const taken: { at: number; bytes: number }[] = [];
    for (let now = 0; now < 4 * HOUR; now += 7 * SECOND) {
      if (retryAfter(guard, 'a', MIB, now) !== null) continue;
      guard.take('a', MIB, now);
      taken.push({ at: now, bytes: MIB });
    }
    for (const { at: start } of taken) {
      const within = taken.filter(({ at }) => at >= start && at < start + HOUR);
      expect(within.length * MIB).to.be.at.most(MAX_BYTES_PER_HOUR);
    }
    expect(taken.length).to.be.greaterThan(3 * 64);
  });

  it('gives back what was not taken after all', () => {
    const guard = new VolumeGuard();
    const giveBack = guard.take('a', MAX_BYTES_PER_HOUR, 0);
    expect(retryAfter(guard, 'a', 1, MINUTE)).to.be.greaterThan(0);
    giveBack();
    expect(retryAfter(guard, 'a', MAX_BYTES_PER_HOUR, MINUTE)).to.equal(null);
  });

  it('does not hold up who has reported before the clock was set back', () => {
    const guard = new VolumeGuard();
    guard.take('a', MAX_BYTES_PER_HOUR, 5 * HOUR);
    expect(retryAfter(guard, 'a', MAX_BYTES_PER_HOUR, 2 * HOUR)).to.equal(null);
    guard.take('a', MAX_BYTES_PER_HOUR, 2 * HOUR);
    expect(retryAfter(guard, 'a', 1, 2 * HOUR)).to.be.greaterThan(0);
  });
});
