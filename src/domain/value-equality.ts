/** When two values of parameter documents are the same: by what they say, exactly, however they are spelt. */

import { Float, isMapping, type Value } from './value.ts';

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
