/**
 * Plain scalars of YAML that readers take for different things: `007`, `yes`, `12:30`. Whoever writes a parameter file has to
 * say which one is meant. What readers of YAML 1.1 alone take otherwise, such as `1e3`, `y` and dates, is not among them.
 */

import { MAX_NUMBER_LENGTH } from './document-text.ts';
import { FRACTION, readInteger } from './number-text.ts';

const BOOLEANS = new Map([
  ['yes', true],
  ['on', true],
  ['no', false],
  ['off', false],
]);
/** YAML 1.1 knows these words in three cases. */
const WORD = /^(?:yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)$/;
const LEADING_ZERO = /^([-+]?)0+(\d+)$/;
const OTHER_BASE = /^[-+]?0(?:b[01_]+|o[0-7]+)$|^[-+]0x[\da-fA-F]+$/;
const SEXAGESIMAL = /^([-+]?)([1-9][\d_]*(?::[0-5]?\d)+)(\.[\d_]*)?$/;
const UNDERSCORES = /^[-+]?\d[\d_]*_[\d_]*(?:\.[\d_]*)?$/;
/** Integers of 64 bits, with a sign or without. */
const [LEAST, MOST] = [-(2n ** 63n), 2n ** 64n - 1n];

/** How else a scalar may be meant, such as `7` for `007`. */
export interface Ambiguity {
  /** The value that other readers see, as dsc reads it too; null where there is none. */
  other: string | null;
}

/** Null for a plain scalar that all readers take for the same, or that YAML 1.1 alone takes otherwise. */
export function ambiguityOf(text: string): Ambiguity | null {
  if (WORD.test(text)) return { other: String(BOOLEANS.get(text.toLowerCase())) };
  if (!/^[-+.\d]/.test(text) || text.length > MAX_NUMBER_LENGTH) return null;
  const [isZeroed, sign = '', digits = ''] = LEADING_ZERO.exec(text) ?? [];
  if (isZeroed !== undefined) return { other: `${sign === '-' ? '-' : ''}${digits}` };
  const integer = readInteger(text.replaceAll('_', ''));
  if (OTHER_BASE.test(text)) return { other: integer === null ? null : String(integer) };
  if (UNDERSCORES.test(text)) return { other: text.replaceAll('_', '') };
  const time = SEXAGESIMAL.exec(text);
  if (time !== null) return { other: sexagesimal(time) };
  if (integer !== null) return integer < LEAST || integer > MOST ? { other: floatOf(text) } : null;
  return FRACTION.test(text) && !Number.isFinite(Number(text)) ? { other: null } : null;
}

/** YAML 1.1, int: `190:20:30` is a number to the base of 60. */
function sexagesimal([, sign = '', digits = '', fraction = '']: RegExpExecArray): string {
  const whole = digits
    .replaceAll('_', '')
    .split(':')
    .reduce((sum, part) => sum * 60n + BigInt(part), 0n);
  return `${sign === '-' ? '-' : ''}${whole}${fraction.replaceAll('_', '')}`;
}

/** The nearest float of an integer that does not fit into 64 bits. */
function floatOf(text: string): string | null {
  const value = Number(text);
  if (!Number.isFinite(value)) return null;
  const [digits = '', exponent] = value.toExponential().split('e');
  return `${digits.includes('.') ? digits : `${digits}.0`}e${exponent}`;
}
