/** Checks parameter documents against definitions. ajv checks types and lengths; the rest is checked here, exactly. */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FieldError } from '../lib/errors.ts';
import { printJson } from './json-text.ts';
import {
  isRequired,
  JSON_TYPES,
  lengthKeywords,
  type ParameterDefinition,
  type ParameterDefinitions,
  type ParameterType,
  SIZED_TYPES,
} from './parameter-schema.ts';
import {
  escapeToken,
  Float,
  isMapping,
  isNumber,
  type Mapping,
  numberOf,
  Secret,
  type Value,
  valueKey,
} from './value.ts';

/** The greatest number of errors in an answer. More of them would help nobody. */
export const MAX_ERRORS = 100;

/** A fault of one value. The message never repeats the value, which may be secret. */
export type ValueFault = Omit<FieldError, 'path'>;

export interface CheckOptions {
  /** Whether the document is one scope's file. Nothing is required of it, because another scope may give the rest. */
  partial: boolean;
  /** The names of parameters that hold variables which are not replaced, so that their texts are not checked. */
  unreplaced?: ReadonlySet<string>;
}

/** What a value must be, by the type of its parameter in JSON Schema. */
const TYPE_RULES: Record<(typeof JSON_TYPES)[ParameterType], string> = {
  string: 'Must be a string',
  integer: 'Must be an integer, written without a fraction or an exponent',
  boolean: 'Must be true or false',
  object: 'Must be a mapping',
  array: 'Must be a list',
  number: 'Must be a finite number',
};

export function typeRule(type: ParameterType): string {
  return TYPE_RULES[JSON_TYPES[type]];
}

const LENGTH_FAULTS: Record<string, (limit: number) => ValueFault> = {
  minLength: (limit) => ({ code: 'min_length', message: `Must have at least ${count(limit, 'character')}` }),
  maxLength: (limit) => ({ code: 'max_length', message: `Must have at most ${count(limit, 'character')}` }),
  minItems: (limit) => ({ code: 'min_length', message: `Must have at least ${count(limit, 'item')}` }),
  maxItems: (limit) => ({ code: 'max_length', message: `Must have at most ${count(limit, 'item')}` }),
};

const UNKNOWN: ValueFault = {
  code: 'unknown_parameter',
  message: 'Not a parameter of the configuration',
};

/**
 * All faults of a parameter document, at most `MAX_ERRORS`, in the order of the document; missing parameters come last.
 * A configuration without definitions (null) accepts any document.
 */
export function checkParameters(
  definitions: ParameterDefinitions | null,
  content: Mapping,
  { partial, unreplaced }: CheckOptions,
): FieldError[] {
  if (definitions === null) return [];
  const errors: FieldError[] = [];
  const given = content.get('parameters');
  const found = isMapping(given)
    ? valueErrors(definitions, given, unreplaced)
    : [blockError(given === undefined ? 'required' : 'type')];
  addUpToLimit(errors, found);
  if (!partial) addUpToLimit(errors, missingErrors(definitions, isMapping(given) ? given : new Map()));
  return errors;
}

/** All faults of a value for a parameter of this definition. A secret that cannot be opened is not looked at. */
export function checkValue(definition: ParameterDefinition, given: Value): ValueFault[] {
  if (given instanceof Secret && !given.isOpen) return [];
  const value = given instanceof Secret ? given.reveal() : given;
  const { type, minLength, maxLength } = definition;
  const validate = validatorOf(type);
  if (validate({ value: placeholderOf(value), minLength, maxLength })) return exactFaults(definition, value);
  return (validate.errors ?? []).map(
    ({ keyword, params }) =>
      LENGTH_FAULTS[keyword]?.(params['limit']) ?? { code: 'type', message: typeRule(type) },
  );
}

function* valueErrors(
  definitions: ParameterDefinitions,
  given: Mapping,
  unreplaced?: ReadonlySet<string>,
): Generator<FieldError> {
  for (const [name, value] of given) {
    const definition = definitions.get(name);
    const check = unreplaced?.has(name) ? checkAroundTexts : checkValue;
    const faults = definition ? check(definition, value) : [UNKNOWN];
    for (const { message, code } of faults) yield { path: pathOf(name), message, code };
  }
}

/** What can be said of a value in which texts are still to change. */
function checkAroundTexts(
  { allowedValues: _, ...definition }: ParameterDefinition,
  value: Value,
): ValueFault[] {
  return typeof value === 'string' ? [] : checkValue(definition, value);
}

function* missingErrors(definitions: ParameterDefinitions, given: Mapping): Generator<FieldError> {
  for (const [name, definition] of definitions) {
    if (!isRequired(definition) || given.has(name)) continue;
    yield { path: pathOf(name), message: 'Required, as it has no default value', code: 'required' };
  }
}

function blockError(code: 'required' | 'type'): FieldError {
  return { path: '/parameters', message: 'Must be there, as a mapping of names to values', code };
}

/** It is made when it is first needed, because it takes some 10 ms. */
let ajv: Ajv2020 | undefined;
const validators = new Map<ParameterType, ValidateFunction>();

/**
 * One validator for all parameters of a type. It finds the bounds beside the value. Compiling a validator for each
 * parameter would block the server for seconds if a schema has thousands of them.
 */
function validatorOf(type: ParameterType): ValidateFunction {
  const known = validators.get(type);
  if (known) return known;
  const [least, most] = lengthKeywords(type);
  const isSized = SIZED_TYPES.includes(type);
  const value = {
    type: JSON_TYPES[type],
    ...(isSized && { [least]: { $data: '1/minLength' }, [most]: { $data: '1/maxLength' } }),
  };
  ajv ??= new Ajv2020({ allErrors: true, $data: true });
  const made = ajv.compile({ type: 'object', properties: { value } });
  validators.set(type, made);
  return made;
}

/**
 * A value for ajv in place of the real one, with the same type and length. ajv knows no bigint, and takes `1.0` for an
 * integer, which DSC does not. The content of mappings is left out, because definitions say nothing about it.
 */
function placeholderOf(value: Value): unknown {
  if (typeof value === 'bigint') return 1;
  if (value instanceof Float) return Number.isFinite(value.value) ? 0.5 : value.value;
  return isMapping(value) ? {} : value;
}

/** Checks a value of the right type. ajv would round numbers, and compare inherited members of objects. */
function exactFaults({ minValue, maxValue, allowedValues }: ParameterDefinition, value: Value): ValueFault[] {
  const faults: ValueFault[] = [];
  if (isNumber(value)) {
    const number = numberOf(value);
    if (minValue !== undefined && number < numberOf(minValue))
      faults.push({ code: 'minimum', message: `Must be at least ${printJson(minValue)}` });
    if (maxValue !== undefined && number > numberOf(maxValue))
      faults.push({ code: 'maximum', message: `Must be at most ${printJson(maxValue)}` });
  }
  if (allowedValues && !isAmong(allowedValues, value))
    faults.push({ code: 'not_allowed', message: 'Not one of the allowed values' });
  return faults;
}

function isAmong(list: readonly Value[], value: Value): boolean {
  const key = valueKey(value);
  return list.some((item) => valueKey(item) === key);
}

function addUpToLimit(errors: FieldError[], found: Iterable<FieldError>): void {
  for (const error of found) {
    if (errors.length >= MAX_ERRORS) return;
    errors.push(error);
  }
}

function pathOf(name: string): string {
  return `/parameters/${escapeToken(name)}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
