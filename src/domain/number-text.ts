/** Reads numbers from documents and writes them. */

import { Float } from './value.ts';

const DECIMAL = /^([-+]?)(\d*)\.?(\d*)(?:e([-+]?)(\d+))?$/i;

/** The patterns of YAML's core schema (YAML 1.2.2, 10.3.2). */
const INTEGER = /^(?:[-+]?\d+|0o[0-7]+|0x[\da-fA-F]+)$/;
const FRACTION = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const INFINITE = /^[-+]?\.(?:inf|Inf|INF)$/;
const NOT_A_NUMBER = /^\.(?:nan|NaN|NAN)$/;

/** Whether YAML's core schema takes the text for an integer or a float. */
export function isNumber(text: string): boolean {
  return INTEGER.test(text) || FRACTION.test(text) || INFINITE.test(text) || NOT_A_NUMBER.test(text);
}

/** An integer in YAML's core schema; null if the text is none. */
export function readInteger(text: string): bigint | null {
  return INTEGER.test(text) ? BigInt(text) : null;
}

/** A float in YAML's core schema; null if the text is none. An integer may be a float too, if a tag says so. */
export function readFloat(text: string): Float | null {
  if (FRACTION.test(text)) return new Float(Number(text), text);
  if (INFINITE.test(text)) return new Float(text.startsWith('-') ? -Infinity : Infinity, text);
  if (NOT_A_NUMBER.test(text)) return new Float(Number.NaN, text);
  return null;
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

/** A float in the spelling of YAML. */
export function spellFloat(float: Float): string {
  const finite = spellFinite(float);
  if (finite !== null) return finite;
  if (Number.isNaN(float.value)) return '.nan';
  return float.value < 0 ? '-.inf' : '.inf';
}
