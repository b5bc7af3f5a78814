/** What the values of the database mean. SQLite and PostgreSQL write the same value in different forms. */

import type { ForeignValue } from '../../../db/foreign-tables.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../../lib/clock.ts';

/** Reads one column. */
export interface Column<T> {
  /** The name, where it is not that of the member in PascalCase. */
  readonly name?: string;
  /** What holds in a release that has no such column. Without this member the column is required. */
  readonly absent?: { readonly value: T };
  /** Whether the value must never be shown. */
  readonly isSecret?: boolean;
  /** @returns undefined where the form is not known */
  read(value: ForeignValue): T | undefined;
}

/** .NET counts time in ticks of 100 ns. */
const TICKS_PER_MILLISECOND = 10_000n;
/** The last moment of .NET, which PostgreSQL's driver writes as `infinity`. */
const END_OF_TIME = Date.parse('9999-12-31T23:59:59.999Z');

export const text: Column<string> = {
  read: (value) => (typeof value === 'string' ? value : undefined),
};

export const guid: Column<string> = {
  read: (value) =>
    typeof value === 'string' && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)
      ? value.toLowerCase()
      : undefined,
};

export const lowerCase: Column<string> = { read: (value) => text.read(value)?.toLowerCase() };
export const upperCase: Column<string> = { read: (value) => text.read(value)?.toUpperCase() };

export const bool: Column<boolean> = {
  read(value) {
    if (value === 1 || value === 'true') return true;
    return value === 0 || value === 'false' ? false : undefined;
  },
};

export const integer: Column<number> = {
  read(value) {
    const number = readNumber(value);
    return Number.isSafeInteger(number) ? number : undefined;
  },
};

export const real: Column<number> = { read: readNumber };

function readNumber(value: ForeignValue): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value)
    ? Number(value)
    : undefined;
}

/** One of some names, which stands there as its number or as text. The first has number 0. */
export function enumeration<const N extends string>(...names: readonly N[]): Column<N> {
  return {
    read(value) {
      const number = readNumber(value);
      if (number !== undefined) return names[number];
      const name = text.read(value)?.toLowerCase();
      return names.find((each) => each.toLowerCase() === name);
    },
  };
}

/** Epoch milliseconds; null stands for "never". */
export const time: Column<number | null> = {
  read(value) {
    const ticks = readTicks(value);
    return typeof ticks === 'bigint' ? Number(ticks / TICKS_PER_MILLISECOND) : ticks;
  },
};

const TIME =
  /^(?<day>\d{4}-\d\d-\d\d)[ T](?<clock>\d\d:\d\d:\d\d)(?:\.(?<fraction>\d{1,7}))?(?<offset>Z|[+-]\d\d(?::?\d\d)?)?$/;

/**
 * A time in units of 100 ns since 1970, which tells apart what was made within one millisecond. Without an offset it is UTC.
 * @returns null for "never", undefined where the form is not known
 */
export function readTicks(value: ForeignValue): bigint | null | undefined {
  if (value === null || value === '-infinity') return null;
  if (value === 'infinity') return BigInt(END_OF_TIME) * TICKS_PER_MILLISECOND;
  const groups = TIME.exec(typeof value === 'string' ? value : '')?.groups;
  if (groups === undefined) return undefined;
  const { day = '', clock = '', fraction = '', offset = 'Z' } = groups;
  if (day === '0001-01-01') return null;
  const seconds = Date.parse(`${day}T${clock}Z`);
  // A day that the month does not have would be taken for one of the next month.
  if (Number.isNaN(seconds) || !new Date(seconds).toISOString().startsWith(`${day}T${clock}`))
    return undefined;
  const utc = BigInt(seconds - readOffset(offset));
  return utc * TICKS_PER_MILLISECOND + BigInt(fraction.padEnd(7, '0'));
}

/** Milliseconds. */
function readOffset(offset: string): number {
  if (offset === 'Z') return 0;
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(3).replace(':', '') || 0);
  return (offset.startsWith('-') ? -minutes : minutes) * MINUTE;
}

/** .NET's TimeSpan, as it stands in SQLite. */
const TIME_SPAN =
  /^(?<sign>-?)(?:(?<days>\d{1,8})\.)?(?<hours>\d\d):(?<minutes>\d\d):(?<seconds>\d\d)(?:\.(?<fraction>\d{1,7}))?$/;
/** An interval of PostgreSQL. Months and years are left out, as they have no fixed length. */
const INTERVAL =
  /^(?=.)(?:(?<days>-?\d+) days?(?: |$))?(?:(?<sign>[+-]?)(?<hours>\d+):(?<minutes>\d\d):(?<seconds>\d\d)(?:\.(?<fraction>\d{1,6}))?)?$/;

/** Milliseconds. */
export const duration: Column<number> = {
  read(value) {
    const words = text.read(value) ?? '';
    const span = TIME_SPAN.exec(words)?.groups;
    if (span !== undefined) return signed(span['sign'], daysOf(span) + clockOf(span));
    const interval = INTERVAL.exec(words)?.groups;
    if (interval !== undefined) return daysOf(interval) + signed(interval['sign'], clockOf(interval));
    return undefined;
  },
};

type Groups = Record<string, string | undefined>;

const daysOf = ({ days }: Groups) => Number(days ?? 0) * DAY;

function clockOf({ hours, minutes, seconds, fraction }: Groups): number {
  const milliseconds = Number((fraction ?? '').padEnd(3, '0').slice(0, 3));
  return (
    Number(hours ?? 0) * HOUR + Number(minutes ?? 0) * MINUTE + Number(seconds ?? 0) * SECOND + milliseconds
  );
}

const signed = (sign: string | undefined, milliseconds: number) =>
  sign === '-' ? -milliseconds : milliseconds;

/** A JSON list of texts, in text. An empty text is an empty list. */
export const textList: Column<readonly string[]> = {
  read(value) {
    if (value === '') return [];
    try {
      const list: unknown = JSON.parse(text.read(value) ?? '');
      return Array.isArray(list) && list.every((each) => typeof each === 'string') ? list : undefined;
    } catch {
      return undefined;
    }
  },
};

export function nullable<T>(column: Column<T>): Column<T | null> {
  return { read: (value) => (value === null ? null : column.read(value)) };
}

/** A text for which an empty or blank one stands as well as null. */
export const filled: Column<string | null> = {
  read: (value) => (value === null || String(value).trim() === '' ? null : text.read(value)),
};

/** A column that not every release has. */
export function optional<T>(column: Column<T>, value: T): Column<T> {
  return { ...column, absent: { value } };
}

export function secret<T>(column: Column<T>): Column<T> {
  return { ...column, isSecret: true };
}

/** A column whose name is another than that of the member. */
export function named<T>(name: string, column: Column<T>): Column<T> {
  return { ...column, name };
}
