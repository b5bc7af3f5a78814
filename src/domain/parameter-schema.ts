/** What a configuration says of its parameters, and the JSON Schema of their documents that follows from it. */

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
  /** Absent where the parameter is required. May be an expression such as `[concat('a', 'b')]`. */
  defaultValue?: Value;
  /** Never empty. */
  allowedValues?: readonly Value[];
  /** Characters of text, items of a list. */
  minLength?: number;
  maxLength?: number;
  minValue?: bigint | Float;
  maxValue?: bigint | Float;
  description?: string;
}

/** By the parameters' names, which are plain data. */
export type ParameterDefinitions = ReadonlyMap<string, ParameterDefinition>;

type JsonObject = Record<string, unknown>;

/** Those that have a length. */
export const SIZED_TYPES: readonly ParameterType[] = ['string', 'secureString', 'array'];

export function isSecure(type: ParameterType): boolean {
  return type === 'secureString' || type === 'secureObject';
}

export function isRequired(definition: ParameterDefinition): boolean {
  return definition.defaultValue === undefined;
}

/** JSON Schema's words for the bounds of a length. */
export function lengthKeywords(type: ParameterType): [least: string, most: string] {
  return type === 'array' ? ['minItems', 'maxItems'] : ['minLength', 'maxLength'];
}

/**
 * The JSON Schema (2020-12) of parameter documents. Members beside `parameters` are free, as DSC passes over
 * them; `parameters` itself must be there, as DSC takes no document without it. What a secure parameter has for
 * a default or allows is left out. JavaScript prints numbers as doubles: integers beyond 2^53 and floats of more
 * digits show rounded in here, while the server's own checks are exact.
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

/** JSON has no infinity: a bound of 400 digits would be printed as null. */
function boundOf(bound: bigint | Float): number {
  const number = Number(numberOf(bound));
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, number));
}

/** Without a prototype, `__proto__` is a key like any other. */
function jsonObject(): JsonObject {
  return Object.create(null);
}
