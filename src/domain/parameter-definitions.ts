/** Reads the `parameters` block of a DSC v3 configuration document into definitions, and finds its faults. */

import { type FieldError, invalid } from '../lib/errors.ts';
import { pathOfMergeFault, readStrategy } from './merge-strategies.ts';
import { checkValue, MAX_ERRORS, typeRule, type ValueFault } from './parameter-checks.ts';
import {
  PARAMETER_TYPES,
  type ParameterDefinition,
  type ParameterDefinitions,
  type ParameterType,
  SIZED_TYPES,
} from './parameter-schema.ts';
import { escapeToken, Float, isMapping, isNumber, type Mapping, numberOf, type Value } from './value.ts';

/** The types by their names in lower case. */
const TYPE_BY_FOLDED_NAME = new Map(PARAMETER_TYPES.map((type) => [type.toLowerCase(), type]));

const RANGED_TYPES: readonly ParameterType[] = ['int', 'float'];

/** Records a fault of a member of the definition. */
type Report = (member: string, fault: ValueFault) => void;

/**
 * The definitions of a configuration document; null if it has no `parameters` block. A member that is null counts as
 * absent, as it does for DSC. Unknown members, such as `metadata`, are ignored.
 *
 * @throws HawserError `validation_failed` with a path for each fault (`/parameters/port/minValue`)
 */
export function readParameterDefinitions(document: Mapping): ParameterDefinitions | null {
  const block = document.get('parameters') ?? null;
  if (block === null) return null;
  if (!isMapping(block)) throw refused([{ path: '/parameters', message: 'Must be a mapping', code: 'type' }]);
  const definitions = new Map<string, ParameterDefinition>();
  const errors: FieldError[] = [];
  for (const [name, source] of block) {
    const path = `/parameters/${escapeToken(name)}`;
    const definition = readDefinition(source, (member, fault) => {
      errors.push({ path: path + member, ...fault });
    });
    if (definition) definitions.set(name, definition);
  }
  if (errors.length > 0) throw refused(errors.slice(0, MAX_ERRORS));
  return definitions;
}

/** Null if there is no type. Other faulty members are reported and left out. */
function readDefinition(source: Value, report: Report): ParameterDefinition | null {
  if (!isMapping(source)) {
    report('', { code: 'type', message: 'Must be a mapping with a type' });
    return null;
  }
  const type = readType(source, report);
  if (type === null) return null;
  const definition: ParameterDefinition = { type };
  readDescription(source, definition, report);
  readLengths(source, definition, report);
  readRange(source, definition, report);
  readAllowedValues(source, definition, report);
  readDefaultValue(source, definition, report);
  const { strategy } = readStrategy(source, type);
  if (strategy !== null) definition.merge = strategy;
  return definition;
}

/** The type as any spelling of dsc names it; null for another one. */
export function typeNamed(name: Value | undefined): ParameterType | null {
  return (typeof name === 'string' ? TYPE_BY_FOLDED_NAME.get(name.toLowerCase()) : undefined) ?? null;
}

/** What `metadata.hawser` of the definitions says that nobody can mean, as `bad_merge`. Otherwise it counts as absent. */
export function mergeFaults(document: Mapping): FieldError[] {
  const block = document.get('parameters');
  if (!isMapping(block)) return [];
  return [...block].flatMap(([name, source]) => {
    if (!isMapping(source)) return [];
    const { faults } = readStrategy(source, typeNamed(source.get('type')));
    const path = `/parameters/${escapeToken(name)}`;
    return faults.map((fault) => ({
      path: pathOfMergeFault(path, fault),
      message: fault.message,
      code: 'bad_merge',
    }));
  });
}

function readType(source: Mapping, report: Report): ParameterType | null {
  const name = source.get('type') ?? null;
  const type = typeNamed(name);
  if (type) return type;
  const code = name === null ? 'required' : 'unknown_type';
  report('/type', { code, message: `Must be one of ${PARAMETER_TYPES.join(', ')}` });
  return null;
}

function readDescription(source: Mapping, definition: ParameterDefinition, report: Report): void {
  const description = source.get('description') ?? null;
  if (description === null) return;
  if (typeof description === 'string') definition.description = description;
  else report('/description', { code: 'type', message: 'Must be a string' });
}

function readLengths(source: Mapping, definition: ParameterDefinition, report: Report): void {
  for (const member of ['minLength', 'maxLength'] as const) {
    const limit = source.get(member) ?? null;
    if (limit === null) continue;
    if (!SIZED_TYPES.includes(definition.type)) report(`/${member}`, notApplicable(definition.type));
    else if (typeof limit === 'bigint' && limit >= 0n && limit <= Number.MAX_SAFE_INTEGER)
      definition[member] = Number(limit);
    else report(`/${member}`, { code: 'type', message: 'Must be an integer from 0 to 9007199254740991' });
  }
  const { minLength, maxLength } = definition;
  if (minLength !== undefined && maxLength !== undefined && minLength > maxLength)
    report('/minLength', { code: 'empty_range', message: 'Must not be above maxLength' });
}

function readRange(source: Mapping, definition: ParameterDefinition, report: Report): void {
  const { type } = definition;
  for (const member of ['minValue', 'maxValue'] as const) {
    const bound = source.get(member) ?? null;
    if (bound === null) continue;
    if (!RANGED_TYPES.includes(type)) report(`/${member}`, notApplicable(type));
    else if (isBound(bound, type)) definition[member] = bound;
    else report(`/${member}`, { code: 'type', message: typeRule(type) });
  }
  const { minValue, maxValue } = definition;
  if (minValue !== undefined && maxValue !== undefined && numberOf(minValue) > numberOf(maxValue))
    report('/minValue', { code: 'empty_range', message: 'Must not be above maxValue' });
}

/** DSC requires the bounds of integers to be integers. */
function isBound(bound: Value, type: ParameterType): bound is bigint | Float {
  if (!(bound instanceof Float)) return isNumber(bound);
  return type === 'float' && Number.isFinite(bound.value);
}

function readAllowedValues(source: Mapping, definition: ParameterDefinition, report: Report): void {
  const allowed = source.get('allowedValues') ?? null;
  if (allowed === null) return;
  if (!isFilledList(allowed)) {
    report('/allowedValues', { code: 'type', message: 'Must be a list with at least one value' });
    return;
  }
  definition.allowedValues = allowed;
  const { type } = definition;
  allowed.forEach((value, at) => {
    for (const fault of checkValue({ type }, value)) report(`/allowedValues/${at}`, fault);
  });
}

/** A text that begins with a bracket is an expression, or escapes one. Only DSC knows its value, so it is not checked. */
function readDefaultValue(source: Mapping, definition: ParameterDefinition, report: Report): void {
  const value = source.get('defaultValue') ?? null;
  if (value === null) return;
  definition.defaultValue = value;
  if (typeof value === 'string' && value.startsWith('[')) return;
  for (const fault of checkValue(definition, value)) report('/defaultValue', fault);
}

function isFilledList(value: Value): value is readonly Value[] {
  return Array.isArray(value) && value.length > 0;
}

function notApplicable(type: ParameterType): ValueFault {
  return { code: 'not_applicable', message: `Does not apply to a parameter of type ${type}` };
}

function refused(errors: FieldError[]): Error {
  return invalid('validation_failed', "The configuration's parameters block is not valid", errors);
}
