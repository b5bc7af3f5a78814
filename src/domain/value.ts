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
