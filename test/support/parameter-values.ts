/** Makes values of parameter documents from JavaScript values, so that a test can write them in one line. */

import { readParameterDefinitions } from '../../src/domain/parameter-definitions.ts';
import type { ParameterDefinitions } from '../../src/domain/parameter-schema.ts';
import { Float, type Mapping, type Value } from '../../src/domain/value.ts';

/**
 * Whole numbers become integers, and other numbers become floats. A value such as `new Float(1, '1.0')` is used as it
 * is.
 */
export function fromJs(value: unknown): Value {
  if (typeof value === 'number')
    return Number.isInteger(value) ? BigInt(value) : new Float(value, String(value));
  if (Array.isArray(value)) return value.map(fromJs);
  if (value !== null && typeof value === 'object' && !(value instanceof Float) && !(value instanceof Map))
    return mappingOf(value);
  return value as Value;
}

export function mappingOf(value: object): Mapping {
  return new Map(Object.entries(value).map(([key, item]) => [key, fromJs(item)]));
}

/** The definitions in a configuration document with these parameters. */
export function definitionsOf(parameters: object): ParameterDefinitions {
  const definitions = readParameterDefinitions(new Map([['parameters', fromJs(parameters)]]));
  if (definitions === null) throw new Error('no parameters block');
  return definitions;
}
