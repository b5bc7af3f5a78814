/** When the agent polls. The times are spread, so that nodes that started together do not poll together. */

import { DAY, MINUTE, SECOND } from '../lib/clock.ts';

/** Returns a number from 0 up to, but not including, 1. */
export type Random = () => number;

/** The share of the interval by which a poll can come earlier or later. */
const JITTER = 0.1;
const SHORTEST_INTERVAL = 1 * SECOND;
const SHORTEST_WAITING = 5 * SECOND;
const FIRST_BACK_OFF = 5 * SECOND;
const LONGEST_BACK_OFF = 15 * MINUTE;
/** A longer wait would be a mistake that takes a node out of service. */
const LONGEST_RETRY_AFTER = DAY;

/** The three forms of a date in RFC 9110 5.6.7, which asks readers to accept the obsolete ones too. */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4}|[A-Z][a-z]+, \d\d-[A-Z][a-z]{2}-\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d) \d\d:\d\d:\d\d(?: GMT| \d{4})$/;

/** Milliseconds until the first poll after a start: at most a tenth of the interval. */
export function firstDelay(interval: number, random: Random): number {
  return random() * JITTER * interval;
}

/** Milliseconds until the next poll after a success: the interval, up to a tenth more or less. */
export function nextDelay(interval: number, random: Random): number {
  return Math.max(interval, SHORTEST_INTERVAL) * (1 - JITTER + 2 * JITTER * random());
}

/**
 * The interval of a node that waits for its first bundle: a tenth of what it has waited already, so that it starts soon
 * after somebody has assigned it, and asks little when nobody does.
 * @param waited milliseconds
 * @param interval the one that it has otherwise, which is never exceeded
 */
export function whileWaiting(waited: number, interval: number): number {
  return Math.min(interval, Math.max(waited / 10, SHORTEST_WAITING));
}

/** Milliseconds until the next try: each failure doubles the time up to a limit, and its upper half is random. */
export function backOff(failures: number, random: Random): number {
  // The exponent is limited, because 2 to the power of some thousand is Infinity.
  const ceiling = Math.min(FIRST_BACK_OFF * 2 ** Math.min(failures - 1, 20), LONGEST_BACK_OFF);
  return ceiling * (0.5 + 0.5 * random());
}

/** Milliseconds to wait when the server has named a time: never less, and at most a tenth more. */
export function delayAfterRetryAfter(retryAfter: number, random: Random): number {
  return Math.max(retryAfter, SHORTEST_INTERVAL) * (1 + JITTER * random());
}

/** What a cycle did that has ended. */
export interface Ended {
  /** Whether it was to run the command, and whether it did. */
  wasDue: boolean;
  hasRun: boolean;
  /** Whether it called the server. */
  hasCalled: boolean;
  /** Why it failed; null for a success. `retryAfter` is null where the server has not named a time. */
  failure: { retryAfter: number | null } | null;
}

/**
 * When the command is run, and when the server is called. Both come together, until the server is away: then the command
 * keeps to its interval, and the calls to what the server has asked for or to the waits after failures. All times are
 * milliseconds of one clock.
 */
export class Timetable {
  private readonly random: Random;
  private runAt: number;
  private callAt: number;
  private failures = 0;

  /** @param start when both are due first */
  constructor(start: number, random: Random) {
    this.runAt = start;
    this.callAt = start;
    this.random = random;
  }

  /** When the next cycle begins. */
  get next(): number {
    return Math.min(this.runAt, this.callAt);
  }

  /** What the cycle has to do that begins now. */
  dueAt(now: number): { isRunDue: boolean; isCallDue: boolean } {
    return { isRunDue: this.runAt <= now, isCallDue: this.callAt <= now };
  }

  /** @param interval the one that holds from now on */
  note({ wasDue, hasRun, hasCalled, failure }: Ended, now: number, interval: number): void {
    const regular = now + nextDelay(interval, this.random);
    if (hasCalled && failure !== null) {
      this.failures += 1;
      this.callAt = now + this.delayAfter(failure);
    } else if (hasCalled) this.failures = 0;
    // A run that was due and could not be made waits for the next call, if the call was what failed.
    const isWaiting = wasDue && !hasRun && hasCalled && failure !== null;
    if (isWaiting) this.runAt = this.callAt;
    else if (hasRun || wasDue) this.runAt = regular;
    // The server may have shortened the interval.
    else this.runAt = Math.min(this.runAt, regular);
    if (hasCalled && failure === null) this.callAt = this.runAt;
  }

  private delayAfter({ retryAfter }: { retryAfter: number | null }): number {
    if (retryAfter === null) return backOff(this.failures, this.random);
    return delayAfterRetryAfter(retryAfter, this.random);
  }
}

/**
 * `Retry-After` (RFC 9110 10.2.3) in milliseconds; null when it is missing or unreadable.
 * @param now the time of the server's clock if it is known, because ours may differ
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const value = header.trim();
  if (/^\d+$/.test(value)) return Math.min(Number(value) * SECOND, LONGEST_RETRY_AFTER);
  const time = parseHttpDate(value);
  return time === null ? null : Math.min(Math.max(time - now, 0), LONGEST_RETRY_AFTER);
}

/** An HTTP date as epoch milliseconds; null for any other text. */
export function parseHttpDate(value: string): number | null {
  if (!HTTP_DATE.test(value)) return null;
  // The form of asctime names no time zone. It is UTC, like the others.
  const time = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  return Number.isNaN(time) ? null : time;
}
