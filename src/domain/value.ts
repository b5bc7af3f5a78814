/**
 * The values of a parameter document, in a form that keeps apart what JavaScript would mix up: integers of any size and
 * floats, `1.0` and `1`, keys such as `__proto__` and inherited members. Values are compared exactly.
 */

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

/** Integers are bigints, whatever their size. */
export type Value = null | boolean | string | bigint | Float | readonly Value[] | Mapping;

export function isMapping(value: Value | undefined): value is Mapping {
  return value instanceof Map;
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
 * A text that is the same for equal values only. Equality is that of JSON Schema (2020-12 core, 4.2.2): numbers are
 * compared by value, so that `1` equals `1.0`, lists in their order, mappings without regard to the order of keys.
 */
export function valueKey(value: Value): string {
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
