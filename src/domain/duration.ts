/**
 * Durations: read as .NET's TimeSpan in its constant form (`[d.]hh:mm:ss[.fffffff]`, what DSC agents send) or as
 * ISO 8601 (`PT15M`), always written as the former.
 */

/** .NET counts time in ticks of 100 ns, and its TimeSpan ends at 2^63 - 1 of them (about 29,227 years). */
const MAX_TICKS = 2n ** 63n - 1n;
const SECOND = 10_000_000n;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;
const DAY = 24n * HOUR;
const WEEK = 7n * DAY;
const TICKS_PER_MILLISECOND = 10_000;

const TIME_SPAN = /^(?:(\d{1,8})\.)?([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,7}))?$/;

/** Years and months have no fixed length and are left out; a fraction only in seconds, as XML Schema has it. */
const ISO_8601 =
  /^P(?=[\dT])(?:(\d{1,15})W)?(?:(\d{1,15})D)?(?:T(?=\d)(?:(\d{1,15})H)?(?:(\d{1,15})M)?(?:(\d{1,15})(?:[.,](\d{1,7}))?S)?)?$/;

export interface Duration {
  /** `[d.]hh:mm:ss[.fffffff]`, days and fraction only where they are not zero. */
  text: string;
  /** The same in milliseconds, with a fraction where the text is finer than that. */
  milliseconds: number;
}

/** The duration, or null for text that is none, is not positive, or exceeds .NET's TimeSpan. */
export function parseDuration(text: string): Duration | null {
  const ticks = timeSpanTicks(text) ?? isoTicks(text);
  if (ticks === null || ticks <= 0n || ticks > MAX_TICKS) return null;
  return { text: formatTicks(ticks), milliseconds: Number(ticks) / TICKS_PER_MILLISECOND };
}

function timeSpanTicks(text: string): bigint | null {
  const match = TIME_SPAN.exec(text);
  if (match === null) return null;
  const [, days, hours, minutes, seconds, fraction] = match;
  return (
    times(days, DAY) + times(hours, HOUR) + times(minutes, MINUTE) + times(seconds, SECOND) + part(fraction)
  );
}

function isoTicks(text: string): bigint | null {
  const match = ISO_8601.exec(text);
  if (match === null) return null;
  const [, weeks, days, hours, minutes, seconds, fraction] = match;
  const date = times(weeks, WEEK) + times(days, DAY);
  return date + times(hours, HOUR) + times(minutes, MINUTE) + times(seconds, SECOND) + part(fraction);
}

function times(digits: string | undefined, unit: bigint): bigint {
  return BigInt(digits ?? 0) * unit;
}

/** Digits behind the decimal point of seconds as ticks. */
function part(fraction: string | undefined): bigint {
  return BigInt((fraction ?? '').padEnd(7, '0'));
}

function formatTicks(ticks: bigint): string {
  const days = ticks / DAY;
  const clock = [(ticks % DAY) / HOUR, (ticks % HOUR) / MINUTE, (ticks % MINUTE) / SECOND];
  const time = clock.map((value) => String(value).padStart(2, '0')).join(':');
  const fraction = ticks % SECOND;
  const tail = fraction === 0n ? '' : `.${String(fraction).padStart(7, '0')}`;
  return `${days === 0n ? '' : `${days}.`}${time}${tail}`;
}
