/**
 * Values of a parameter document, in a form that keeps apart what JavaScript would mix up: integers of any size from
 * floats, `1.0` from `1`, and keys such as `__proto__` from what every object has.
 */

/** A number written with a fraction or an exponent, or one of `.inf`, `-.inf` and `.nan`. */
export class Float {
  readonly value: number;
  /** As it stands in the document, such as `1.0` or `2.50e3`. */
  readonly text: string;

  constructor(value: number, text: string) {
    this.value = value;
    this.text = text;
  }
}

/** In the order of first appearance; keys are plain data. */
export type Mapping = ReadonlyMap<string, Value>;

/** Integers are bigints, whatever their size. */
export type Value = null | boolean | string | bigint | Float | readonly Value[] | Mapping;

export function isMapping(value: Value | undefined): value is Mapping {
  return value instanceof Map;
}

/** A JSON Pointer's token (RFC 6901, 3). */
export function escapeToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

export function isNumber(value: Value | undefined): value is bigint | Float {
  return typeof value === 'bigint' || value instanceof Float;
}

/**
 * JavaScript compares a bigint with a number by their mathematical values, so `<` and `>` on the outcome are exact
 * where a conversion of either to the other's type would round.
 */
export function numberOf(value: bigint | Float): bigint | number {
  return value instanceof Float ? value.value : value;
}

/**
 * The same text for equal values and for no others. Equality is JSON Schema's (2020-12 core, 4.2.2): numbers by
 * their value, so that `1` is `1.0`, lists in their order, mappings whatever the order of their keys.
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
