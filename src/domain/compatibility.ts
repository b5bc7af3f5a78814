/** What changes for the authors of parameter files between two versions of a configuration's schema. */

import type { FieldError } from '../lib/errors.ts';
import { printJson } from './json-text.ts';
import { defaultStrategy, nameOfStrategy } from './merge-strategies.ts';
import {
  isRequired,
  isSecure,
  type ParameterDefinition,
  type ParameterDefinitions,
} from './parameter-schema.ts';
import type { Float, Value } from './value.ts';
import { numberOf, REDACTED, valueKey } from './value.ts';

/** All types of changes, in the order in which the changes of one parameter are listed. */
export const CHANGE_TYPES = [
  'ParameterRemoved',
  'ParameterAdded',
  'TypeChanged',
  'BecameRequired',
  'BecameOptional',
  'AllowedValuesReduced',
  'AllowedValuesExpanded',
  'AllowedValuesAdded',
  'AllowedValuesRemoved',
  'MinValueIncreased',
  'MinValueDecreased',
  'MaxValueDecreased',
  'MaxValueIncreased',
  'MinLengthIncreased',
  'MinLengthDecreased',
  'MaxLengthDecreased',
  'MaxLengthIncreased',
  'MergeChanged',
] as const;

export type ChangeType = (typeof CHANGE_TYPES)[number];

export interface Change {
  parameterName: string;
  changeType: ChangeType;
  /** A type by its name, a value as exact JSON text; null if there is none. */
  oldValue: string | null;
  newValue: string | null;
  description: string;
}

export interface SchemaChanges {
  breakingChanges: Change[];
  nonBreakingChanges: Change[];
}

/** A stored parameter file, checked with the newer schema. */
export interface AffectedParameterFile {
  scopeTypeName: string;
  /** Null means the Default scope. */
  scopeValue: string | null;
  version: string;
  needsMigration: boolean;
  errors: FieldError[];
}

export interface CompatibilityReport extends SchemaChanges {
  oldVersion: string;
  newVersion: string;
  hasBreakingChanges: boolean;
  affectedParameterFiles: AffectedParameterFile[];
}

/** A parameter that both schemas have. */
interface Pair {
  name: string;
  before: ParameterDefinition;
  after: ParameterDefinition;
}

type Found = Omit<Change, 'parameterName'> & { isBreaking: boolean };

/** The bounds in the order in which their changes are listed, with their names in descriptions. */
const BOUNDS = [
  ['minValue', 'The least value'],
  ['maxValue', 'The greatest value'],
  ['minLength', 'The least length'],
  ['maxLength', 'The greatest length'],
] as const;

type Bound = (typeof BOUNDS)[number][0];

/**
 * Every change between two schemas, by parameter name, then in the order of `CHANGE_TYPES`. The values of a secure
 * parameter are shown as `<redacted>`.
 */
export function compareSchemas(older: ParameterDefinitions, newer: ParameterDefinitions): SchemaChanges {
  const changes: SchemaChanges = { breakingChanges: [], nonBreakingChanges: [] };
  for (const parameterName of [...new Set([...older.keys(), ...newer.keys()])].sort()) {
    const found = compareParameter(parameterName, older.get(parameterName), newer.get(parameterName));
    for (const { isBreaking, ...change } of found)
      changes[isBreaking ? 'breakingChanges' : 'nonBreakingChanges'].push({ parameterName, ...change });
  }
  return changes;
}

function breaking(changeType: ChangeType, description: string, [oldValue, newValue]: Values): Found {
  return { changeType, isBreaking: true, oldValue, newValue, description };
}

function harmless(changeType: ChangeType, description: string, values: Values): Found {
  return { ...breaking(changeType, description, values), isBreaking: false };
}

type Values = readonly [oldValue: string | null, newValue: string | null];

function* compareParameter(
  name: string,
  before: ParameterDefinition | undefined,
  after: ParameterDefinition | undefined,
): Generator<Found> {
  if (before && after) {
    const pair = { name, before, after };
    yield* compareTypes(pair);
    yield* compareDefaults(pair);
    yield* compareAllowedValues(pair);
    for (const [bound, noun] of BOUNDS) yield* compareBounds(pair, bound, noun);
    yield* compareMerging(pair);
  } else if (before) {
    yield breaking('ParameterRemoved', `Parameter "${name}" was removed.`, [before.type, null]);
  } else if (after && isRequired(after)) {
    yield breaking('ParameterAdded', `Required parameter "${name}" was added.`, [null, after.type]);
  } else if (after) {
    yield harmless('ParameterAdded', `Optional parameter "${name}" was added.`, [null, after.type]);
  }
}

function* compareTypes({ name, before, after }: Pair): Generator<Found> {
  if (before.type === after.type) return;
  const description = `The type of parameter "${name}" changed from ${before.type} to ${after.type}.`;
  yield breaking('TypeChanged', description, [before.type, after.type]);
}

function* compareDefaults(pair: Pair): Generator<Found> {
  const { name, before, after } = pair;
  if (isRequired(before) === isRequired(after)) return;
  const values = printBoth(pair, 'defaultValue');
  if (isRequired(after))
    yield breaking(
      'BecameRequired',
      `Parameter "${name}" lost its default value and is now required.`,
      values,
    );
  else
    yield harmless(
      'BecameOptional',
      `Parameter "${name}" got a default value and is no longer required.`,
      values,
    );
}

function* compareAllowedValues(pair: Pair): Generator<Found> {
  const { name, before, after } = pair;
  const [old, now] = [before.allowedValues, after.allowedValues];
  const values = printBoth(pair, 'allowedValues');
  if (old && now) {
    const [oldKeys, newKeys] = [new Set(old.map(valueKey)), new Set(now.map(valueKey))];
    if (lacksAny(newKeys, oldKeys)) {
      const description = `Parameter "${name}" no longer allows all the values that it allowed.`;
      yield breaking('AllowedValuesReduced', description, values);
    }
    if (lacksAny(oldKeys, newKeys)) {
      const description = `Parameter "${name}" allows values that it did not allow.`;
      yield harmless('AllowedValuesExpanded', description, values);
    }
  } else if (now) {
    yield breaking('AllowedValuesAdded', `Parameter "${name}" now allows certain values only.`, values);
  } else if (old) {
    const description = `Parameter "${name}" is no longer limited to certain values.`;
    yield harmless('AllowedValuesRemoved', description, values);
  }
}

/** A new bound shuts values out and a dropped bound lets values in, so a dropped maximum counts as increased. */
function* compareBounds({ name, before, after }: Pair, bound: Bound, noun: string): Generator<Found> {
  const [old, now] = [before[bound], after[bound]];
  const isMinimum = bound.startsWith('min');
  const none = isMinimum ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const [from, to] = [boundValue(old, none), boundValue(now, none)];
  if (from <= to && from >= to) return;
  const isRaised = to > from;
  const how =
    now === undefined ? 'dropped' : old === undefined ? 'introduced' : isRaised ? 'raised' : 'lowered';
  const change = isRaised === isMinimum ? breaking : harmless;
  const changeType = `${capitalize(bound)}${isRaised ? 'Increased' : 'Decreased'}` as const;
  yield change(changeType, `${noun} of parameter "${name}" was ${how}.`, [printBound(old), printBound(now)]);
}

/** The same values of the same files make another one. */
function* compareMerging({ name, before, after }: Pair): Generator<Found> {
  if (before.merge === undefined && after.merge === undefined) return;
  const [old, now] = [before, after].map(({ type, merge }) =>
    nameOfStrategy(merge ?? defaultStrategy(type)),
  ) as [string, string];
  if (old === now) return;
  const description = `The values of parameter "${name}" from several scopes meet in another way.`;
  yield breaking('MergeChanged', description, [old, now]);
}

function capitalize<T extends string>(text: T): Capitalize<T> {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}` as Capitalize<T>;
}

function boundValue(bound: number | bigint | Float | undefined, none: number): number | bigint {
  if (bound === undefined) return none;
  return typeof bound === 'number' ? bound : numberOf(bound);
}

function printBound(bound: number | bigint | Float | undefined): string | null {
  if (bound === undefined) return null;
  return typeof bound === 'number' ? String(bound) : printJson(bound);
}

/** Whether one of the wanted keys is missing. */
function lacksAny(keys: ReadonlySet<string>, wanted: ReadonlySet<string>): boolean {
  for (const key of wanted) if (!keys.has(key)) return true;
  return false;
}

/** A value that is secret in one of the two versions is shown in neither of them. */
function printBoth({ before, after }: Pair, member: 'defaultValue' | 'allowedValues'): Values {
  const isSecret = isSecure(before.type) || isSecure(after.type);
  const print = (value: Value | undefined) => {
    if (value === undefined) return null;
    return isSecret ? REDACTED : printJson(value);
  };
  return [print(before[member]), print(after[member])];
}
