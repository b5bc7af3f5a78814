/** Reads numbers from documents and writes them. */

import { Float } from './value.ts';

const DECIMAL = /^([-+]?)(\d*)\.?(\d*)(?:e([-+]?)(\d+))?$/i;

/**
 * The numbers of dsc, which reads YAML with serde_yaml 0.9 (de.rs, `visit_untagged_scalar`): a sign goes before the prefix,
 * leading zeros make a text, and so does a fraction that is not finite.
 */
const INTEGER = /^([-+]?)(0|[1-9]\d*|0x[\da-fA-F]+|0o[0-7]+|0b[01]+)$/;
/** A decimal number; one that is too large for a float matches too. */
export const FRACTION = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const LEADING_ZERO = /^[-+]?0\d+$/;
const INFINITE = /^[-+]?\.(?:inf|Inf|INF)$/;
const NOT_A_NUMBER = /^\.(?:nan|NaN|NAN)$/;

/** Whether dsc takes the text for an integer, of any size, or a float. */
export function isNumber(text: string): boolean {
  return INTEGER.test(text) || readFloat(text) !== null;
}

/** An integer as dsc reads it, of any size; null if the text is none. */
export function readInteger(text: string): bigint | null {
  const [match, sign, digits = ''] = INTEGER.exec(text) ?? [];
  if (match === undefined) return null;
  return sign === '-' ? -BigInt(digits) : BigInt(digits);
}

/** A float as dsc reads it; null if the text is none. An integer may be a float too, if a tag says so. */
export function readFloat(text: string): Float | null {
  if (INFINITE.test(text)) return new Float(text.startsWith('-') ? -Infinity : Infinity, text);
  if (NOT_A_NUMBER.test(text)) return new Float(Number.NaN, text);
  if (!FRACTION.test(text) || LEADING_ZERO.test(text)) return null;
  const value = Number(text);
  return Number.isFinite(value) ? new Float(value, text) : null;
}

/**
 * A float in the one form that JSON, YAML 1.2 and YAML 1.1 all read as a float of the same value: digits on both sides
 * of a point, and a sign in the exponent. The digits stay as written, so that no precision is lost. Null for floats that
 * JSON cannot write: infinite ones and `.nan`.
 */
export function spellFinite({ text }: Float): string | null {
  const [match, sign, whole, fraction, exponentSign, exponent] = DECIMAL.exec(text) ?? [];
  if (match === undefined) return null;
  const digits = `${whole?.replace(/^0+(?=\d)/, '') || '0'}.${fraction || '0'}`;
  return `${sign === '-' ? '-' : ''}${digits}${exponent ? `e${exponentSign || '+'}${exponent}` : ''}`;
}

/** A float in the spelling of YAML. A number of JSON that is too large for a float is infinite for all readers. */
export function spellFloat(float: Float): string {
  const finite = Number.isFinite(float.value) ? spellFinite(float) : null;
  if (finite !== null) return finite;
  if (Number.isNaN(float.value)) return '.nan';
  return float.value < 0 ? '-.inf' : '.inf';
}
