import { expect } from 'chai';
import { FloodGuard } from '../../../src/api/reports/intake-limits.ts';
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts';
import { refusalBy } from '../../support/failures.ts';

/** Seconds after which to try again; null where the report is admitted. */
function retryAfter(guard: FloodGuard, nodeId: string, now: number): number | null {
  const refusal = refusalBy(() => guard.admit(nodeId, now));
  if (refusal === null) return null;
  expect(refusal).to.include({ kind: 'rate_limited' });
  return refusal.retryAfter ?? 0;
}

const admitted = (guard: FloodGuard, nodeId: string, now: number, tries: number) =>
  Array.from({ length: tries }, () => retryAfter(guard, nodeId, now)).filter((wait) => wait === null).length;

describe('the guard against floods of reports', () => {
  it('lets 120 through at once, then two a second, whatever is refused in between', () => {
    const guard = new FloodGuard();
    expect(admitted(guard, 'a', 0, 500)).to.equal(120);
    expect(retryAfter(guard, 'a', 0)).to.equal(1);
    expect(admitted(guard, 'a', 499, 10)).to.equal(0);
    expect(admitted(guard, 'a', 500, 10)).to.equal(1);
    expect(admitted(guard, 'a', 3 * SECOND, 10)).to.equal(5);
  });

  it('lets the one through that comes when it was told to', () => {
    const guard = new FloodGuard();
    admitted(guard, 'a', 0, 500);
    const wait = retryAfter(guard, 'a', 100) ?? 0;
    expect(retryAfter(guard, 'a', 100 + wait * SECOND)).to.equal(null);
  });

  it('knows each node on its own, and forgives after a minute', () => {
    const guard = new FloodGuard();
    admitted(guard, 'a', 0, 500);
    expect(retryAfter(guard, 'b', 0)).to.equal(null);
    expect(admitted(guard, 'a', MINUTE, 500)).to.equal(120);
    expect(admitted(guard, 'b', MINUTE, 500)).to.equal(120);
  });

  it('never stops who reports twice a second', () => {
    const guard = new FloodGuard();
    for (let now = 0; now < 10 * MINUTE; now += 500) expect(retryAfter(guard, 'a', now)).to.equal(null);
  });

  it('does not hold up who has reported before the clock was set back', () => {
    const guard = new FloodGuard();
    admitted(guard, 'a', 2 * HOUR, 500);
    expect(admitted(guard, 'a', HOUR, 500)).to.equal(120);
    expect(admitted(guard, 'a', HOUR + MINUTE, 500)).to.equal(120);
  });
});
