/**
 * The values of a parameter document, in a form that keeps apart what JavaScript would mix up: integers of any size and
 * floats, `1.0` and `1`, keys such as `__proto__` and inherited members. Values are compared exactly.
 */

import { inspect } from 'node:util';
import type { HawserError } from '../lib/errors.ts';
import { REDACTED, Unprintable } from '../lib/plaintext.ts';

export { REDACTED };

/** A number that is written with a fraction or an exponent, or one of `.inf`, `-.inf` and `.nan`. */
export class Float {
  readonly value: number;
  /** The text in the document, such as `1.0` or `2.50e3`. */
  readonly text: string;

  constructor(value: number, text: string) {
    this.value = value;
    this.text = text;
  }
}

/** Keys are in the order of their first appearance. */
export type Mapping = ReadonlyMap<string, Value>;

/** Integers are bigints, whatever their size. What is stored encrypted is a `Secret`. */
export type Value = null | boolean | string | bigint | Float | Secret | readonly Value[] | Mapping;

export function isMapping(value: Value | undefined): value is Mapping {
  return value instanceof Map;
}

/** One leaf that is stored as `ENC[...]`. */
export class Secret extends Unprintable {
  /** The text that is stored. */
  readonly text: string;
  readonly #content: { value: Value } | { fault: HawserError };

  constructor(text: string, content: { value: Value } | { fault: HawserError }) {
    super();
    this.text = text;
    this.#content = content;
  }

  /** Whether the text could be opened at its place. */
  get isOpen(): boolean {
    return 'value' in this.#content;
  }

  /** @throws HawserError why it cannot be opened: `secret_key_missing` or `secret_unreadable` */
  reveal(): Value {
    if ('fault' in this.#content) throw this.#content.fault;
    return this.#content.value;
  }
}

/** A secret that is an empty mapping. It merges as any other empty mapping does. */
export class SecretMapping extends Map<string, Value> {
  /** The text that is stored. */
  readonly text: string;

  constructor(text: string) {
    super();
    this.text = text;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}

/** Whether the value itself is stored encrypted. */
export function isSealed(value: Value | undefined): value is Secret | SecretMapping {
  return value instanceof Secret || value instanceof SecretMapping;
}

/** Whether something in the value is stored encrypted. */
export function holdsSecrets(value: Value | undefined): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (isSealed(value)) return true;
  if (Array.isArray(value)) return value.some(holdsSecrets);
  if (!(value instanceof Map)) return false;
  for (const item of value.values()) if (holdsSecrets(item)) return true;
  return false;
}

/**
 * The value with all secrets in the clear, for whoever may have them. It stays in memory.
 * @throws HawserError as `Secret.reveal`
 */
export function inTheClear(value: Value): Value {
  if (value instanceof Secret) return inTheClear(value.reveal());
  if (!holdsSecrets(value)) return value;
  if (isMapping(value)) return new Map(Array.from(value, ([key, item]) => [key, inTheClear(item)]));
  return (value as readonly Value[]).map(inTheClear);
}

/** Writes a token of a JSON Pointer (RFC 6901, 3). */
export function escapeToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

export function isNumber(value: Value | undefined): value is bigint | Float {
  return typeof value === 'bigint' || value instanceof Float;
}

/**
 * JavaScript compares a bigint with a number by their mathematical values, so `<` and `>` are exact for these results. A
 * conversion of one to the other's type would round.
 */
export function numberOf(value: bigint | Float): bigint | number {
  return value instanceof Float ? value.value : value;
}

/**
 * A text that is the same for equal values only, whether they are secrets or not; it is for memory alone. Equality is that
 * of JSON Schema (2020-12 core, 4.2.2): numbers are compared by value, so that `1` equals `1.0`, lists in their order, mappings without regard to the order of keys.
 */
export function valueKey(value: Value): string {
  if (value instanceof Secret) return valueKey(value.reveal());
  if (isNumber(value)) return numberKey(numberOf(value));
  if (isMapping(value)) {
    const members = [...value].map(([key, item]) => `${JSON.stringify(key)}:${valueKey(item)}`);
    return `{${members.sort().join()}}`;
  }
  return Array.isArray(value) ? `[${value.map(valueKey).join()}]` : JSON.stringify(value);
}

function numberKey(number: bigint | number): string {
  return String(Number.isInteger(number) ? BigInt(number) : number);
}
