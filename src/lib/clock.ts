/** Time in milliseconds since the epoch (UTC). A clock is passed in, so that tests can set the time. */

export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The last time that there is (ECMA-262, 21.4.1.1). */
const LAST = 8.64e15;

/**
 * Whole milliseconds of a time in a token, which may have a fraction and may be beyond all dates.
 * @param seconds a NumericDate (RFC 7519, 2)
 */
export function fromNumericDate(seconds: number): number {
  return Math.max(-LAST, Math.min(Math.ceil(seconds * SECOND), LAST));
}

/** Writes RFC 3339 in UTC with milliseconds, the only form that answers use. */
export function toTimestamp(time: number): string {
  return new Date(time).toISOString();
}

/** Does the same for a time that may be absent. */
export function toOptionalTimestamp(time: number | null): string | null {
  return time === null ? null : toTimestamp(time);
}
