import { expect } from 'chai';
import {
  backOff,
  delayAfterRetryAfter,
  firstDelay,
  nextDelay,
  parseHttpDate,
  parseRetryAfter,
  Timetable,
  whileWaiting,
} from '../../../src/agent/schedule.ts';
import { DAY, MINUTE, SECOND } from '../../../src/lib/clock.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const lowest = () => 0;
const middle = () => 0.5;
const highest = () => 0.999_999;

describe("the agent's schedule", () => {
  it('polls an interval later, a tenth more or less', () => {
    expect(nextDelay(15 * MINUTE, lowest)).to.equal(13.5 * MINUTE);
    expect(nextDelay(15 * MINUTE, middle)).to.equal(15 * MINUTE);
    expect(nextDelay(15 * MINUTE, highest)).to.be.closeTo(16.5 * MINUTE, SECOND);
  });

  it('never polls in a tight loop, however short the interval', () => {
    expect(nextDelay(0.001, lowest)).to.equal(0.9 * SECOND);
  });

  it('spreads the first polls over a tenth of the interval', () => {
    expect(firstDelay(15 * MINUTE, lowest)).to.equal(0);
    expect(firstDelay(15 * MINUTE, highest)).to.be.closeTo(1.5 * MINUTE, SECOND);
  });

  it('asks often at first while it waits for its first bundle, and never less often than otherwise', () => {
    expect(whileWaiting(0, 15 * MINUTE)).to.equal(5 * SECOND);
    expect(whileWaiting(10 * MINUTE, 15 * MINUTE)).to.equal(MINUTE);
    expect(whileWaiting(DAY, 15 * MINUTE)).to.equal(15 * MINUTE);
    expect(whileWaiting(0, SECOND)).to.equal(SECOND);
  });

  it('backs off by doubling, at random, up to a quarter of an hour', () => {
    const longest = [1, 2, 3, 4].map((failures) => Math.round(backOff(failures, highest) / SECOND));
    expect(longest).to.deep.equal([5, 10, 20, 40]);
    expect(backOff(2, lowest)).to.equal(5 * SECOND);
    for (const failures of [9, 100, 1e9]) {
      expect(backOff(failures, lowest)).to.equal(7.5 * MINUTE);
      expect(backOff(failures, highest)).to.be.at.most(15 * MINUTE);
    }
  });

  it('comes back no earlier than it was told, and not with all the others', () => {
    expect(delayAfterRetryAfter(30 * SECOND, lowest)).to.equal(30 * SECOND);
    expect(delayAfterRetryAfter(30 * SECOND, highest)).to.be.closeTo(33 * SECOND, 1);
    expect(delayAfterRetryAfter(0, lowest)).to.equal(SECOND);
  });
});

describe('the timetable of the agent', () => {
  const INTERVAL = 10 * SECOND;
  const done = { wasDue: true, hasRun: true, hasCalled: true, failure: null };
  const away = { ...done, failure: { retryAfter: null } };
  const start = () => new Timetable(0, middle);

  it('runs and calls together while the server answers', () => {
    const timetable = start();
    expect(timetable.dueAt(0)).to.deep.equal({ isRunDue: true, isCallDue: true });
    timetable.note(done, 100, INTERVAL);
    expect(timetable.next).to.equal(100 + INTERVAL);
    expect(timetable.dueAt(timetable.next)).to.deep.equal({ isRunDue: true, isCallDue: true });
  });

  it('keeps to its interval while the server is away, and calls in between', () => {
    const timetable = start();
    timetable.note(away, 0, INTERVAL);
    const call = timetable.next;
    expect(call).to.be.within(2.5 * SECOND, 5 * SECOND);
    expect(timetable.dueAt(call)).to.deep.equal({ isRunDue: false, isCallDue: true });
    timetable.note({ ...away, wasDue: false, hasRun: false }, call, INTERVAL);
    expect(timetable.dueAt(INTERVAL).isRunDue, 'the failed call does not move the run').to.equal(true);
  });

  it('calls no sooner than the server has asked for, and runs meanwhile', () => {
    const timetable = start();
    timetable.note({ ...done, failure: { retryAfter: MINUTE } }, 0, INTERVAL);
    for (const now of [INTERVAL, 2 * INTERVAL]) {
      expect(timetable.dueAt(now)).to.deep.equal({ isRunDue: true, isCallDue: false });
      timetable.note({ ...done, hasCalled: false }, now, INTERVAL);
    }
    expect(timetable.dueAt(1.05 * MINUTE).isCallDue).to.equal(true);
  });

  it('goes back to the times of its runs when the server is back', () => {
    const timetable = start();
    timetable.note(away, 0, INTERVAL);
    timetable.note({ ...done, wasDue: false, hasRun: false }, 4 * SECOND, INTERVAL);
    expect(timetable.next).to.equal(INTERVAL);
    expect(timetable.dueAt(INTERVAL)).to.deep.equal({ isRunDue: true, isCallDue: true });
  });

  it('lets a run that could not be made wait for the next call', () => {
    const timetable = start();
    timetable.note({ ...away, hasRun: false }, 0, INTERVAL);
    expect(timetable.next).to.be.at.most(5 * SECOND);
    expect(timetable.dueAt(timetable.next)).to.deep.equal({ isRunDue: true, isCallDue: true });
  });

  it('tries a run that failed without the server after the interval, however far the next call is', () => {
    const timetable = start();
    timetable.note({ ...done, failure: { retryAfter: DAY } }, 0, INTERVAL);
    const broken = { wasDue: true, hasRun: false, hasCalled: false, failure: { retryAfter: null } };
    timetable.note(broken, INTERVAL, INTERVAL);
    expect(timetable.next).to.equal(2 * INTERVAL);
  });

  it('takes a shorter interval at once', () => {
    const timetable = start();
    timetable.note(away, 0, DAY);
    timetable.note({ ...done, wasDue: false, hasRun: false }, 5 * SECOND, INTERVAL);
    expect(timetable.next).to.equal(5 * SECOND + INTERVAL);
  });
});

describe('Retry-After', () => {
  it('is seconds or a date', () => {
    expect(parseRetryAfter('120', NOON)).to.equal(2 * MINUTE);
    expect(parseRetryAfter(' 0 ', NOON)).to.equal(0);
    expect(parseRetryAfter('Fri, 20 Nov 2026 12:00:30 GMT', NOON)).to.equal(30 * SECOND);
    expect(parseRetryAfter('Fri, 20 Nov 2026 11:00:00 GMT', NOON), 'the past').to.equal(0);
  });

  it('is at most a day', () => {
    expect(parseRetryAfter('99999999999999999999', NOON)).to.equal(DAY);
    expect(parseRetryAfter('Wed, 20 Nov 2126 12:00:00 GMT', NOON)).to.equal(DAY);
  });

  it('is nothing where it cannot be read', () => {
    const texts = ['-1', '1.5', '10s', 'soon', '2026-11-20T12:00:30Z', 'Fri, 99 Nov 2026 12:00:30 GMT'];
    for (const header of [undefined, '', ...texts])
      expect(parseRetryAfter(header, NOON), String(header)).to.equal(null);
  });
});

describe('HTTP dates', () => {
  it('are read in all three forms of RFC 9110', () => {
    const time = Date.UTC(1994, 10, 6, 8, 49, 37);
    for (const text of [
      'Sun, 06 Nov 1994 08:49:37 GMT',
      'Sunday, 06-Nov-94 08:49:37 GMT',
      'Sun Nov  6 08:49:37 1994',
    ]) {
      expect(parseHttpDate(text), text).to.equal(time);
    }
  });
});
