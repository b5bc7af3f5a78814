/** When the agent calls: spread out, so that a fleet that was started together does not stay together. */

import { DAY, MINUTE, SECOND } from '../lib/clock.ts';

/** A number from 0 up to, but not including, 1. */
export type Random = () => number;

/** Share of the interval by which a poll comes earlier or later. */
const JITTER = 0.1;
const SHORTEST_INTERVAL = 1 * SECOND;
const FIRST_BACK_OFF = 5 * SECOND;
const LONGEST_BACK_OFF = 15 * MINUTE;
/** Nobody means a longer one; it would be a mistake that takes a node out of service. */
const LONGEST_RETRY_AFTER = DAY;

/** The three forms of RFC 9110 5.6.7 end in a time; the obsolete ones are read too, as it asks. */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4}|[A-Z][a-z]+, \d\d-[A-Z][a-z]{2}-\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d) \d\d:\d\d:\d\d(?: GMT| \d{4})$/;

/** Milliseconds until the first poll after a start: within a tenth of the interval. */
export function firstDelay(interval: number, random: Random): number {
  return random() * JITTER * interval;
}

/** Milliseconds until the next poll after a good one: the interval, a tenth more or less. */
export function nextDelay(interval: number, random: Random): number {
  return Math.max(interval, SHORTEST_INTERVAL) * (1 - JITTER + 2 * JITTER * random());
}

/** Milliseconds until the next try after so many failures in a row: doubling, capped, the upper half at random. */
export function backOff(failures: number, random: Random): number {
  // The exponent is bounded, because 2 to the power of some thousand is Infinity.
  const ceiling = Math.min(FIRST_BACK_OFF * 2 ** Math.min(failures - 1, 20), LONGEST_BACK_OFF);
  return ceiling * (0.5 + 0.5 * random());
}

/** Milliseconds to wait where the server has named a time: never less, at most a tenth more. */
export function obeyed(retryAfter: number, random: Random): number {
  return Math.max(retryAfter, SHORTEST_INTERVAL) * (1 + JITTER * random());
}

/**
 * `Retry-After` (RFC 9110 10.2.3) in milliseconds; null where it is absent or unreadable.
 * @param now the server's own clock where it has told it, so that one that differs from ours does no harm
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
  // The form of asctime names no zone; it is UTC like the others.
  const time = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  return Number.isNaN(time) ? null : time;
}
