/** What changes for the authors of parameter files from one version of a configuration's schema to another. */

import type { FieldError } from '../lib/errors.ts';
import { printJson } from './json-text.ts';
import {
  isRequired,
  isSecure,
  type ParameterDefinition,
  type ParameterDefinitions,
} from './parameter-schema.ts';
import type { Float, Value } from './value.ts';
import { numberOf, valueKey } from './value-equality.ts';

/** In the order in which the changes of one parameter are told. */
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
] as const;

export type ChangeType = (typeof CHANGE_TYPES)[number];

export interface Change {
  parameterName: string;
  changeType: ChangeType;
  /** Types by name, values as JSON text, exact; null where there was none. */
  oldValue: string | null;
  newValue: string | null;
  description: string;
}

export interface SchemaChanges {
  breakingChanges: Change[];
  nonBreakingChanges: Change[];
}

/** A stored parameter file of which the newer schema was asked. */
export interface AffectedParameterFile {
  scopeTypeName: string;
  /** Null for the Default scope. */
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

type Bound = 'minValue' | 'maxValue' | 'minLength' | 'maxLength';

interface BoundRule {
  bound: Bound;
  noun: string;
  raised: ChangeType;
  lowered: ChangeType;
  /** A minimum shuts values out when it rises, a maximum when it falls. */
  isMinimum: boolean;
}

const BOUND_RULES: readonly BoundRule[] = [
  {
    bound: 'minValue',
    noun: 'The least value',
    raised: 'MinValueIncreased',
    lowered: 'MinValueDecreased',
    isMinimum: true,
  },
  {
    bound: 'maxValue',
    noun: 'The greatest value',
    raised: 'MaxValueIncreased',
    lowered: 'MaxValueDecreased',
    isMinimum: false,
  },
  {
    bound: 'minLength',
    noun: 'The least length',
    raised: 'MinLengthIncreased',
    lowered: 'MinLengthDecreased',
    isMinimum: true,
  },
  {
    bound: 'maxLength',
    noun: 'The greatest length',
    raised: 'MaxLengthIncreased',
    lowered: 'MaxLengthDecreased',
    isMinimum: false,
  },
];

const REDACTED = '<redacted>';

/**
 * Every change between two schemas, by parameter name, then in the order of `CHANGE_TYPES`. What a secure
 * parameter allows or defaults to is told as `<redacted>`.
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
    for (const rule of BOUND_RULES) yield* compareBounds(pair, rule);
  } else if (before) {
    yield {
      changeType: 'ParameterRemoved',
      isBreaking: true,
      oldValue: before.type,
      newValue: null,
      description: `Parameter "${name}" was removed.`,
    };
  } else if (after) {
    yield {
      changeType: 'ParameterAdded',
      isBreaking: isRequired(after),
      oldValue: null,
      newValue: after.type,
      description: `${isRequired(after) ? 'Required' : 'Optional'} parameter "${name}" was added.`,
    };
  }
}

function* compareTypes({ name, before, after }: Pair): Generator<Found> {
  if (before.type === after.type) return;
  yield {
    changeType: 'TypeChanged',
    isBreaking: true,
    oldValue: before.type,
    newValue: after.type,
    description: `The type of parameter "${name}" changed from ${before.type} to ${after.type}.`,
  };
}

function* compareDefaults(pair: Pair): Generator<Found> {
  const { name, before, after } = pair;
  if (isRequired(before) === isRequired(after)) return;
  const print = printerFor(pair);
  const values = { oldValue: print(before.defaultValue), newValue: print(after.defaultValue) };
  if (isRequired(after)) {
    const description = `Parameter "${name}" lost its default value and is now required.`;
    yield { changeType: 'BecameRequired', isBreaking: true, ...values, description };
  } else {
    const description = `Parameter "${name}" got a default value and is no longer required.`;
    yield { changeType: 'BecameOptional', isBreaking: false, ...values, description };
  }
}

function* compareAllowedValues(pair: Pair): Generator<Found> {
  const { name, before, after } = pair;
  const [old, now] = [before.allowedValues, after.allowedValues];
  const print = printerFor(pair);
  const values = () => ({ oldValue: print(old), newValue: print(now) });
  if (old && now) {
    const [oldKeys, newKeys] = [new Set(old.map(valueKey)), new Set(now.map(valueKey))];
    if (lacksAny(newKeys, oldKeys)) {
      const description = `Parameter "${name}" no longer allows all the values that it allowed.`;
      yield { changeType: 'AllowedValuesReduced', isBreaking: true, ...values(), description };
    }
    if (lacksAny(oldKeys, newKeys)) {
      const description = `Parameter "${name}" allows values that it did not allow.`;
      yield { changeType: 'AllowedValuesExpanded', isBreaking: false, ...values(), description };
    }
  } else if (now) {
    const description = `Parameter "${name}" now allows certain values only.`;
    yield { changeType: 'AllowedValuesAdded', isBreaking: true, ...values(), description };
  } else if (old) {
    const description = `Parameter "${name}" is no longer limited to certain values.`;
    yield { changeType: 'AllowedValuesRemoved', isBreaking: false, ...values(), description };
  }
}

/** A bound that comes shuts values out, one that goes lets values in, so a dropped maximum counts as raised. */
function* compareBounds(
  { name, before, after }: Pair,
  { bound, noun, raised, lowered, isMinimum }: BoundRule,
): Generator<Found> {
  const [old, now] = [before[bound], after[bound]];
  const none = isMinimum ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const [from, to] = [boundValue(old, none), boundValue(now, none)];
  if (from <= to && from >= to) return;
  const isRaised = to > from;
  const how =
    now === undefined ? 'dropped' : old === undefined ? 'introduced' : isRaised ? 'raised' : 'lowered';
  yield {
    changeType: isRaised ? raised : lowered,
    isBreaking: isRaised === isMinimum,
    oldValue: printBound(old),
    newValue: printBound(now),
    description: `${noun} of parameter "${name}" was ${how}.`,
  };
}

function boundValue(bound: number | bigint | Float | undefined, none: number): number | bigint {
  if (bound === undefined) return none;
  return typeof bound === 'number' ? bound : numberOf(bound);
}

function printBound(bound: number | bigint | Float | undefined): string | null {
  if (bound === undefined) return null;
  return typeof bound === 'number' ? String(bound) : printJson(bound);
}

/** Whether one of the wanted is missing. */
function lacksAny(keys: ReadonlySet<string>, wanted: ReadonlySet<string>): boolean {
  for (const key of wanted) if (!keys.has(key)) return true;
  return false;
}

/** What was secret in one version stays so in the other's eyes. */
function printerFor({ before, after }: Pair): (value: Value | undefined) => string | null {
  const isSecret = isSecure(before.type) || isSecure(after.type);
  return (value) => {
    if (value === undefined) return null;
    return isSecret ? REDACTED : printJson(value);
  };
}
