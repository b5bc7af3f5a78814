/** Reads what options are given: whole numbers, times, and what may not be left out. */

import { DAY, HOUR, MINUTE, SECOND } from '../lib/clock.ts';
import { UsageError } from './errors.ts';

const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY };

/** @throws UsageError where the option was not said */
export function required(value: string | undefined, option: string, example: string): string {
  if (value === undefined || value === '') throw new UsageError(`Say ${option}, such as ${example}.`);
  return value;
}

/** @returns undefined where the option was not said @throws UsageError */
export function readWhole(value: string | undefined, option: string): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,15}$/.test(value)) throw new UsageError(`${option} takes a whole number, such as 10.`);
  return Number(value);
}

/** Reads how long something is, such as `90s`, `10m`, `7d`. @returns milliseconds; null where it is not so written */
export function readSpan(text: string): number | null {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * (UNITS[unit] ?? 0);
}

/**
 * Reads a point in time: a date, a time, or how far it is from now, such as `7d`.
 * @param direction 1 where a distance is meant ahead of now, -1 where it lies behind
 * @returns as the API takes it @throws UsageError
 */
export function readTime(text: string, option: string, direction: 1 | -1): string {
  const span = readSpan(text);
  const time =
    span !== null
      ? Date.now() + direction * span
      : /^\d{4}-\d{2}-\d{2}/.test(text)
        ? Date.parse(text)
        : Number.NaN;
  if (Number.isNaN(time))
    throw new UsageError(`${option} takes a time such as 2026-12-31, 2026-12-31T18:00:00Z, 12h or 7d.`);
  return new Date(time).toISOString();
}

/** `12 nodes`, or `1 node`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The first names of many, such as `a, b, c and 9 more`. */
export function someOf(names: readonly string[], most = 5): string {
  const rest = names.length - most;
  return rest > 0 ? `${names.slice(0, most).join(', ')} and ${rest} more` : names.join(', ');
}

/** What JSON has besides texts is read as such. */
export function toValue(text: string): unknown {
  if (!/^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?)$/.test(text)) return text;
  const value: unknown = JSON.parse(text);
  // A number whose digits would be lost stays a text.
  return typeof value === 'number' && String(value) !== text ? text : value;
}
