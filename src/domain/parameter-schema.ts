/** A configuration's definitions of its parameters, and the JSON Schema of parameter documents made of them. */

import type { MergeStrategy } from './merge-strategies.ts';
import { toPlain } from './parameter-document.ts';
import type { Float, Value } from './value.ts';
import { numberOf } from './value.ts';

/**
 * The types of parameters in the spelling of our answers, with their types in JSON Schema. DSC's own spellings
 * `securestring` and `secureobject` are read as well.
 */
export const JSON_TYPES = {
  string: 'string',
  secureString: 'string',
  int: 'integer',
  bool: 'boolean',
  object: 'object',
  secureObject: 'object',
  array: 'array',
  float: 'number',
} as const;

export type ParameterType = keyof typeof JSON_TYPES;

export const PARAMETER_TYPES = Object.keys(JSON_TYPES) as ParameterType[];

export interface ParameterDefinition {
  type: ParameterType;
  /** Absent if the parameter is required. It may be an expression such as `[concat('a', 'b')]`. */
  defaultValue?: Value;
  /** The list is never empty. */
  allowedValues?: readonly Value[];
  /** Lengths count characters of a text or items of a list. */
  minLength?: number;
  maxLength?: number;
  minValue?: bigint | Float;
  maxValue?: bigint | Float;
  description?: string;
  /** Absent if it is that of the type. */
  merge?: MergeStrategy;
}

/** Definitions by the parameters' names, which may be any text, also `__proto__`. */
export type ParameterDefinitions = ReadonlyMap<string, ParameterDefinition>;

type JsonObject = Record<string, unknown>;

/** The types that have a length. */
export const SIZED_TYPES: readonly ParameterType[] = ['string', 'secureString', 'array'];

export function isSecure(type: ParameterType): boolean {
  return type === 'secureString' || type === 'secureObject';
}

export function isRequired(definition: ParameterDefinition): boolean {
  return definition.defaultValue === undefined;
}

/** The keywords of JSON Schema for the bounds of a length. */
export function lengthKeywords(type: ParameterType): [least: string, most: string] {
  return type === 'array' ? ['minItems', 'maxItems'] : ['minLength', 'maxLength'];
}

/**
 * The JSON Schema (2020-12) of parameter documents. Members beside `parameters` are free, because DSC ignores them.
 * `parameters` itself is required, because DSC accepts no document without it. Default and allowed values of secure
 * parameters are left out. JavaScript prints numbers as doubles, so integers beyond 2^53 and floats with more digits are
 * rounded here, while the server's own checks are exact.
 */
export function toJsonSchema(definitions: ParameterDefinitions): JsonObject {
  const properties = jsonObject();
  for (const [name, definition] of definitions) properties[name] = describeParameter(definition);
  const required = [...definitions].filter(([, definition]) => isRequired(definition)).map(([name]) => name);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { parameters: { type: 'object', properties, required, additionalProperties: false } },
    required: ['parameters'],
  };
}

function describeParameter(definition: ParameterDefinition): JsonObject {
  const { type, description, minLength, maxLength, minValue, maxValue } = definition;
  const [least, most] = lengthKeywords(type);
  return {
    type: JSON_TYPES[type],
    ...(minLength !== undefined && { [least]: minLength }),
    ...(maxLength !== undefined && { [most]: maxLength }),
    ...(minValue !== undefined && { minimum: boundOf(minValue) }),
    ...(maxValue !== undefined && { maximum: boundOf(maxValue) }),
    ...(isSecure(type) ? { writeOnly: true } : describeValues(definition)),
    ...(description !== undefined && { description }),
  };
}

function describeValues({ allowedValues, defaultValue }: ParameterDefinition): JsonObject {
  return {
    ...(allowedValues !== undefined && { enum: allowedValues.map(toPlain) }),
    ...(defaultValue !== undefined && { default: toPlain(defaultValue) }),
  };
}

/** JSON has no infinity, so a bound of 400 digits would be printed as null. */
function boundOf(bound: bigint | Float): number {
  const number = Number(numberOf(bound));
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, number));
}

/** The object has no prototype, so `__proto__` is a key like any other. */
function jsonObject(): JsonObject {
  return Object.create(null);
}
