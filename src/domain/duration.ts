/**
 * Durations. They are read as .NET's TimeSpan in its constant form (`[d.]hh:mm:ss[.fffffff]`, which DSC agents send) or as
 * ISO 8601 (`PT15M`), and are always written as the former.
 */

/** The longest TimeSpan. .NET counts time in ticks of 100 ns, and its TimeSpan ends at about 29,227 years. */
const MAX_TICKS = 2n ** 63n - 1n;
const SECOND = 10_000_000n;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;
const DAY = 24n * HOUR;
const TICKS_PER_MILLISECOND = 10_000;

const TIME_SPAN =
  /^(?:(?<days>\d{1,8})\.)?(?<hours>[01]\d|2[0-3]):(?<minutes>[0-5]\d):(?<seconds>[0-5]\d)(?:\.(?<fraction>\d{1,7}))?$/;

/** Years and months are left out, as they have no fixed length. Only seconds have a fraction, as in XML Schema. */
const ISO_8601 =
  /^P(?=[\dT])(?:(?<weeks>\d{1,15})W)?(?:(?<days>\d{1,15})D)?(?:T(?=\d)(?:(?<hours>\d{1,15})H)?(?:(?<minutes>\d{1,15})M)?(?:(?<seconds>\d{1,15})(?:[.,](?<fraction>\d{1,7}))?S)?)?$/;

const UNITS = { weeks: 7n * DAY, days: DAY, hours: HOUR, minutes: MINUTE, seconds: SECOND };

export interface Duration {
  /** The form is `[d.]hh:mm:ss[.fffffff]`; days and fraction are left out if they are zero. */
  text: string;
  /** The duration in milliseconds, with a fraction if the text is more precise. */
  milliseconds: number;
}

/** The duration, or null if the text is no duration, is not positive, or exceeds .NET's TimeSpan. */
export function parseDuration(text: string): Duration | null {
  const groups = (TIME_SPAN.exec(text) ?? ISO_8601.exec(text))?.groups;
  if (groups === undefined) return null;
  let ticks = BigInt((groups['fraction'] ?? '').padEnd(7, '0'));
  for (const [name, unit] of Object.entries(UNITS)) ticks += BigInt(groups[name] ?? 0) * unit;
  if (ticks <= 0n || ticks > MAX_TICKS) return null;
  return { text: formatTicks(ticks), milliseconds: Number(ticks) / TICKS_PER_MILLISECOND };
}

function formatTicks(ticks: bigint): string {
  const days = ticks / DAY;
  const clock = [(ticks % DAY) / HOUR, (ticks % HOUR) / MINUTE, (ticks % MINUTE) / SECOND];
  const time = clock.map((value) => String(value).padStart(2, '0')).join(':');
  const fraction = ticks % SECOND;
  const tail = fraction === 0n ? '' : `.${String(fraction).padStart(7, '0')}`;
  return `${days === 0n ? '' : `${days}.`}${time}${tail}`;
}

/** The text of a duration. @param milliseconds a positive number, whose fraction may count ticks of 100 ns */
export function formatDuration(milliseconds: number): string {
  return formatTicks(BigInt(Math.round(milliseconds * TICKS_PER_MILLISECOND)));
}
