/**
 * Texts that OpenDSC writes into YAML without quotes. It reads all scalars as text and writes them plain, so a text that looks
 * like a number is one for whoever reads the result (YAML 1.2, 10.3.2).
 */

import { Float, isMapping, type Mapping, type Value } from '../../../domain/value.ts';

const NULL = /^(?:null|Null|NULL|~)$/;
const BOOLEAN = /^(?:true|True|TRUE|false|False|FALSE)$/;
const DECIMAL = /^[-+]?[0-9]+$/;
const OCTAL = /^0o[0-7]+$/;
const HEXADECIMAL = /^0x[0-9a-fA-F]+$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const INFINITE = /^([-+]?)\.(?:inf|Inf|INF)$/;
const NOT_A_NUMBER = /^\.(?:nan|NaN|NAN)$/;

/** The value that a reader of YAML takes the text for. An empty text keeps its quotes. */
export function readPlain(text: string): Value {
  if (NULL.test(text)) return null;
  if (BOOLEAN.test(text)) return text.toLowerCase() === 'true';
  if (DECIMAL.test(text)) return BigInt(text.replace(/^\+/, ''));
  if (OCTAL.test(text) || HEXADECIMAL.test(text)) return BigInt(text);
  if (FLOAT.test(text)) return new Float(Number(text), text);
  const infinite = INFINITE.exec(text);
  if (infinite)
    return new Float(infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY, text);
  return NOT_A_NUMBER.test(text) ? new Float(Number.NaN, text) : text;
}

/** The document as it is after it was written so, at every depth. */
export function withoutQuotes(document: Mapping): Mapping {
  return new Map([...document].map(([key, value]) => [key, unquoted(value)]));
}

/** The same of any value. */
export function unquoted(value: Value): Value {
  if (typeof value === 'string') return readPlain(value);
  if (isMapping(value)) return withoutQuotes(value);
  return Array.isArray(value) ? value.map(unquoted) : value;
}
